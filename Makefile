# Everything that is done with this tree. `make` alone lists the targets; the
# comment above a target is what it prints.

GO      ?= go
LINT    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
MODULE  := github.com/axonproto/axon
SUITE   := ./cmd/axon-conformance
BIN     ?= bin
# How long `make fuzz` stays with each target.
FUZZTIME ?= 30s
SOAKED  := ./impl/internal/soak
# How long the load of `make soak` lasts.
SOAK ?= 15m
# The tests that have the whole suite judge something: they take minutes under the
# race detector, which finds nothing in them that it does not find in the others.
WHOLE   := ./cmd/axon-conformance ./conformance/mutants ./conformance/fuzz
# The machine's own comes by itself; the files of this tree ask for an operating system,
# and on Linux only for amd64 or arm64 together.
PLATFORMS ?= darwin/arm64 windows/amd64

# Nothing here needs C but the race detector, and that would keep each process that
# a test starts for a second longer.
export CGO_ENABLED ?= 0
RACE    := CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) test -race

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build check format vet lint cross test race parts examples features run lan lan-slow selftest coverage fuzz fuzz-peers fuzz-short last soak soak-minute faults

## help: list the targets
help:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' $(MAKEFILE_LIST) | while IFS='	' read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done

## build: build axon and axon-conformance into bin/
build:
	$(GO) build -o $(BIN)/ ./cmd/...

## check: all that has to pass before a change goes in; CI runs this
check: format vet cross features test parts run lan coverage selftest last

## format: fail on files that gofmt would change
format:
	@found="$$(gofmt -l .)"; if [ -n "$$found" ]; then \
		echo "not formatted (run gofmt -w on them):"; echo "$$found"; exit 1; fi

## vet: run go vet
vet:
	$(GO) vet ./...

## lint: run golangci-lint at its pinned version
lint:
	$(GO) run $(LINT) run ./...

## cross: build for the other platforms that are supported
cross:
	@for platform in $(PLATFORMS); do \
		echo "build $$platform"; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -o /dev/null ./cmd/... || exit 1; \
	done

## test: run the tests, without the race detector
test:
	$(GO) test ./...

## race: run all tests with the race detector (needs a C compiler)
race:
	$(RACE) ./...

## parts: run the tests of the parts with the race detector
parts:
	$(RACE) $$($(GO) list ./... | grep -vx $(patsubst ./%,-e $(MODULE)/%,$(WHOLE) $(SOAKED)))

## examples: judge the example peer and the example driver (a part of test and race)
examples:
	$(GO) test -count=1 -run '^TestExample' $(SUITE)

## features: look for what should be mended in the feature files
features:
	$(GO) run $(SUITE) lint

## run: judge the bundled daemon over real QUIC
run:
	$(GO) run $(SUITE) run

## lan: judge the daemon on a private network, discovery included (Linux, root)
lan:
	.ci/lan --parallel 4

## lan-slow: the checks of discovery that take more than a minute each
lan-slow:
	.ci/lan --parallel 4 --tags @slow --slow

## selftest: judge the judge, with peers broken on purpose
selftest:
	$(GO) run $(SUITE) selftest

## coverage: follow each line of the specification to its checks
coverage:
	$(GO) run $(SUITE) coverage

## soak: put real daemons under load and trouble for SOAK (default 15m)
soak:
	$(RACE) -count=1 -v -timeout 0 -run 'Soak|Killed' $(SOAKED) -args -for $(SOAK)

## faults: put real daemons on bad networks, for minutes (Linux, root, nftables)
faults:
	AXON_REQUIRE_NETNS=1 $(GO) test -count=1 -v $(SOAKED) -args -long

## soak-minute: the same for a minute
soak-minute:
	$(MAKE) soak SOAK='60s -seed 1'

## fuzz: run each fuzz target for FUZZTIME (default 30s), two at once
fuzz:
	GO="$(GO)" .ci/fuzz $(FUZZTIME)

## fuzz-short: run each fuzz target for a few seconds
fuzz-short:
	GO="$(GO)" .ci/fuzz 2s short

## last: lint and the minute of soak, beside each other
last:
	$(MAKE) -j 2 lint soak-minute

## fuzz-peers: have axon-conformance fuzz meet every broken and every odd peer (half an hour)
fuzz-peers:
	$(GO) test -count=1 -timeout 90m -run '^Test(Mutants|Oddities)$$' ./conformance/fuzz -every -v
