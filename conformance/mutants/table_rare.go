package mutants

import (
	"strings"
	"time"

	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// rareMutants go wrong now and then, or only after something else.
func rareMutants() []Mutant {
	type fault struct {
		name, what, reason string
		for_               []string
		alter              func(*call, *answer)
	}
	var list []Mutant
	for _, often := range []struct {
		n    int64
		name string
	}{{7, "seventh"}, {50, "fiftieth"}, {100, "hundredth"}} {
		for _, f := range []fault{
			{"extra", "has a member more", `extra-member`, ids("ENV-002"), func(_ *call, a *answer) { a.Extra = append(a.Extra, `"seq":1`) }},
			{"ref", "has a wrong ref", `ref is`, ids("ENV-011"), func(_ *call, a *answer) { a.Ref = quote(wire.NewID()) }},
			{"version", "has an id of version 1", `id-not-v4`, ids("ENV-003"), func(_ *call, a *answer) { a.ID = a.ID[:15] + "1" + a.ID[16:] }},
			{"kind", "has the kind message", `"message"`, ids("STREAM-004"), func(_ *call, a *answer) { a.Kind = `"message"` }},
			{"payload", "has a null payload", `payload-not-object`, ids("ENV-008"), func(_ *call, a *answer) { a.Payload = "null" }},
		} {
			list = append(list, Mutant{
				Name: "each-" + often.name + "-" + f.name, For: f.for_, Anywhere: true, Reason: f.reason,
				Fault: "each " + often.name + " reply " + f.what,
				change: altering(func(c *call, a *answer) {
					if c.peer.answers.Load()%often.n == 0 {
						f.alter(c, a)
					}
				}),
			})
		}
		list = append(list,
			Mutant{Name: "each-" + often.name + "-reset", For: ids("STREAM-002"), Anywhere: true, Lost: true, Reason: `then a reset`, Fault: "each " + often.name + " reply is reset in place of its FIN",
				change: everyWrite(often.n, func(c *call, b []byte) {
					_ = c.stream.Write(c.peer.ctx, b)
					c.peer.pause(5 * time.Millisecond)
					c.stream.Reset(0)
				})},
			Mutant{Name: "each-" + often.name + "-dropped", For: ids("KIND-002"), Anywhere: true, Lost: true, Reason: `no bytes, then a reset`, Fault: "each " + often.name + " request is reset",
				change: everyWrite(often.n, func(c *call, _ []byte) { c.stream.Reset(0) })},
			Mutant{Name: "each-" + often.name + "-twice", For: ids("STREAM-003"), Anywhere: true, Reason: `2 JSON values`, Fault: "each " + often.name + " reply stands twice",
				change: everyWrite(often.n, func(c *call, b []byte) { _ = c.stream.Send(c.peer.ctx, append(b, b...)) })},
		)
	}
	plain := wire.NewID
	return append(list,
		Mutant{Name: "each-fiftieth-no-fin", For: ids("STREAM-002"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `still open|FIN`, Fault: "each fiftieth reply is not followed by FIN",
			change: everyWrite(50, func(c *call, b []byte) { _ = c.stream.Write(c.peer.ctx, b) })},
		Mutant{Name: "each-hundredth-unanswered", For: ids("STREAM-008"), Anywhere: true, Lost: true, Heavy: true, Ceiling: quick, Reason: `no bytes|nothing came`, Fault: "each hundredth request of a connection is forgotten",
			change: func(m *manner) {
				request := m.request
				m.request = func(c *call) *answer {
					if c.nth%100 == 0 || c.nthOfAll%100 == 0 {
						return nil
					}
					return request(c)
				}
			}},
		Mutant{Name: "fifth-on-a-connection-wrong", For: ids("ENV-011"), Anywhere: true, Reason: `ref is`, Fault: "the fifth reply on each connection has a wrong ref",
			change: altering(func(c *call, a *answer) {
				if c.link.answers.Load() == 5 {
					a.Ref = quote(plain())
				}
			})},
		Mutant{Name: "first-reply-wrong", For: ids("ENV-011"), Anywhere: true, Reason: `ref is|no ref`, Fault: "the first reply on each connection has no ref",
			change: altering(func(c *call, a *answer) {
				if c.link.answers.Load() == 1 {
					a.Ref = ""
				}
			})},
		Mutant{Name: "id-with-letters-misread", For: ids("ENV-011"), Anywhere: true, Reason: `ref is`, Fault: "an id that looks like a number with an exponent is written as one",
			change: altering(func(c *call, a *answer) {
				if head, _, ok := strings.Cut(c.env.ID, "e"); ok && len(head) == 1 {
					a.Ref = quote(strings.Replace(c.env.ID, "e", "E+", 1))
				}
			})},

		// after something malformed on the same connection
		after("malformed-then-wrong-ref", "after malformed bytes the next reply on the connection has a wrong ref", ids("ENV-011"), `ref is`, malformedBefore, func(c *call) *answer {
			a := unhandled(c.env.ID)
			a.Ref = quote(wire.NewID())
			return a
		}),
		after("malformed-then-dropped", "after malformed bytes the next request on the connection is dropped", ids("LIMIT-004"), `reset`, malformedBefore, func(c *call) *answer {
			c.drop(codeMalformed)
			return nil
		}),
		after("malformed-then-other-code", "after malformed bytes the next error on the connection is about them", ids("DEFERR-003"), `malformed`, malformedBefore, func(c *call) *answer {
			a := unhandled(c.env.ID)
			a.Code = `"malformed"`
			return a
		}),
		Mutant{Name: "malformed-then-mute", For: ids("LIMIT-004"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `nothing came`, Fault: "after malformed bytes the connection is not served any more",
			change: func(m *manner) {
				request := m.request
				m.request = func(c *call) *answer {
					if c.link.malformed.Load() > 0 {
						return nil
					}
					return request(c)
				}
			}},
		Mutant{Name: "ten-malformed-then-mute", For: ids("STREAM-008"), Anywhere: true, Heavy: true, Lost: true, Ceiling: quick, Reason: `nothing came`, Fault: "after ten malformed bodies the connection is not served any more",
			change: func(m *manner) {
				request := m.request
				m.request = func(c *call) *answer {
					if c.link.malformed.Load() >= 10 {
						return nil
					}
					return request(c)
				}
			}},
		after("message-then-dropped", "after a message the next request on the connection is dropped", ids("REF-002"), `reset`, func(c *call) bool { return !c.stream.Bidi() && c.env.Kind == "message" }, func(c *call) *answer {
			c.drop(codeMalformed)
			return nil
		}),
		after("error-then-wrong", "after an unsolicited error the next reply on the connection carries its ref", ids("ENV-011"), `ref is`, func(c *call) bool { return !c.stream.Bidi() && c.env.Kind == "error" }, func(c *call) *answer {
			a := unhandled(c.env.ID)
			a.Ref = quote(wire.NewID())
			return a
		}),
		after("unknown-then-dropped", "after an unknown kind on a unidirectional stream the next request on the connection is dropped", ids("FWD-001"), `reset`, func(c *call) bool { return !c.stream.Bidi() && !known(c.env.Kind) }, func(c *call) *answer {
			c.drop(codeMalformed)
			return nil
		}),
		Mutant{Name: "reset-then-mute", For: ids("LIMIT-003"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `nothing came|no bytes`, Fault: "after a reset stream the connection is not served any more",
			change: func(m *manner) {
				var mute perLink[bool]
				m.serve = func(c *call) {
					silent := false
					mute.with(c.link, func(v *bool) { silent = *v })
					if silent {
						return
					}
					c.serve()
					if end, ended := c.stream.Ended(); ended && end.How == "reset" {
						mute.with(c.link, func(v *bool) { *v = true })
					}
				}
			}},
		Mutant{Name: "reset-accepted", For: ids("LIMIT-003"), Reason: tookIt, Fault: "a stream that is reset after a whole request is answered",
			change: reading(func(c *call) ([]byte, bool) { return readHowever(c) })},
		Mutant{Name: "given-up-then-mute", For: ids("DEFERR-008"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `no bytes`, Fault: "after a requester gave up waiting the connection is not served any more",
			change: func(m *manner) {
				var answered perLink[[]*probe.Stream]
				m.write = func(c *call, b []byte) {
					mute := false
					answered.with(c.link, func(list *[]*probe.Stream) {
						for _, s := range *list {
							if _, stopped := s.StopCode(); stopped {
								mute = true
							}
						}
						*list = append(*list, c.stream)
					})
					if !mute {
						_ = c.stream.Send(c.peer.ctx, b)
					}
				}
			}},

		// before the FIN
		Mutant{Name: "answers-before-fin", For: ids("LIMIT-006"), Also: ids("LIMIT-003", "LIMIT-004", "PAY-004", "STREAM-009"), Reason: `already carried`, Fault: "a request is answered as soon as its object is whole",
			change: reading(readValue)},
		Mutant{Name: "receipt-before-fin", For: ids("LIMIT-006"), Anywhere: true, Reason: `already carried`, Fault: "white space is sent as soon as the first bytes come",
			change: reading(func(c *call) ([]byte, bool) {
				if c.stream.Bidi() {
					if _, err := c.stream.AwaitBytes(c.peer.ctx, 1); err == nil {
						_ = c.stream.Write(c.peer.ctx, []byte(" "))
					}
				}
				return c.readToFIN()
			})},
		Mutant{Name: "opening-brace-before-fin", For: ids("LIMIT-006"), Anywhere: true, Reason: `already carried`, Fault: "the first byte of the reply is sent as soon as the first bytes of the request come",
			change: func(m *manner) {
				m.read = func(c *call) ([]byte, bool) {
					if c.stream.Bidi() {
						if _, err := c.stream.AwaitBytes(c.peer.ctx, 1); err == nil {
							_ = c.stream.Write(c.peer.ctx, []byte("{"))
						}
					}
					return c.readToFIN()
				}
				m.write = func(c *call, b []byte) { _ = c.stream.Send(c.peer.ctx, b[1:]) }
			}},
	)
}

// malformedBefore tells a stream that held no envelope.
func malformedBefore(c *call) bool { return c.env.Kind == "" }

// after has the request that follows something on its connection go wrong.
func after(name, what string, made []string, reason string, what_ func(*call) bool, then func(*call) *answer) Mutant {
	// The checks that send what leads to it have to be among those that it meets.
	also := ids("KIND-005", "KIND-007", "FWD-001", "LIMIT-004")
	return Mutant{Name: name, For: made, Also: also, Anywhere: true, Lost: true, Fault: what, Reason: reason, change: func(m *manner) {
		var armed perLink[bool]
		arm := func(c *call) {
			if what_(c) {
				armed.with(c.link, func(v *bool) { *v = true })
			}
		}
		malformed, oneWay, request := m.malformed, m.oneWay, m.request
		m.malformed = func(c *call) { arm(c); malformed(c) }
		m.oneWay = func(c *call) { arm(c); oneWay(c) }
		m.request = func(c *call) *answer {
			now := false
			armed.with(c.link, func(v *bool) { now, *v = *v, false })
			if now {
				return then(c)
			}
			return request(c)
		}
	}}
}

// readValue takes a body as soon as it holds a whole value.
func readValue(c *call) ([]byte, bool) {
	for n := 1; ; {
		b, err := c.stream.AwaitBytes(c.peer.ctx, n)
		if err != nil {
			return nil, false
		}
		if v, _, err := wire.ParsePrefix(b); err == nil {
			return v.Raw, true
		}
		if _, ended := c.stream.Ended(); ended || len(b) > limit {
			return c.readToFIN()
		}
		n = len(b) + 1
	}
}

// readHowever takes what came before the end, however that was.
func readHowever(c *call) ([]byte, bool) {
	b, err := c.stream.AwaitBytes(c.peer.ctx, limit+1)
	if err != nil || len(b) > limit {
		c.drop(codeTooLarge)
		return nil, false
	}
	return b, true
}
