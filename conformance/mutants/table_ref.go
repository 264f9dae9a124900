package mutants

import (
	"strconv"
	"strings"

	"github.com/axonproto/axon/harness/wire"
)

// refMutants write a wrong ref.
func refMutants() []Mutant {
	always := ids("ENV-011", "DEFERR-002", "FWD-002", "REF-005")
	return []Mutant{
		{
			Name: "ref-missing", For: always,
			Fault: "its replies have no ref", Reason: `no ref`,
			change: altering(func(_ *call, a *answer) { a.Ref = "" }),
		},
		{
			Name: "ref-null", For: always,
			Fault: "its replies have a ref that is null", Reason: `ref is null`,
			change: altering(func(_ *call, a *answer) { a.Ref = "null" }),
		},
		{
			Name: "ref-empty", For: always,
			Fault: "its replies have an empty text as ref", Reason: `ref is ""`,
			change: altering(func(_ *call, a *answer) { a.Ref = `""` }),
		},
		{
			Name: "ref-of-reply", For: always,
			Fault: "the ref of a reply is the reply's own id", Reason: `ref is "`,
			change: altering(func(_ *call, a *answer) { a.Ref = a.ID }),
		},
		{
			Name: "ref-random", For: always,
			Fault: "the ref of a reply is a new id", Reason: `ref is "`,
			change: altering(func(_ *call, a *answer) { a.Ref = quote(wire.NewID()) }),
		},
		{
			Name: "ref-nil", For: always,
			Fault: "the ref of a reply is the nil UUID", Reason: `ref is "00000000-`,
			change: altering(func(_ *call, a *answer) { a.Ref = `"00000000-0000-0000-0000-000000000000"` }),
		},
		{
			Name: "ref-in-an-array", For: always,
			Fault: "the ref of a reply is an array with the request's id", Reason: `no ref that is a string`,
			change: altering(func(_ *call, a *answer) { a.Ref = "[" + a.Ref + "]" }),
		},
		{
			Name: "ref-without-hyphens", For: always,
			Fault: "the ref of a reply lacks the hyphens", Reason: `ref is "[0-9a-f]{32}"`,
			change: altering(func(_ *call, a *answer) { a.Ref = strings.ReplaceAll(a.Ref, "-", "") }),
		},
		{
			Name: "ref-in-braces", For: always,
			Fault: "the ref of a reply stands in braces", Reason: `ref is "\{`,
			change: altering(func(c *call, a *answer) { a.Ref = quote("{" + c.env.ID + "}") }),
		},
		{
			Name: "ref-cut", For: always,
			Fault: "the ref of a reply is cut to 32 characters", Reason: `ref is "[0-9a-f-]{32}"`,
			change: altering(func(c *call, a *answer) { a.Ref = quote(c.env.ID[:min(32, len(c.env.ID))]) }),
		},
		{
			Name: "ref-under-another-name", For: append(ids("ENV-002"), always...),
			Fault: "its replies name the request in in_reply_to", Reason: `no ref|extra-member: "in_reply_to"`,
			change: altering(func(_ *call, a *answer) {
				a.Extra = append(a.Extra, `"in_reply_to":`+a.Ref)
				a.Ref = ""
			}),
		},
		{
			Name: "ref-in-the-payload", For: always,
			Fault: "the ref of its replies stands in the payload", Reason: `no ref`,
			change: inDefault(func(_ *call, a *answer) {
				a.Retryable += `,"ref":` + a.Ref
				a.Ref = ""
			}),
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
			Name: "ref-of-first", For: ids("ENV-011", "REF-005"), Also: ids("DEFERR-002", "FWD-002"),
			Fault: "the ref of all replies on a connection is the id of its first request", Reason: `ref is `,
			change: func(m *manner) {
				var first perLink[string]
				m.alter = func(c *call, a *answer) {
					first.with(c.link, func(id *string) {
						if *id == "" {
							*id = a.Ref
						}
						a.Ref = *id
					})
				}
			},
		},
		{
			Name: "ref-of-request-copied", For: ids("ENV-011"), Also: ids("FWD-002", "REF-004"),
			Fault: "a request's own ref is copied into the reply", Reason: `ref is "`,
			change: altering(func(c *call, a *answer) {
				if c.env.Ref != nil {
					a.Ref = quote(*c.env.Ref)
				}
			}),
		},
		{
			Name: "ref-null-copied", For: ids("REF-003"), Also: ids("ENV-011", "LIMIT-005"),
			Fault: "a request's ref is copied into the reply when it is null", Reason: `ref is null`,
			change: altering(func(c *call, a *answer) {
				if c.env.RefNull {
					a.Ref = "null"
				}
			}),
		},
		{
			Name: "ref-of-payload", For: ids("ENV-011"), Also: ids("DEFERR-002", "KIND-002", "PAY-002"),
			Fault: "an id inside the payload is taken for the envelope's", Reason: `ref is "`,
			change: altering(func(c *call, a *answer) {
				if v, n := c.env.Payload.Get("id"); n > 0 && v.Kind == wire.String {
					a.Ref = quote(v.String)
				}
			}),
		},
		{
			Name: "ref-without-leading-zeros", For: ids("ENV-011"), Anywhere: true,
			Fault: "the groups of a ref lose their leading zeros, as numbers do", Reason: `ref is`,
			change: altering(func(c *call, a *answer) {
				groups := strings.Split(c.env.ID, "-")
				for i, g := range groups {
					n, err := strconv.ParseUint(g, 16, 64)
					if err == nil {
						groups[i] = strconv.FormatUint(n, 16)
					}
				}
				a.Ref = quote(strings.Join(groups, "-"))
			}),
		},
		{
			Name: "ref-missing-for-unknown-kind", For: ids("FWD-002"), Also: ids("ENV-011"),
			Fault: "the reply to an unknown kind has no ref", Reason: `no ref`,
			change: inUnknown(func(_ *call, a *answer) { a.Ref = "" }),
		},
		{
			Name: "ref-missing-in-own-errors", For: ids("ENV-011"),
			Fault: "errors other than the default one have a ref that is no UUID", Reason: `ref-not-uuid`,
			change: inInvalid(func(a *answer) { a.Ref = `"unknown"` }),
		},
	}
}
