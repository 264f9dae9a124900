package mutants

import (
	"strings"

	"github.com/axonproto/axon/harness/wire"
)

// shapeMutants write replies of the right form with a wrong value, or of a wrong
// form.
func shapeMutants() []Mutant {
	return []Mutant{
		{
			Name: "ref-missing", For: ids("ENV-011", "DEFERR-002", "FWD-002", "REF-005"),
			Fault: "its replies have no ref", Reason: `no ref`,
			change: altering(func(_ *call, a *answer) { a.Ref = "" }),
		},
		{
			Name: "ref-null", For: ids("ENV-011", "DEFERR-002", "FWD-002", "REF-005"),
			Fault: "its replies have a ref that is null", Reason: `ref is null`,
			change: altering(func(_ *call, a *answer) { a.Ref = "null" }),
		},
		{
			Name: "ref-of-reply", For: ids("ENV-011", "DEFERR-002", "FWD-002", "REF-005"),
			Fault: "the ref of a reply is the reply's own id", Reason: `ref is "`,
			change: altering(func(_ *call, a *answer) { a.Ref = a.ID }),
		},
		{
			Name: "ref-of-previous", For: ids("ENV-011", "REF-005"), Also: ids("DEFERR-002", "FWD-002"),
			Fault: "the ref of a reply is the id of the request before", Reason: `ref is `,
			change: altering(func(c *call, a *answer) {
				c.link.mu.Lock()
				defer c.link.mu.Unlock()
				if c.link.last != "" {
					a.Ref = quote(c.link.last)
				}
			}),
		},
		{
			Name: "ref-of-request-copied", For: ids("ENV-011"),
			Fault: "a request's own ref is copied into the reply", Reason: `ref is "`,
			change: altering(func(c *call, a *answer) {
				if c.env.Ref != nil {
					a.Ref = quote(*c.env.Ref)
				}
			}),
		},
		{
			Name: "id-of-request", For: ids("ENV-005", "DEFERR-006"), Also: ids("FWD-002"),
			Fault: "a reply has the id of its request", Reason: `request|own|"[0-9a-f-]+"`,
			change: altering(func(c *call, a *answer) { a.ID = quote(c.env.ID) }),
		},
		{
			Name: "code-no-handler", For: ids("DEFERR-003", "FWD-002"),
			Fault: "its default error has the code no_handler", Reason: `code is "no_handler"`,
			change: coding("no_handler"),
		},
		{
			Name: "code-upper-case", For: ids("DEFERR-003", "ERRPAY-002"), Also: ids("FWD-002"),
			Fault: "its default error has the code UNHANDLED", Reason: `code is "UNHANDLED"`,
			change: coding("UNHANDLED"),
		},
		{
			Name: "retryable-text", For: ids("DEFERR-005"), Also: ids("FWD-002", "ERRPAY-001"),
			Fault: "retryable is the text false", Reason: `retryable is "false"`,
			change: altering(func(_ *call, a *answer) { a.Retryable = `"false"` }),
		},
		{
			Name: "message-without-id", For: ids("DEFERR-004"), Also: ids("FWD-002"),
			Fault: "the default error's message does not name the request", Reason: `it is "no application handler registered"`,
			change: altering(func(_ *call, a *answer) { a.Message = quote("no application handler registered") }),
		},
		{
			Name: "id-constant", For: ids("ENV-005"), Also: ids("DEFERR-006", "FWD-002"),
			Fault: "all replies have one and the same id", Reason: `both have the id|used before`,
			change: altering(func(_ *call, a *answer) { a.ID = `"6ba7b810-9dad-41d1-80b4-00c04fd430c8"` }),
		},
		{
			Name: "from-added", For: ids("ENV-002"),
			Fault: "its replies have a member from", Reason: `extra-member: "from"`,
			change: altering(func(_ *call, a *answer) { a.Extra = append(a.Extra, `"from":null`) }),
		},
		{
			Name: "kind-capital", For: ids("ENV-007"), Also: ids("STREAM-004", "KIND-002", "DEFERR-001"),
			Fault: "the kind of its replies is Error", Reason: `kind-unknown: "Error"`,
			change: altering(func(_ *call, a *answer) { a.Kind = `"Error"` }),
		},
		{
			Name: "payload-text", For: ids("ENV-008"), Also: ids("DEFERR-003", "DEFERR-004", "DEFERR-005", "FWD-002", "ERRPAY-001"),
			Fault: "the payload of its replies is a text that holds the object", Reason: `payload-not-object: string`,
			change: altering(func(_ *call, a *answer) { a.Payload = quote(`{"code":"unhandled"}`) }),
		},
		{
			Name: "id-nil-accepted", For: ids("ENV-006"),
			Fault: "it takes an envelope whose id is nil", Reason: tookIt,
			change: forgiving(wire.IDNil),
		},
		{
			Name: "id-missing-accepted", For: ids("ENV-009"),
			Fault: "it takes an envelope without id", Reason: tookIt,
			change: forgiving(wire.MissingID),
		},
		{
			Name: "payload-missing-accepted", For: ids("ENV-009"),
			Fault: "it takes an envelope without payload", Reason: tookIt,
			change: forgiving(wire.MissingPayload),
		},
		{
			Name: "payload-any-type", For: ids("ENV-010"),
			Fault: "it takes a payload of any type", Reason: tookIt,
			change: forgiving(wire.PayloadNotObject),
		},
		{
			Name: "trailing-data-accepted", For: ids("LIMIT-004"), Also: ids("PAY-004"),
			Fault: "it takes what stands behind the object", Reason: tookIt, Verdict: "warn",
			change: forgiving(wire.TrailingData),
		},
		{
			Name: "id-of-other-version-accepted", For: ids("ENV-015"),
			Fault: "it takes ids of every version", Reason: tookIt, Verdict: "warn",
			change: forgiving(wire.IDNotV4),
		},
	}
}

// tookIt is how the suite says that the target took what it must not take.
const tookIt = `the stream carried an "error" with code "unhandled"`

// coding is a fault in the code of the default error.
func coding(code string) func(*manner) {
	return altering(func(_ *call, a *answer) { a.Code = strings.ReplaceAll(a.Code, `"unhandled"`, quote(code)) })
}
