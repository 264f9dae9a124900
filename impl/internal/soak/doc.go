// Package soak holds a test alone: real daemons under a mixed load, with everything
// going wrong at random, and an account at the end. `make soak` runs it for 15 minutes,
// `make check` for a minute, and `go test ./...` for a few seconds.
//
//	go test ./impl/internal/soak -args -for 15m -seed 7
//
// What goes wrong follows from the seed, which is printed; what the load does beside it
// depends on the machine. The test imports impl/client and impl/cli.
package soak
