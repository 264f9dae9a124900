package mutants

import "github.com/axonproto/axon/harness/probe"

// lifeMutants die or hang.
func lifeMutants() []Mutant {
	const gone = `it died or hangs|connection ended|it timed out|no bytes|nothing came|no connection`
	dies := func(name, fault string, made []string, when func(*call) bool) Mutant {
		return Mutant{Name: name, For: made, Anywhere: true, Lost: true, Ceiling: quick, Fault: fault, Reason: gone, change: func(m *manner) {
			handle := m.refuse
			m.refuse = func(c *call) string {
				if when(c) {
					c.peer.die()
				}
				return handle(c)
			}
		}}
	}
	hangs := func(name, fault string, made []string, when func(*call) bool) Mutant {
		return Mutant{Name: name, For: made, Anywhere: true, Lost: true, Ceiling: quick, Fault: fault, Reason: gone, change: func(m *manner) {
			m.refuse = func(c *call) string {
				if when(c) {
					c.peer.hang()
				}
				return ""
			}
		}}
	}
	return []Mutant{
		dies("dies-of-unknown-kind", "an unknown kind ends the process", ids("FWD-001"), func(c *call) bool { return !known(c.env.Kind) }),
		dies("dies-of-unknown-kind-one-way", "an unknown kind on a unidirectional stream ends the process", ids("FWD-001"), func(c *call) bool { return !known(c.env.Kind) && c.env.Kind != "later" && !c.stream.Bidi() }),
		dies("dies-of-long-kind", "a kind of 1,000 characters ends the process", ids("FWD-001"), func(c *call) bool { return len(c.env.Kind) == 1000 }),
		dies("dies-of-non-ascii-kind", "a kind whose 5th byte is inside a character ends the process", ids("FWD-001"), func(c *call) bool { return len(c.env.Kind) > 5 && c.env.Kind[2] > 127 }),
		dies("dies-of-error", "an unsolicited error ends the process", ids("KIND-007"), func(c *call) bool {
			_, n := c.env.Payload.Get("code")
			return !c.stream.Bidi() && c.env.Kind == "error" && n > 0
		}),
		dies("dies-of-deep-payload", "a payload of 100 levels ends the process", ids("PAY-002"), func(c *call) bool { return depth(c.env.Payload) > 99 }),
		dies("dies-of-null-ref", "a null ref ends the process", ids("REF-003"), func(c *call) bool { return c.env.RefNull }),
		dies("dies-of-number-as-domain", "a domain that is a number ends the process", ids("PAY-005"), func(c *call) bool { v, _ := c.env.Payload.Get("domain"); return v.Number != "" }),
		{Name: "dies-of-malformed", For: ids("ENV-009"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "malformed bytes end the process", Reason: `.`, change: func(m *manner) { m.malformed = func(c *call) { c.peer.die() } }},
		{Name: "dies-of-oversize", For: ids("LIMIT-002"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "an oversized body ends the process", Reason: gone, change: func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				if b, err := c.stream.AwaitBytes(c.peer.ctx, limit+1); err == nil && len(b) > limit {
					c.peer.die()
				}
				return c.readToFIN()
			}
		}},
		{Name: "dies-of-reset", For: ids("LIMIT-003"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "a reset stream ends the process", Reason: gone, change: func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				_, _ = c.stream.AwaitBytes(c.peer.ctx, limit+1)
				if end, ended := c.stream.Ended(); ended && end.How == probe.WasReset {
					c.peer.die()
				}
				return c.readToFIN()
			}
		}},
		late(dies("dies-after-300-requests", "a request ends the process once there were three hundred streams", nil, func(c *call) bool { return c.nthOfAll >= 300 && c.stream.Bidi() })),
		late(dies("dies-after-100-streams", "a request ends the process once there were a hundred streams", nil, func(c *call) bool { return c.nthOfAll >= 100 && c.stream.Bidi() })),
		{Name: "dies-under-load", For: ids("REF-005"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "64 open streams end the process", Reason: gone, change: serving(func(c *call) {
			if c.link.inFlight.Load() >= 60 {
				c.peer.die()
			}
			c.serve()
		})},
		hangs("hangs-on-ref", "a request with a ref is never answered", ids("REF-004"), func(c *call) bool { return c.env.Ref != nil && c.env.Kind == "request" }),
		hangs("hangs-on-null-ref", "a request whose ref is null is never answered", ids("REF-003"), func(c *call) bool { return c.env.RefNull && c.env.Kind == "request" }),
		hangs("hangs-on-empty-payload", "a request with an empty payload is never answered", ids("KIND-002"), func(c *call) bool { return len(c.env.Payload.Object) == 0 && c.env.Kind == "request" }),
		hangs("hangs-on-domain", "a request with a domain is never answered", ids("PAY-005"), func(c *call) bool { _, n := c.env.Payload.Get("domain"); return n > 0 }),
		{Name: "hangs-under-load", For: ids("REF-005"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "with 60 streams open nothing on the connection is answered", Reason: gone, change: serving(func(c *call) {
			if c.link.inFlight.Load() >= 60 {
				c.peer.hang()
			}
			c.serve()
		})},
		{Name: "mute-from-the-start", For: ids("KIND-002"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "connections are taken and no stream is served", Reason: gone, change: serving(func(*call) {})},
		{Name: "mute-after-200-streams", Whole: true, Anywhere: true, Lost: true, Ceiling: quick, Fault: "after 200 streams nothing is answered any more", Reason: gone, change: serving(func(c *call) {
			if c.nthOfAll <= 200 {
				c.serve()
			}
		})},
		{Name: "unreliable", Whole: true, Anywhere: true, Lost: true, Ceiling: quick, Fault: "each hundredth stream ends its connection without a word", Reason: gone, change: serving(func(c *call) {
			if c.nthOfAll%100 == 0 {
				c.link.conn.Vanish()
				return
			}
			c.serve()
		})},
	}
}

// late marks a fault that shows only in the course of a whole run.
func late(m Mutant) Mutant {
	m.Whole = true
	return m
}
