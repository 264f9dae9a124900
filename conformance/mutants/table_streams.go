package mutants

import (
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// streamMutants use streams and connections wrongly.
func streamMutants() []Mutant {
	const opened = `the target opened stream \d+`
	errorFor := func(c *call) []byte { return unhandled(c.env.ID).bytes() }
	oneWay := func(kind string, bidi bool, reply string) change {
		return answering(kind, func(c *call) { c.link.say(bidi, reply, &c.env.ID) })
	}
	message, failure, lost := ids("KIND-005"), ids("KIND-008"), ids("STREAM-005")
	return []Mutant{
		// answers to what must not be answered
		{Name: "message-answered-by-error", For: message, Also: lost, Fault: "a message gets the default error on a unidirectional stream", Reason: opened, change: answering("message", func(c *call) { c.link.open(false, errorFor(c)) })},
		{Name: "message-answered-by-message", For: message, Also: lost, Fault: "a message is acknowledged by a message", Reason: opened, change: oneWay("message", false, "message")},
		{Name: "message-answered-by-request", For: message, Also: lost, Fault: "a message leads to a request", Reason: opened, change: oneWay("message", true, "request")},
		{Name: "message-answered-by-response", For: append(ids("KIND-003"), message...), Also: lost, Fault: "a message gets a response on a unidirectional stream", Reason: opened + `|stream \d+ carries one`, change: oneWay("message", false, "response")},
		{Name: "message-answered-late", Whole: true, For: message, Also: append(ids("KIND-008"), lost...), Fault: "a message is acknowledged after 300 ms", Reason: opened, change: answering("message", func(c *call) {
			c.peer.pause(300 * time.Millisecond)
			c.link.say(false, "message", &c.env.ID)
		})},
		{Name: "message-answered-now-and-then", For: message, Also: lost, Fault: "each twentieth message is acknowledged", Reason: opened, change: answering("message", func(c *call) {
			if c.peer.count("messages")%20 == 0 {
				c.link.say(false, "message", &c.env.ID)
			}
		})},
		{Name: "message-answered-by-empty-stream", For: message, Also: lost, Fault: "a message leads to a stream with nothing but FIN", Reason: opened, change: answering("message", func(c *call) { c.link.open(false, nil) })},
		{Name: "ping-answered", For: message, Fault: "a message with ping in its payload is answered", Reason: opened, change: answering("message", func(c *call) {
			if _, n := c.env.Payload.Get("ping"); n > 0 {
				c.link.say(false, "message", nil)
			}
		})},
		{Name: "question-answered", For: message, Fault: "a message with a question in its payload gets the default error", Reason: opened, change: answering("message", func(c *call) {
			if _, n := c.env.Payload.Get("question"); n > 0 {
				c.link.open(false, errorFor(c))
			}
		})},
		{Name: "error-answered-by-error", For: failure, Also: lost, Fault: "an unsolicited error gets an error back", Reason: opened, change: answering("error", func(c *call) { c.link.open(false, errorFor(c)) })},
		{Name: "error-with-ref-answered", For: failure, Also: lost, Fault: "an error with a ref that it does not know gets an error back", Reason: opened, change: answering("error", func(c *call) {
			if c.env.Ref != nil {
				c.link.say(false, "error", &c.env.ID)
			}
		})},
		{Name: "error-acknowledged", For: failure, Also: lost, Fault: "an unsolicited error is acknowledged by a message", Reason: opened, change: oneWay("error", false, "message")},
		{Name: "error-answered-late", Whole: true, For: failure, Also: append(ids("KIND-005"), lost...), Fault: "an unsolicited error gets an error back after 300 ms", Reason: opened, change: answering("error", func(c *call) {
			c.peer.pause(300 * time.Millisecond)
			c.link.say(false, "error", &c.env.ID)
		})},
		{Name: "error-closes", For: ids("KIND-007"), Also: append(ids("KIND-008"), lost...), Fault: "an unsolicited error ends the connection", Reason: `application code 3`, change: answering("error", func(c *call) { c.link.hangUp(3, "error received") })},
		{Name: "error-with-ref-closes", For: ids("KIND-007"), Also: ids("KIND-008"), Fault: "an error whose ref it does not know ends the connection", Reason: `application code 3`, change: answering("error", func(c *call) {
			if c.env.Ref != nil {
				c.link.hangUp(3, "ref not known")
			}
		})},
		{Name: "error-odd-payload-closes", For: ids("KIND-007"), Fault: "an error without a code that is a text ends the connection", Reason: `application code 3`, change: answering("error", func(c *call) {
			if v, _ := c.env.Payload.Get("code"); v.Kind != wire.String {
				c.link.hangUp(3, "error without code")
			}
		})},
		{Name: "error-mutes", For: ids("KIND-007"), Also: ids("KIND-008"), Ceiling: quick, Lost: true, Fault: "after an unsolicited error the connection is not served any more", Reason: `nothing came`, change: func(m *manner) {
			var mute perLink[bool]
			m.oneWay = func(c *call) { mute.with(c.link, func(v *bool) { *v = *v || c.env.Kind == "error" }) }
			request := m.request
			m.request = func(c *call) *answer {
				silent := false
				mute.with(c.link, func(v *bool) { silent = *v })
				if silent {
					return nil
				}
				return request(c)
			}
		}},
		{Name: "request-one-way-answered", For: lost, Also: append(ids("KIND-005"), failure...), Fault: "a request on a unidirectional stream gets the default error on another", Reason: opened, change: answering("request", func(c *call) { c.link.open(false, errorFor(c)) })},
		{Name: "request-one-way-answered-bidi", For: lost, Also: append(ids("KIND-005"), failure...), Fault: "a request on a unidirectional stream gets the default error on a bidirectional one", Reason: opened, change: answering("request", func(c *call) { c.link.open(true, errorFor(c)) })},
		{Name: "response-one-way-answered", For: lost, Also: append(ids("KIND-005"), failure...), Fault: "a response to nothing gets an error back", Reason: opened, change: oneWay("response", false, "error")},
		{Name: "unknown-one-way-answered", For: ids("FWD-001"), Also: append(append(ids("KIND-005"), failure...), lost...), Fault: "an unknown kind on a unidirectional stream gets the default error", Reason: opened, change: answering("", func(c *call) {
			if !known(c.env.Kind) {
				c.link.open(false, errorFor(c))
			}
		})},
		{Name: "everything-one-way-answered", For: append(append(ids("KIND-005"), failure...), lost...), Also: ids("FWD-001"), Fault: "everything on a unidirectional stream gets the default error", Reason: opened, change: answering("", func(c *call) { c.link.open(false, errorFor(c)) })},
		{Name: "malformed-one-way-answered", For: lost, Also: ids("LIMIT-004", "ENV-009", "ENV-011"), Fault: "malformed bytes on a unidirectional stream get the default error", Reason: opened, change: func(m *manner) {
			m.malformed = func(c *call) {
				if !c.stream.Bidi() {
					c.link.open(false, errorFor(c))
					return
				}
				c.drop(codeMalformed)
			}
		}},
		{Name: "invalid-one-way-answered", For: lost, Fault: "an invalid envelope on a unidirectional stream gets an error on a bidirectional one", Reason: opened, change: func(m *manner) {
			m.invalid = func(c *call, why string) {
				if !c.stream.Bidi() {
					c.link.say(true, "error", &c.env.ID)
					return
				}
				c.invalid(why)
			}
		}},

		// where the reply goes
		{Name: "reply-on-new-stream", For: ids("KIND-002"), Anywhere: true, Lost: true, Fault: "replies go on unidirectional streams, and the request's own gets FIN", Reason: `no bytes, then FIN`, change: writing(func(c *call, b []byte) {
			c.link.open(false, b)
			_ = c.stream.Finish()
		})},
		{Name: "reply-on-new-bidi-stream", For: ids("KIND-002"), Anywhere: true, Lost: true, Fault: "replies go on bidirectional streams of its own, and the request's own is reset", Reason: `no bytes, then a reset`, change: writing(func(c *call, b []byte) {
			c.link.open(true, b)
			c.stream.Reset(0)
		})},
		{Name: "reply-on-both", For: ids("KIND-002"), Anywhere: true, Fault: "replies go on the request's own stream and on a new one", Reason: opened + `|also opened stream`, change: writing(func(c *call, b []byte) {
			c.link.open(false, b)
			_ = c.stream.Send(c.peer.ctx, b)
		})},
		{Name: "response-repeated-on-new-stream", For: ids("KIND-003"), Anywhere: true, Fault: "each reply is followed by a response on a stream of its own", Reason: `stream \d+ carries one|opened stream`, change: writing(func(c *call, b []byte) {
			_ = c.stream.Send(c.peer.ctx, b)
			c.link.say(false, "response", &c.env.ID)
		})},
		{Name: "response-sent-bidi", For: ids("KIND-003"), Anywhere: true, Fault: "each fiftieth reply is followed by a response that opens a bidirectional stream", Reason: `stream \d+ carries one|opened stream`, change: writing(func(c *call, b []byte) {
			_ = c.stream.Send(c.peer.ctx, b)
			if c.peer.answers.Load()%50 == 0 {
				c.link.say(true, "response", nil)
			}
		})},

		// greetings
		{Name: "greeting-message", For: ids("STREAM-007"), Anywhere: true, Fault: "each connection is greeted by a message", Reason: opened, change: func(m *manner) { m.meet = func(l *link) { go1(l, func() { l.say(false, "message", nil) }) } }},
		{Name: "greeting-request", For: ids("STREAM-007"), Anywhere: true, Fault: "each connection is greeted by a request", Reason: opened, change: func(m *manner) { m.meet = func(l *link) { go1(l, func() { l.say(true, "request", nil) }) } }},
		{Name: "greeting-hello", For: ids("STREAM-007"), Anywhere: true, Fault: "each connection is greeted by a hello of an older protocol", Reason: opened, change: func(m *manner) { m.meet = func(l *link) { go1(l, func() { l.say(false, "hello", nil) }) } }},
		{Name: "greeting-empty", For: ids("STREAM-007"), Anywhere: true, Fault: "on each connection it opens a stream with nothing but FIN", Reason: opened, change: func(m *manner) { m.meet = func(l *link) { go1(l, func() { l.open(false, nil) }) } }},
		{Name: "greeting-late", Whole: true, For: ids("STREAM-007"), Anywhere: true, Fault: "each connection is greeted after 400 ms", Reason: opened, change: func(m *manner) {
			m.meet = func(l *link) {
				go1(l, func() {
					l.peer.pause(400 * time.Millisecond)
					l.say(false, "message", nil)
				})
			}
		}},
		{Name: "ping-regularly", Whole: true, For: ids("STREAM-007"), Anywhere: true, Fault: "it sends a message on each connection every 200 ms", Reason: opened, change: func(m *manner) {
			m.meet = func(l *link) {
				go1(l, func() {
					for l.peer.ctx.Err() == nil && l.conn.End() == nil {
						l.peer.pause(200 * time.Millisecond)
						l.say(false, "message", nil)
					}
				})
			}
		}},
		{Name: "greeting-with-null-ref", For: ids("REF-001", "STREAM-007"), Anywhere: true, Fault: "its greeting has a ref that is null", Reason: opened + `|as null`, change: func(m *manner) {
			m.meet = func(l *link) {
				go1(l, func() { l.open(false, []byte(`{"id":"`+wire.NewID()+`","kind":"message","payload":{},"ref":null}`)) })
			}
		}},
		{Name: "request-sent-one-way", For: ids("KIND-001", "STREAM-007"), Anywhere: true, Fault: "it greets by a request on a unidirectional stream", Reason: opened + `|unidirectional stream`, change: func(m *manner) { m.meet = func(l *link) { go1(l, func() { l.say(false, "request", nil) }) } }},
		{Name: "message-sent-bidi", For: ids("KIND-004", "STREAM-007"), Anywhere: true, Fault: "it greets by a message on a bidirectional stream", Reason: opened + `|bidirectional stream`, change: func(m *manner) { m.meet = func(l *link) { go1(l, func() { l.say(true, "message", nil) }) } }},
		{Name: "hello-first", For: ids("KIND-002"), Anywhere: true, Lost: true, Fault: "requests are refused until a hello has been sent", Reason: `hello_required|then a reset`, change: func(m *manner) {
			var greeted perLink[bool]
			m.unknown = func(c *call) *answer {
				if c.env.Kind == "hello" {
					greeted.with(c.link, func(v *bool) { *v = true })
				}
				return unhandled(c.env.ID)
			}
			m.request = func(c *call) *answer {
				ok := false
				greeted.with(c.link, func(v *bool) { ok = *v })
				if !ok {
					c.drop(6)
					return nil
				}
				return unhandled(c.env.ID)
			}
		}},
		{Name: "hello-first-by-error", For: ids("DEFERR-003"), Anywhere: true, Fault: "until a hello has been sent requests get the error hello_required", Reason: `hello_required`, change: coding(`"hello_required"`)},

		// one stream in the way of another
		{Name: "one-stream-at-a-time", For: ids("STREAM-009"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "a connection's streams are served one after another", Reason: `no bytes|nothing came`, change: serving(func(c *call) {
			c.link.serial.Lock()
			defer c.link.serial.Unlock()
			c.serve()
		})},
		{Name: "one-way-stream-blocks", For: ids("STREAM-009"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "a unidirectional stream that stalls blocks the connection", Reason: `no bytes|nothing came`, change: func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				c.link.serial.Lock()
				if c.stream.Bidi() {
					c.link.serial.Unlock()
					return c.readToFIN()
				}
				defer c.link.serial.Unlock()
				return c.readToFIN()
			}
		}},
		{Name: "one-stream-at-a-time-overall", For: ids("STREAM-009"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "all connections' streams are served one after another", Reason: `no bytes|nothing came`, change: func(m *manner) {
			var serial sync.Mutex
			m.serve = func(c *call) {
				serial.Lock()
				defer serial.Unlock()
				c.serve()
			}
		}},
		{Name: "two-workers", For: ids("STREAM-009"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "two workers serve a connection, and stalled streams hold them", Reason: `no bytes|nothing came`, change: workers(2)},
		{Name: "four-workers", For: ids("STREAM-009"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "four workers serve a connection, and stalled streams hold them", Reason: `no bytes|nothing came`, change: workers(4)},

		// concurrency
		{Name: "current-request", For: ids("REF-005"), Anywhere: true, Fault: "the id of the current request is kept per connection", Reason: `ref is`, change: func(m *manner) {
			var current perLink[string]
			m.request = func(c *call) *answer {
				current.with(c.link, func(id *string) { *id = c.env.ID })
				if c.link.inFlight.Load() > 1 {
					c.peer.pause(2 * time.Millisecond)
				}
				a := unhandled(c.env.ID)
				current.with(c.link, func(id *string) { a.Ref = quote(*id) })
				return a
			}
		}},
		{Name: "replies-in-order-of-streams", For: ids("REF-005"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "replies go to a connection's streams in the order in which these were opened", Reason: `ref is|no bytes, and the stream is still open`, change: func(m *manner) {
			var waiting perLink[[]*probe.Stream]
			m.serve = func(c *call) {
				if c.stream.Bidi() {
					waiting.with(c.link, func(w *[]*probe.Stream) {
						at := len(*w)
						for at > 0 && (*w)[at-1].ID() > c.stream.ID() {
							at--
						}
						*w = append((*w)[:at], append([]*probe.Stream{c.stream}, (*w)[at:]...)...)
					})
				}
				c.serve()
				// What got no reply by now is out of the queue.
				if _, ended := c.stream.Ended(); ended && !c.replied {
					waiting.with(c.link, func(w *[]*probe.Stream) { *w = without(*w, c.stream) })
				}
			}
			m.write = func(c *call, b []byte) {
				c.replied = true
				to := c.stream
				waiting.with(c.link, func(w *[]*probe.Stream) {
					if len(*w) > 0 {
						to, *w = (*w)[0], (*w)[1:]
					}
				})
				_ = to.Send(c.peer.ctx, b)
			}
		}},
		{Name: "replies-crossed", For: ids("REF-005"), Anywhere: true, Fault: "with more than 20 streams open two replies change places", Reason: `ref is`, change: func(m *manner) {
			var held perLink[string]
			m.alter = func(c *call, a *answer) {
				held.with(c.link, func(id *string) {
					if c.link.inFlight.Load() > 20 && *id != "" {
						a.Ref = *id
					}
					*id = quote(c.env.ID)
				})
			}
		}},
		{Name: "at-most-32-in-flight", For: ids("REF-005"), Also: ids("KIND-002", "STREAM-008", "DEFERR-001", "DEFERR-008", "DEFERR-002", "DEFERR-003", "DEFERR-004", "DEFERR-005", "DEFERR-006"), Lost: true, Fault: "with 32 streams open more are reset", Reason: `then a reset with code 5`, change: serving(func(c *call) {
			if c.link.inFlight.Load() > 32 {
				c.drop(5)
				return
			}
			c.serve()
		})},
		{Name: "at-most-48-in-flight-overloaded", For: ids("DEFERR-003"), Also: ids("REF-005", "STREAM-008", "DEFERR-004", "DEFERR-005"), Fault: "with 48 streams open more get the error overloaded", Reason: `overloaded`, change: inDefault(func(c *call, a *answer) {
			if c.link.inFlight.Load() > 48 {
				a.Code = `"overloaded"`
			}
		})},
		{Name: "same-id-under-load", For: ids("ENV-005"), Also: ids("DEFERR-006", "FWD-002"), Fault: "with more than 10 streams open, replies at the same moment have the same id", Reason: `both have the id|used before`, change: func(m *manner) {
			var last perLink[string]
			m.alter = func(c *call, a *answer) {
				last.with(c.link, func(id *string) {
					if c.link.inFlight.Load() > 10 && *id != "" {
						a.ID = *id
					}
					*id = a.ID
				})
			}
		}},
		{Name: "lost-under-load", For: ids("STREAM-008"), Anywhere: true, Heavy: true, Lost: true, Ceiling: quick, Fault: "with more than 100 streams open some are forgotten", Reason: `carried no bytes`, change: func(m *manner) {
			request := m.request
			m.request = func(c *call) *answer {
				if c.link.inFlight.Load() > 100 && c.nth%7 == 0 {
					return nil
				}
				return request(c)
			}
		}},

		// credit and long lives
		{Name: "stops-after-500-streams", For: ids("STREAM-008"), Anywhere: true, Heavy: true, Lost: true, Ceiling: quick, Fault: "after 500 streams a connection is not served any more", Reason: `carried no bytes`, change: serving(func(c *call) {
			if c.nth <= 500 {
				c.serve()
			}
		})},
		{Name: "stops-after-1000-streams", For: ids("STREAM-008"), Anywhere: true, Heavy: true, Lost: true, Ceiling: quick, Fault: "after 1,000 streams a connection is not served any more", Reason: `carried no bytes`, change: serving(func(c *call) {
			if c.nth <= 1000 {
				c.serve()
			}
		})},
		{Name: "closes-after-1000-streams", For: ids("STREAM-008"), Anywhere: true, Heavy: true, Fault: "after 1,000 streams it closes the connection", Reason: `connection ended|cut off|application code`, change: serving(func(c *call) {
			if c.nth > 1000 {
				c.link.hangUp(0, "too many requests")
			}
			c.serve()
		})},
		{Name: "no-bidi-credit-100", For: ids("STREAM-008"), Anywhere: true, Heavy: true, Lost: true, Ceiling: quick, Fault: "credit for bidirectional streams, 100 of them, never comes back", Reason: `granted none`, change: credit(100, 1<<20)},
		{Name: "no-bidi-credit-1000", For: ids("STREAM-008"), Anywhere: true, Heavy: true, Lost: true, Ceiling: quick, Fault: "credit for bidirectional streams, 1,000 of them, never comes back", Reason: `granted none`, change: credit(1000, 1<<20)},
		{Name: "no-one-way-credit-100", For: ids("STREAM-011"), Heavy: true, Lost: true, Ceiling: quick, Fault: "credit for unidirectional streams, 100 of them, never comes back", Reason: `granted none`, change: credit(1<<20, 100)},
		{Name: "no-one-way-credit-1000", For: ids("STREAM-011"), Heavy: true, Lost: true, Ceiling: quick, Fault: "credit for unidirectional streams, 1,000 of them, never comes back", Reason: `granted none`, change: credit(1<<20, 1000)},
		{Name: "no-one-way-credit-3", For: ids("KIND-005"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "credit for unidirectional streams, 3 of them, never comes back", Reason: `granted none`, change: credit(1<<20, 3)},
		{Name: "one-way-streams-stopped", For: ids("STREAM-011"), Heavy: true, Also: ids("STREAM-009"), Fault: "unidirectional streams are stopped with an error code and not read", Reason: `stopped message|cut off`, change: serving(func(c *call) {
			if !c.stream.Bidi() {
				c.stream.StopReading(9)
				return
			}
			c.serve()
		})},
		{Name: "message-burst-closes", For: ids("STREAM-011"), Heavy: true, Fault: "more than 500 messages on a connection end it", Reason: `connection ended|cut off|application code|it ended`, change: func(m *manner) {
			var n perLink[int]
			m.oneWay = func(c *call) {
				n.with(c.link, func(v *int) {
					if *v++; *v == 500 {
						go1(c.link, func() { c.link.hangUp(8, "too many messages") })
					}
				})
			}
		}},

		// connections
		{Name: "only-first-connection", For: ids("KIND-002"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "only the first connection is served", Reason: `no bytes`, change: serving(func(c *call) {
			if c.link.number == 1 {
				c.serve()
			}
		})},
		{Name: "one-connection-at-a-time", For: ids("KIND-002"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "while one connection is open the requests on another get no answer", Reason: `no bytes`, change: serving(func(c *call) {
			for _, o := range c.peer.others(c.link) {
				if o.number < c.link.number {
					return
				}
			}
			c.serve()
		})},
		{Name: "at-most-four-connections", For: ids("DEFERR-008"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "the requests on a fifth connection get no answer", Reason: `no bytes|nothing came`, change: serving(func(c *call) {
			if len(c.peer.others(c.link)) >= 5 && c.peer.others(nil)[0] != c.link {
				return
			}
			c.serve()
		})},
		{Name: "first-stream-ignored", For: ids("KIND-002"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "the first stream of each connection is not served", Reason: `no bytes`, change: serving(func(c *call) {
			if c.nth > 1 {
				c.serve()
			}
		})},
		{Name: "early-streams-reset", For: ids("STREAM-006"), Anywhere: true, Lost: true, Fault: "the first stream of each connection is reset", Reason: `no bytes, then a reset`, change: serving(func(c *call) {
			if c.nth == 1 {
				c.drop(5)
				return
			}
			c.serve()
		})},
		{Name: "fifteenth-connection-unserved", For: ids("STREAM-006"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "the first stream on each fifteenth connection is not served", Reason: `no bytes`, change: serving(func(c *call) {
			if c.link.number%15 != 0 || c.nth > 1 {
				c.serve()
			}
		})},
		{Name: "connections-counted-by-address", For: ids("STREAM-006"), Fault: "the eleventh connection from one address is turned away", Reason: `connection|no bytes`, change: func(m *manner) {
			var mu sync.Mutex
			seen := map[string]int{}
			m.meet = func(l *link) {
				mu.Lock()
				defer mu.Unlock()
				if seen[l.conn.RemoteAddr().String()]++; seen[l.conn.RemoteAddr().String()] > 10 {
					l.hangUp(4, "too many connections")
				}
			}
		}},

		// what an application answers
		{Name: "handler-message", For: ids("STREAM-004", "KIND-002"), HasHandler: true, Also: ids("DEFERR-008", "STREAM-006", "STREAM-008", "FWD-002"), Fault: "the application's reply is sent as a message", Reason: `"message"`, change: together(echo, altering(func(_ *call, a *answer) {
			if a.Kind == `"response"` {
				a.Kind = `"message"`
			}
		}))},
		{Name: "handler-echoes-kind", For: ids("STREAM-004", "KIND-002"), HasHandler: true, Also: ids("DEFERR-008", "STREAM-006", "STREAM-008", "FWD-002"), Fault: "the application's reply is the request itself with a ref", Reason: `"request"`, change: together(echo, altering(func(c *call, a *answer) {
			if a.Kind == `"response"` {
				a.Kind = quote(c.env.Kind)
			}
		}))},
		{Name: "handler-echoes-id", For: ids("ENV-005"), HasHandler: true, Fault: "the application's reply has the request's id", Reason: `that of request|own`, change: together(echo, altering(func(c *call, a *answer) {
			if a.Kind == `"response"` {
				a.ID = quote(c.env.ID)
			}
		}))},
		{Name: "handler-answers-messages", For: ids("KIND-005"), Also: lost, HasHandler: true, Fault: "the application's answer to a message is sent back with a ref", Reason: opened, change: together(echo, oneWay("message", false, "message"))},
		{Name: "handler-answers-one-way", For: lost, Also: ids("KIND-003"), HasHandler: true, Fault: "a request on a unidirectional stream goes to the application and its answer back", Reason: opened, change: together(echo, oneWay("request", false, "response"))},
		{Name: "handler-payload-text", For: ids("ENV-008"), HasHandler: true, Fault: "the application may answer by a bare text", Reason: `payload-not-object`, change: together(echo, altering(func(c *call, a *answer) {
			if a.Kind == `"response"` {
				a.Payload = `"ok"`
			}
		}))},
		{Name: "handler-ref-missing", For: ids("ENV-011", "REF-005"), HasHandler: true, Fault: "the application's reply has no ref", Reason: `no ref|ref is none`, change: together(echo, altering(func(c *call, a *answer) {
			if a.Kind == `"response"` {
				a.Ref = ""
			}
		}))},
		{Name: "handler-one-at-a-time", For: ids("REF-005"), Also: ids("ENV-011"), HasHandler: true, Anywhere: true, Fault: "with several requests pending the application's answers go to the wrong ones", Reason: `ref is`, change: together(echo, func(m *manner) {
			var current perLink[string]
			request := m.request
			m.request = func(c *call) *answer {
				current.with(c.link, func(id *string) { *id = c.env.ID })
				c.peer.pause(time.Millisecond)
				a := request(c)
				current.with(c.link, func(id *string) { a.Ref = quote(*id) })
				return a
			}
		})},
	}
}

// go1 runs something of a connection in the background until the peer closes.
func go1(l *link, f func()) { l.peer.accept.Go(f) }

// workers serves at most n streams of a connection at a time.
func workers(n int) change {
	return func(m *manner) {
		var slots perLink[chan struct{}]
		m.serve = func(c *call) {
			var mine chan struct{}
			slots.with(c.link, func(s *chan struct{}) {
				if *s == nil {
					*s = make(chan struct{}, n)
				}
				mine = *s
			})
			select {
			case mine <- struct{}{}:
			case <-c.peer.ctx.Done():
				return
			}
			defer func() { <-mine }()
			c.serve()
		}
	}
}

// credit grants so many streams of each type and never more.
func credit(bidi, uni int64) change {
	return func(m *manner) {
		m.listen = func(_ *peer, o *probe.ListenOptions) {
			o.MaxIncomingStreams, o.MaxIncomingUniStreams = bidi, uni
			o.Config = func(c *quic.Config) { c.RequireStreamCreditRelease = true }
		}
	}
}

func without(list []*probe.Stream, s *probe.Stream) []*probe.Stream {
	var kept []*probe.Stream
	for _, each := range list {
		if each != s {
			kept = append(kept, each)
		}
	}
	return kept
}
