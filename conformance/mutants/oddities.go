package mutants

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// Oddities lists all, in the order of the source.
func Oddities() []Oddity {
	return []Oddity{
		{Name: "odd-correct", What: "it does nothing odd", change: func(*manner) {}},
		{Name: "odd-slow", What: "each reply takes 150 ms", change: writing(func(c *call, b []byte) {
			c.peer.pause(150 * time.Millisecond)
			_ = c.stream.Send(c.peer.ctx, b)
		})},
		{Name: "odd-indented", light: true, What: "its replies are indented", change: bytesOf(func(b []byte) []byte {
			var v any
			_ = json.Unmarshal(b, &v)
			out, _ := json.MarshalIndent(v, "", "\t")
			return out
		})},
		{Name: "odd-order", light: true, What: "the members of its replies stand in another order", change: altering(func(_ *call, a *answer) { a.Order = []string{"payload", "ref", "kind", "id"} })},
		{Name: "odd-byte-by-byte", What: "its replies are written byte by byte", change: writing(func(c *call, b []byte) {
			_ = c.stream.WritePieces(c.peer.ctx, b, 1)
			_ = c.stream.Finish()
		})},
		{Name: "odd-fin-later", What: "the FIN of a reply comes 20 ms after its bytes", change: writing(func(c *call, b []byte) {
			_ = c.stream.Write(c.peer.ctx, b)
			c.peer.pause(20 * time.Millisecond)
			_ = c.stream.Finish()
		})},
		{Name: "odd-line-feed", light: true, What: "a line feed stands behind each reply", change: bytesOf(func(b []byte) []byte { return append(slices.Clone(b), '\n') })},
		{Name: "odd-space-before", light: true, What: "white space stands before each reply", change: bytesOf(func(b []byte) []byte { return append([]byte(" \r\n\t"), b...) })},
		{Name: "odd-upper-case", light: true, What: "ids and refs are in upper case", change: altering(func(_ *call, a *answer) {
			a.ID, a.Ref = strings.ToUpper(a.ID), strings.ToUpper(a.Ref)
		})},
		{Name: "odd-upper-case-message", light: true, What: "the id in the default error's message is in upper case", change: inDefault(func(c *call, a *answer) {
			a.Message = strings.ReplaceAll(a.Message, c.env.ID, strings.ToUpper(c.env.ID))
		})},
		{Name: "odd-escapes", light: true, What: "its texts are written with escapes", change: bytesOf(func(b []byte) []byte {
			return []byte(strings.NewReplacer("unhandled", `unh\u0061ndled`, `"kind"`, `"k\u0069nd"`, "'", `\u0027`).Replace(string(b)))
		})},
		{Name: "odd-invalid-finish", What: "what is not accepted gets nothing but FIN", change: func(m *manner) {
			m.malformed = finish
			m.invalid = func(c *call, _ string) { finish(c) }
		}},
		{Name: "odd-invalid-reset", light: true, What: "what is not accepted is reset", change: func(m *manner) {
			m.invalid = func(c *call, _ string) { c.drop(codeMalformed) }
		}},
		{Name: "odd-invalid-silent", What: "what is not accepted is met with silence", change: func(m *manner) {
			m.malformed = func(*call) {}
			m.invalid = func(*call, string) {}
		}},
		{Name: "odd-malformed-error", light: true, What: "malformed bytes get an error without a ref", change: func(m *manner) {
			m.malformed = func(c *call) {
				if c.stream.Bidi() {
					c.reply(&answer{ID: quote(wire.NewID()), Kind: `"error"`, Code: `"invalid_envelope"`, Message: quote("the bytes are no envelope; send one JSON object"), Retryable: "false"})
				}
			}
		}},
		{Name: "odd-error-members", light: true, What: "its own errors carry further members in their payload", change: altering(func(_ *call, a *answer) { a.Retryable += `,"details":{"hint":"see the manual"},"since":1` })},
		{Name: "odd-malformed-closes", What: "malformed bytes end the connection with an application code", Warns: ids("LIMIT-004"), change: func(m *manner) {
			m.malformed = func(c *call) { c.link.hangUp(0x10, "malformed") }
		}},
		{Name: "odd-large", light: true, What: "it takes bodies up to 1 MiB", change: func(m *manner) { m.limit = 1<<20 - 1 }},
		{Name: "odd-eight-streams", What: "it grants eight streams of each type at a time", change: granting(8, 8)},
		{Name: "odd-four-streams", What: "it grants four streams of each type at a time", change: granting(4, 4)},
		{Name: "odd-two-streams", What: "it grants two streams of each type at a time", change: granting(2, 2)},
		{Name: "odd-jitter", What: "each reply takes up to 10 ms, so that they come in another order than the requests", change: writing(func(c *call, b []byte) {
			c.peer.pause(time.Duration(rand.IntN(10)) * time.Millisecond)
			_ = c.stream.Send(c.peer.ctx, b)
		})},
		{Name: "odd-slow-start", What: "the first reply of all takes 400 ms", change: writing(func(c *call, b []byte) {
			if c.peer.answers.Load() == 1 {
				c.peer.pause(400 * time.Millisecond)
			}
			_ = c.stream.Send(c.peer.ctx, b)
		})},
		{Name: "odd-oversize-error", light: true, What: "an oversized request gets an error with a code of its own", change: func(m *manner) {
			m.limit = 1<<20 - 1
			m.refuse = func(c *call) string {
				if len(c.body) > limit {
					return "it is larger than 65,536 bytes"
				}
				return ""
			}
		}},
		{Name: "odd-small-windows", What: "its flow control windows are small", change: configuring(func(c *quic.Config) {
			c.InitialStreamReceiveWindow, c.MaxStreamReceiveWindow = 4<<10, 16<<10
			c.InitialConnectionReceiveWindow, c.MaxConnectionReceiveWindow = 8<<10, 32<<10
		})},
		{Name: "odd-datagrams", light: true, What: "it offers datagrams and a small packet size", change: configuring(func(c *quic.Config) {
			c.EnableDatagrams, c.InitialPacketSize, c.DisablePathMTUDiscovery = true, 1200, true
		})},
		{Name: "odd-names-authorities", light: true, What: "it names acceptable authorities that do not match", change: func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) {
				stranger, err := credential.ECDSACertificate(credential.CertOptions{CommonName: "an authority"})
				if err == nil {
					c.ClientCAs = x509.NewCertPool()
					c.ClientCAs.AddCert(stranger.Leaf)
				}
			}
		}},
		{Name: "odd-own-certificate", light: true, What: "its own certificate has expired, has other names, and brings another along", change: func(m *manner) {
			m.listen = func(p *peer, o *probe.ListenOptions) {
				other, err := credential.ECDSACertificate(credential.CertOptions{})
				if err != nil {
					return
				}
				own, err := p.identity.Certificate(credential.CertOptions{
					CommonName: "somebody", DNSNames: []string{"example.invalid"}, NotAfter: time.Now().Add(-time.Hour), Extra: other.Certificate,
				})
				if err == nil {
					o.Certificate = &own
				}
			}
		}},
		{Name: "odd-closes-older", What: "it keeps one connection a peer and closes the older one", change: func(m *manner) {
			m.meet = func(l *link) {
				for _, o := range l.peer.others(l) {
					o.hangUp(0, "replaced by a newer connection")
				}
			}
		}},
		{Name: "odd-closes-newer", What: "it keeps one connection a peer and closes the newer one", change: func(m *manner) {
			m.meet = func(l *link) {
				if len(l.peer.others(l)) > 0 {
					l.hangUp(0, "there is a connection already")
				}
			}
		}},
		{Name: "odd-two-connections", What: "it keeps two connections a peer and closes the newest", change: func(m *manner) {
			m.meet = func(l *link) {
				if len(l.peer.others(l)) > 1 {
					l.hangUp(0, "there are two connections already")
				}
			}
		}},
		{Name: "odd-two-newest", What: "it keeps two connections a peer and closes the oldest", change: func(m *manner) {
			m.meet = func(l *link) {
				others := l.peer.others(l)
				slices.SortFunc(others, func(a, b *link) int { return cmp.Compare(b.number, a.number) })
				for _, o := range others[min(1, len(others)):] {
					o.hangUp(0, "replaced by a newer connection")
				}
			}
		}},
		{Name: "odd-extra-refused", light: true, What: "members that the envelope does not define are refused", change: refusing(func(c *call) bool { return len(c.env.Extra) > 0 })},
		{Name: "odd-ref-strict", light: true, What: "a ref that is the nil UUID is refused", change: refusing(func(c *call) bool {
			return c.env.Ref != nil && strings.Trim(*c.env.Ref, "0-") == ""
		})},
		{Name: "odd-uuid-forms", light: true, What: "ids in braces, as URNs and without hyphens are taken", change: func(m *manner) {
			m.tolerate(wire.IDNotUUID)
			m.refuse = func(c *call) string {
				if !uuidForms(c.env.ID) {
					return "the id is no UUID"
				}
				return ""
			}
			m.alter = func(c *call, a *answer) {
				if !wire.SameUUID(c.env.ID, c.env.ID) {
					a.Ref = ""
				}
			}
		}},
		{Name: "odd-upper-case-refused", light: true, What: "ids in upper case are refused", change: refusing(func(c *call) bool { return c.env.ID != strings.ToLower(c.env.ID) })},
		{Name: "odd-duplicates-taken", light: true, What: "of members that stand twice the last one counts", change: forgiving(wire.DuplicateMember)},
		{Name: "odd-misplaced-reset", light: true, What: "a message, response or error on a bidirectional stream is reset", change: func(m *manner) { m.misplaced = func(c *call) { c.drop(codeMalformed) } }},
		{Name: "odd-misplaced-finish", light: true, What: "a message, response or error on a bidirectional stream gets nothing but FIN", change: func(m *manner) { m.misplaced = finish }},
		{Name: "odd-stops-after-reading", What: "it sends STOP_SENDING after it has read everything", change: func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				b, ok := c.readToFIN()
				c.stream.StopReading(0)
				return b, ok
			}
		}},
		{Name: "odd-one-way-stopped", What: "what it will not read of a unidirectional stream it stops with code 0", change: serving(func(c *call) {
			if !c.stream.Bidi() {
				c.stream.StopReading(0)
				return
			}
			c.serve()
		})},
		{Name: "odd-short-idle", What: "idle connections are kept for 5 s only", change: func(m *manner) {
			configuring(func(c *quic.Config) { c.MaxIdleTimeout, c.KeepAlivePeriod = 5*time.Second, 0 })(m)
		}},
		{Name: "odd-refuses-by-close", light: true, What: "an unknown key is refused by an application close right after the handshake", change: func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) { c.ClientAuth = tls.RequestClientCert }
			m.admit = func(*peer, tls.ConnectionState) error { return nil }
			m.meet = closeStrangers(0)
			m.serve = servingKnown
		}},
		{Name: "odd-refuses-late", light: true, What: "an unknown key is refused by an application close 50 ms after the handshake", change: func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) { c.ClientAuth = tls.RequestClientCert }
			m.admit = func(*peer, tls.ConnectionState) error { return nil }
			m.meet = closeStrangers(50 * time.Millisecond)
			m.serve = servingKnown
		}},
		{Name: "odd-slow-handshake", What: "it takes 30 ms to judge a key", change: func(m *manner) {
			m.admit = func(p *peer, s tls.ConnectionState) error {
				p.pause(30 * time.Millisecond)
				return admit(p, s)
			}
		}},
		{Name: "odd-tickets", light: true, What: "it hands out session tickets", change: func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) { c.SessionTicketsDisabled = false }
		}},
		{Name: "odd-handler-echo", HasHandler: true, What: "an application answers each request by its own payload", change: echo},
		{Name: "odd-handler-errors", light: true, HasHandler: true, What: "an application answers by errors with codes and shapes of its own", change: func(m *manner) {
			m.request = func(c *call) *answer {
				return &answer{ID: quote(wire.NewID()), Kind: `"error"`, Ref: quote(c.env.ID), Payload: `{"Code":"E-7","why":["busy"],"code":"Not-Today"}`}
			}
		}},
		{Name: "odd-handler-messages", HasHandler: true, What: "an application sends a message of its own after each request", change: func(m *manner) {
			echo(m)
			m.write = func(c *call, b []byte) {
				c.link.say(false, "message", nil)
				_ = c.stream.Send(c.peer.ctx, b)
			}
		}},
		{Name: "odd-handler-declines-some", light: true, HasHandler: true, What: "an application answers every other request and declines the rest", change: func(m *manner) {
			none := m.request
			echo(m)
			some := m.request
			m.request = func(c *call) *answer {
				if c.nthOfAll%2 == 0 {
					return none(c)
				}
				return some(c)
			}
		}},
	}
}

func finish(c *call) { _ = c.stream.Finish() }

func configuring(f func(*quic.Config)) change {
	return func(m *manner) {
		m.listen = func(_ *peer, o *probe.ListenOptions) { o.Config = f }
	}
}

func granting(bidi, uni int64) change {
	return func(m *manner) {
		m.listen = func(_ *peer, o *probe.ListenOptions) { o.MaxIncomingStreams, o.MaxIncomingUniStreams = bidi, uni }
	}
}

// closeStrangers ends connections of unknown keys after a while.
func closeStrangers(after time.Duration) func(*link) {
	return func(l *link) {
		if l.known() {
			return
		}
		go1(l, func() {
			l.peer.pause(after)
			l.hangUp(1, "unknown peer")
		})
	}
}

func servingKnown(c *call) {
	if c.link.known() {
		c.serve()
	}
}

func uuidForms(id string) bool {
	id = strings.TrimPrefix(strings.ToLower(id), "urn:uuid:")
	id = strings.ReplaceAll(strings.Trim(id, "{}"), "-", "")
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" && strings.Trim(id, "0") != ""
}
