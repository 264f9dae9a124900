package mutants

import (
	"strings"

	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// wornMutants wear out: something that a connection does often uses it up. Some
// others look only where a request is looked at.
func wornMutants() []Mutant {
	const silent = `nothing came|no bytes`
	// mute serves a connection until something has happened so often.
	mute := func(often int, worn func(*call) bool) change {
		return func(m *manner) {
			var n perLink[int]
			m.serve = func(c *call) {
				over := false
				n.with(c.link, func(v *int) { over = *v >= often })
				if over {
					return
				}
				c.serve()
				if worn(c) {
					n.with(c.link, func(v *int) { *v++ })
				}
			}
		}
	}
	wears := func(name, fault string, made []string, heavy bool, change change) Mutant {
		return Mutant{Name: name, For: made, Anywhere: true, Lost: true, Heavy: heavy, Ceiling: quick, Fault: fault, Reason: silent, change: change}
	}
	return []Mutant{
		wears("worn-by-unknown-kinds", "after 40 unknown kinds a connection is not served any more", ids("FWD-001"), false,
			mute(40, func(c *call) bool { return c.env.Kind != "" && !known(c.env.Kind) })),
		wears("worn-by-errors", "after 50 unsolicited errors a connection is not served any more", ids("KIND-007"), false,
			mute(50, func(c *call) bool { return c.env.Kind == "error" })),
		wears("worn-by-resets", "after 100 streams that were reset a connection is not served any more", ids("STREAM-008"), true,
			mute(100, func(c *call) bool {
				end, ended := c.stream.Ended()
				return ended && end.How == probe.WasReset
			})),
		wears("worn-by-stops", "after 60 replies that nobody wanted a connection is not served any more", ids("STREAM-008"), true, func(m *manner) {
			var answered perLink[[]*probe.Stream]
			m.write = func(c *call, b []byte) {
				stopped := 0
				answered.with(c.link, func(list *[]*probe.Stream) {
					for _, s := range *list {
						if _, yes := s.StopCode(); yes {
							stopped++
						}
					}
					*list = append(*list, c.stream)
				})
				if stopped < 60 {
					_ = c.stream.Send(c.peer.ctx, b)
				}
			}
		}),
		wears("worn-by-bytes", "after 1 MiB of requests a connection is not served any more", ids("STREAM-008"), true, func(m *manner) {
			var bytes perLink[int]
			request := m.request
			m.request = func(c *call) *answer {
				over := false
				bytes.with(c.link, func(n *int) { *n += len(c.body); over = *n > 1<<20 })
				if over {
					return nil
				}
				return request(c)
			}
		}),

		// ids that come again
		{Name: "id-again-dropped", For: ids("KIND-002"), Fault: "a request whose id was used before is reset", Reason: `no bytes, then a reset`, change: again(func(*call) string { return "" }, func(c *call) { c.drop(codeMalformed) })},
		{Name: "id-again-on-connection-dropped", For: ids("KIND-002"), Fault: "a request whose id was used before on the connection gets nothing but FIN", Reason: `no bytes, then FIN`, change: again(func(c *call) string { return c.link.conn.RemoteAddr().String() + string(rune(c.link.number)) }, finish)},
		{Name: "id-again-silent", For: ids("KIND-002"), Anywhere: true, Ceiling: quick, Fault: "a request whose id was used before gets no answer", Reason: `no bytes, and the stream is still open`, change: again(func(*call) string { return "" }, func(*call) {})},
		{Name: "ref-to-itself-refused", For: ids("REF-004"), Fault: "a request that refers to itself is refused", Reason: `invalid_envelope`, change: refusing(func(c *call) bool {
			return c.env.Ref != nil && strings.EqualFold(*c.env.Ref, c.env.ID)
		})},

		// what is looked at only in requests
		{Name: "unknown-kind-unchecked", For: ids("ENV-006", "ENV-009", "ENV-010"), Also: ids("ENV-015", "ENV-011", "ENV-014"), Fault: "an envelope of an unknown kind is answered without a look at its other members", Reason: tookIt, change: func(m *manner) {
			malformed, invalid := m.malformed, m.invalid
			answered := func(c *call) bool {
				if c.env.Kind == "" || known(c.env.Kind) || !c.stream.Bidi() {
					return false
				}
				a := unhandled(c.env.ID)
				if !wire.SameUUID(c.env.ID, c.env.ID) {
					a.Ref = ""
				}
				c.reply(a)
				return true
			}
			m.malformed = func(c *call) {
				if !answered(c) {
					malformed(c)
				}
			}
			m.invalid = func(c *call, why string) {
				if !answered(c) {
					invalid(c, why)
				}
			}
		}},
		{Name: "greets-now-and-then", For: ids("STREAM-007"), Anywhere: true, Fault: "each eleventh connection is greeted by a message", Reason: `the target opened stream`, change: func(m *manner) {
			m.meet = func(l *link) {
				if l.number%11 == 0 {
					go1(l, func() { l.say(false, "message", nil) })
				}
			}
		}},
	}
}

// again deals with a request whose id was seen before in the same scope.
func again(scope func(*call) string, with func(*call)) change {
	return func(m *manner) {
		request := m.request
		m.request = func(c *call) *answer {
			if c.peer.count("id "+scope(c)+strings.ToLower(c.env.ID)) > 1 {
				with(c)
				return nil
			}
			return request(c)
		}
	}
}
