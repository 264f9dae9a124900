package mutants

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"

	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// limit is the greatest envelope in bytes that the correct peer takes.
const limit = 65536

// Reset and STOP_SENDING codes of the correct peer.
const (
	codeMalformed = 1
	codeTooLarge  = 2
	codeStalled   = 3
)

// manner is how a peer decides. Each function is one decision; a fault replaces
// one or wraps it.
type manner struct {
	// listen and tls have the last word on how connections are taken.
	listen func(*peer, *probe.ListenOptions)
	tls    func(*peer, *tls.Config)
	// admit judges a dialer, after its proof that it holds its key.
	admit func(*peer, tls.ConnectionState) error
	// meet is called once for a new connection, before its streams are served.
	meet func(*link)
	// serve is all that happens to a stream.
	serve func(*call)
	// read brings the body of a stream that ended by FIN within the limit; not ok
	// means that it has dealt with another end.
	read func(*call) (body []byte, ok bool)
	// limit is the greatest body in bytes.
	limit int
	// repair changes a body before it is parsed; the correct peer does not.
	repair func([]byte) []byte
	// forgive are problems of an envelope that it overlooks.
	forgive map[wire.ProblemCode]bool
	// refuse names a reason against an envelope that has no problem, "" for none.
	refuse func(*call) string
	// malformed deals with bytes that are no envelope, invalid with an envelope
	// whose members have wrong values.
	malformed func(*call)
	invalid   func(*call, string)
	// oneWay deals with an envelope on a unidirectional stream.
	oneWay func(*call)
	// misplaced deals with a message, response or error on a bidirectional one.
	misplaced func(*call)
	// request and unknown make the reply to a request and to an unknown kind.
	request func(*call) *answer
	unknown func(*call) *answer
	// alter changes a reply before it is written.
	alter func(*call, *answer)
	// write puts the bytes of a reply on the stream and ends it.
	write func(*call, []byte)
}

// correct is the manner of a peer without a fault.
func correct() manner {
	return manner{
		listen:    func(*peer, *probe.ListenOptions) {},
		tls:       func(*peer, *tls.Config) {},
		admit:     admit,
		meet:      func(*link) {},
		serve:     (*call).serve,
		read:      (*call).readToFIN,
		limit:     limit,
		repair:    func(b []byte) []byte { return b },
		forgive:   map[wire.ProblemCode]bool{},
		refuse:    func(*call) string { return "" },
		malformed: func(c *call) { c.drop(codeMalformed) },
		invalid:   (*call).invalid,
		oneWay:    func(*call) {},
		misplaced: func(c *call) {
			c.invalid(c.env.Kind + " belongs on a unidirectional stream or answers a request there")
		},
		request: func(c *call) *answer { return unhandled(c.env.ID) },
		unknown: func(c *call) *answer { return unhandled(c.env.ID) },
		alter:   func(*call, *answer) {},
		write:   func(c *call, b []byte) { _ = c.stream.Send(c.peer.ctx, b) },
	}
}

// tolerate makes a manner overlook problems.
func (m *manner) tolerate(codes ...wire.ProblemCode) {
	for _, c := range codes {
		m.forgive[c] = true
	}
}

func credentialKey(c *x509.Certificate) (ed25519.PublicKey, bool) {
	key, ok := c.PublicKey.(ed25519.PublicKey)
	return key, ok
}
