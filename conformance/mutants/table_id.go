package mutants

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/axonproto/axon/harness/wire"
)

// idMutants give replies a wrong id.
func idMutants() []Mutant {
	withDigit := func(at int, digits string) func(*call, *answer) {
		return func(_ *call, a *answer) {
			id := []byte(wire.NewID())
			id[at] = digits[rand.IntN(len(digits))]
			a.ID = quote(string(id))
		}
	}
	fixed := func(raw string) func(*call, *answer) { return func(_ *call, a *answer) { a.ID = raw } }
	return []Mutant{
		{
			Name: "id-of-request", For: ids("ENV-005", "DEFERR-006"), Also: ids("FWD-002", "ENV-003", "ENV-004"),
			Fault: "a reply has the id of its request", Reason: `that of request|own|the reply's id is "|and the request's`,
			change: altering(func(c *call, a *answer) { a.ID = quote(c.env.ID) }),
		},
		{
			Name: "id-of-request-in-upper-case", For: ids("ENV-005", "DEFERR-006"), Also: ids("FWD-002", "ENV-003", "ENV-004"),
			Fault: "a reply has the id of its request in upper case", Reason: `that of request|own|the reply's id is "|and the request's`,
			change: altering(func(c *call, a *answer) { a.ID = quote(strings.ToUpper(c.env.ID)) }),
		},
		{
			Name: "id-constant", For: ids("ENV-005", "DEFERR-006"), Also: ids("FWD-002"),
			Fault: "all replies have one and the same id", Reason: `both have the id|used before|had the id`,
			change: altering(fixed(`"6ba7b810-9dad-41d1-80b4-00c04fd430c8"`)),
		},
		{
			Name: "id-per-connection", For: ids("ENV-005", "DEFERR-006"),
			Fault: "all replies on a connection have the same id", Reason: `both have the id|used before|had the id`,
			change: func(m *manner) {
				var id perLink[string]
				m.alter = func(c *call, a *answer) {
					id.with(c.link, func(kept *string) {
						if *kept == "" {
							*kept = a.ID
						}
						a.ID = *kept
					})
				}
			},
		},
		{
			Name: "id-counted-per-connection", For: ids("ENV-005"),
			Fault: "ids are counted, and begin anew on each connection", Reason: `both have the id|used before`,
			change: altering(func(c *call, a *answer) {
				a.ID = quote(fmt.Sprintf("00000000-0000-4000-8000-%012x", c.link.answers.Load()))
			}),
		},
		{
			Name: "id-pairs", For: ids("ENV-005"), Also: ids("DEFERR-006"),
			Fault: "two replies after each other have the same id", Reason: `both have the id|used before`,
			change: altering(func(c *call, a *answer) {
				sum := sha256.Sum256([]byte(fmt.Sprint(c.link.number, c.link.answers.Load()/2)))
				a.ID = quote(versionFour(sum[:16]))
			}),
		},
		{
			Name: "id-of-16-random-bits", Whole: true, For: ids("ENV-005"),
			Fault: "ids come from a generator with 16 bits of state", Reason: `both have the id|used before`,
			change: altering(func(_ *call, a *answer) {
				sum := sha256.Sum256([]byte{byte(rand.IntN(256)), byte(rand.IntN(256))})
				a.ID = quote(versionFour(sum[:16]))
			}),
		},
		{
			Name: "id-by-payload", For: ids("ENV-005"), Also: ids("DEFERR-006"),
			Fault: "replies are kept by payload, with their id", Reason: `both have the id|used before`,
			change: altering(func(c *call, a *answer) {
				sum := sha256.Sum256(c.env.Payload.Raw)
				a.ID = quote(versionFour(sum[:16]))
			}),
		},
		{
			Name: "id-repeated-once-in-100", For: ids("ENV-005"),
			Fault: "each hundredth reply has the id of the one before", Reason: `both have the id|used before`,
			change: func(m *manner) {
				var last atomic.Value
				m.alter = func(c *call, a *answer) {
					if id, ok := last.Load().(string); ok && c.peer.answers.Load()%100 == 0 {
						a.ID = id
					}
					last.Store(a.ID)
				}
			},
		},
		{
			Name: "id-nil", For: ids("ENV-004"), Also: ids("ENV-005", "DEFERR-006", "FWD-002"),
			Fault: "its replies have the nil UUID as id", Reason: `id-nil`,
			change: altering(fixed(`"00000000-0000-0000-0000-000000000000"`)),
		},
		{
			Name: "id-nil-in-own-errors", For: ids("ENV-004"), Also: ids("ENV-005"),
			Fault: "errors other than the default one have the nil UUID as id", Reason: `id-nil`,
			change: inInvalid(func(a *answer) { a.ID = `"00000000-0000-0000-0000-000000000000"` }),
		},
		{
			Name: "id-version-1", For: ids("ENV-003"), Fault: "ids are of version 1", Reason: `id-not-v4`,
			change: altering(withDigit(14, "1")),
		},
		{
			Name: "id-version-7", For: ids("ENV-003"), Fault: "ids are of version 7", Reason: `id-not-v4`,
			change: altering(withDigit(14, "7")),
		},
		{
			Name: "id-version-random", For: ids("ENV-003"), Fault: "ids are random bytes without a version", Reason: `id-not-v4`,
			change: altering(withDigit(14, "0123456789abcdef")),
		},
		{
			Name: "id-variant-random", For: ids("ENV-003"), Fault: "ids are random bytes without a variant", Reason: `id-not-rfc-variant`,
			change: altering(withDigit(19, "0123456789abcdef")),
		},
		{
			Name: "id-without-hyphens", For: ids("ENV-003"), Also: ids("ENV-005"), Fault: "ids have no hyphens", Reason: `id-not-uuid`,
			change: altering(func(_ *call, a *answer) { a.ID = strings.ReplaceAll(a.ID, "-", "") }),
		},
		{
			Name: "id-in-braces", For: ids("ENV-003"), Fault: "ids stand in braces", Reason: `id-not-uuid`,
			change: altering(func(_ *call, a *answer) { a.ID = quote("{" + strings.Trim(a.ID, `"`) + "}") }),
		},
		{
			Name: "id-as-urn", For: ids("ENV-003"), Fault: "ids are written as URNs", Reason: `id-not-uuid`,
			change: altering(func(_ *call, a *answer) { a.ID = quote("urn:uuid:" + strings.Trim(a.ID, `"`)) }),
		},
		{
			Name: "id-a-ulid", For: ids("ENV-003"), Fault: "ids are of another system", Reason: `id-not-uuid`,
			change: altering(func(_ *call, a *answer) {
				a.ID = quote("01J" + strings.ToUpper(strings.ReplaceAll(a.ID[1:25], "-", "")))
			}),
		},
		{
			Name: "id-a-number", For: ids("ENV-003"), Also: ids("ENV-005", "DEFERR-006", "FWD-002"), Fault: "ids are numbers", Reason: `id-not-string`,
			change: altering(func(c *call, a *answer) { a.ID = fmt.Sprint(c.peer.answers.Load()) }),
		},
		{
			Name: "id-null", For: ids("ENV-003"), Also: ids("ENV-005", "DEFERR-006", "FWD-002"), Fault: "its replies have a null id", Reason: `id-not-string`,
			change: altering(fixed("null")),
		},
		{
			Name: "id-empty", For: ids("ENV-003"), Also: ids("ENV-005", "DEFERR-006", "FWD-002"), Fault: "its replies have an empty id", Reason: `id-not-uuid`,
			change: altering(fixed(`""`)),
		},
		{
			Name: "id-missing", For: ids("ENV-002"), Also: ids("ENV-005", "DEFERR-006", "FWD-002"), Fault: "its replies have no id", Reason: `missing-id`,
			change: altering(fixed("")),
		},
	}
}

// versionFour writes 16 bytes as a version 4 UUID.
func versionFour(b []byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
