package fuzz

import (
	"slices"
	"strings"

	"github.com/axonproto/axon/harness/wire"
)

// expectation is an input with what has to come of it.
type expectation struct {
	in   Input
	body []byte // as it goes out with some id
	// then are judging steps of the feature files; id is the sentence behind them.
	then []string
	id   string
	what outcome
}

// outcome is the sort of an expectation.
type outcome string

const (
	accepted outcome = "accepted" // a valid request
	unknown  outcome = "unknown"  // a kind that nobody knows, which gets the default error
	silent   outcome = "silent"   // valid on a unidirectional stream: nothing answers
	refused  outcome = "refused"  // no envelope
	open     outcome = "open"     // the text leaves it open; the connection survives
)

const (
	// mustTake is how many bytes every peer takes (AXON-LIMIT-001).
	mustTake = 65536
	// mustNest is how deep a payload every peer takes (AXON-PAY-002).
	mustNest = 100
)

// definite are the faults with which nothing is an envelope, whoever reads it, and the
// sentences about them, in the order in which they are looked for.
var definite = []struct {
	code wire.ProblemCode
	id   string
	// last: of a member that stands twice only the last was read, and a peer may read
	// the first.
	last bool
}{
	{wire.BOM, "AXON-LIMIT-004", false},
	{wire.NotUTF8, "AXON-LIMIT-004", false},
	{wire.NotJSON, "AXON-PAY-004", false},
	{wire.TrailingData, "AXON-LIMIT-004", false},
	{wire.NotObject, "AXON-ENV-013", false},
	{wire.MissingID, "AXON-ENV-009", false},
	{wire.MissingKind, "AXON-ENV-009", false},
	{wire.MissingPayload, "AXON-ENV-009", false},
	{wire.IDNotString, "AXON-ENV-010", true},
	{wire.IDNotUUID, "AXON-ENV-010", true},
	{wire.IDNil, "AXON-ENV-006", true},
	{wire.IDNotV4, "AXON-ENV-015", true},
	{wire.IDNotRFCVariant, "AXON-ENV-015", true},
	{wire.KindNotString, "AXON-ENV-010", true},
	{wire.PayloadNotObject, "AXON-ENV-010", true},
}

// expect tells what has to come of an input, of which body are the bytes.
func expect(in Input, body []byte) expectation {
	e := expectation{in: in, body: body, what: open, id: "AXON-LIMIT-004", then: []string{"the connection survives"}}
	envelope, problems := wire.Inspect(body)
	has := func(code wire.ProblemCode) bool {
		return slices.ContainsFunc(problems, func(p wire.Problem) bool { return p.Code == code })
	}
	for _, d := range definite {
		if !has(d.code) || d.last && len(envelope.Duplicates) > 0 || d.code == wire.IDNotUUID && otherForm(envelope.ID) {
			continue
		}
		if d.code == wire.NotJSON && nesting(body) > mustNest {
			break // a reader may give up before it comes to the fault
		}
		e.what, e.id = refused, d.id
		if missing := d.id == "AXON-ENV-009"; missing && likeMember(envelope.Extra) {
			e.id = "AXON-ENV-014"
		}
		e.then = []string{"it is not accepted"}
		if d.id == "AXON-LIMIT-004" {
			e.then = append(e.then, "the connection survives")
		}
		return e
	}
	switch unknownKind := has(wire.KindUnknown); {
	case !in.Uni && envelope.Kind == "request" && !slices.ContainsFunc(problems, func(p wire.Problem) bool { return p.Code != wire.ExtraMember }) && len(problems) > 0 && len(body) <= mustTake:
		// Members too many may be refused, and if not, they change nothing.
		e.id, e.then = "AXON-ENV-014", []string{"if it is accepted, the reply's ref is the request's id", "the connection survives"}
		return e
	case unknownKind && len(problems) > 1, !unknownKind && len(problems) > 0, envelope.ID != strings.ToLower(envelope.ID):
		// A member too many or twice, a ref or an id in another form.
		return e
	case len(body) > mustTake:
		e.id = "AXON-LIMIT-002"
		if !in.Uni && !unknownKind && envelope.Kind == "request" {
			e.then = []string{"it is accepted whole or not at all", "the connection survives"}
		}
		return e
	case nesting(body) > mustNest, loneSurrogate(envelope):
		return e
	case unknownKind && in.Uni:
		e.what, e.id, e.then = silent, "AXON-FWD-001", []string{"the connection survives", "nothing answers it"}
	case unknownKind:
		e.what, e.id, e.then = unknown, "AXON-FWD-002", []string{"the reply is the default error in every respect", "its own stream carries exactly one reply, a response or an error"}
	case in.Uni && envelope.Kind == "message":
		e.what, e.id, e.then = silent, "AXON-KIND-005", []string{"nothing answers it", "the connection survives"}
	case in.Uni && envelope.Kind == "error":
		e.what, e.id, e.then = silent, "AXON-KIND-008", []string{"nothing answers it", "the connection survives"}
	case !in.Uni && envelope.Kind == "request":
		e.what, e.id = accepted, "AXON-PAY-002"
		switch {
		case len(body) > 16384:
			e.id = "AXON-LIMIT-001"
		case envelope.RefNull:
			e.id = "AXON-REF-003"
		case envelope.Ref != nil:
			e.id = "AXON-REF-004"
		}
		e.then = []string{"it is accepted", "the reply's ref is the request's id", "its own stream carries exactly one reply, a response or an error"}
	}
	return e
}

// otherForm: the id is a UUID in a form that a peer may take (AXON-ENV-016).
func otherForm(id string) bool {
	id = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(id)), "urn:uuid:")
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune("{}()-", r) {
			return -1
		}
		return r
	}, id)
	return len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// likeMember: one of the names is a member's but for the letters' case or white space.
func likeMember(extra []wire.Member) bool {
	return slices.ContainsFunc(extra, func(m wire.Member) bool {
		return slices.Contains([]string{"id", "kind", "payload"}, strings.ToLower(strings.TrimSpace(m.Name)))
	})
}

// loneSurrogate: a text that matters holds half a character, which a reader of its
// language's own may not be able to hold.
func loneSurrogate(e wire.Envelope) bool {
	kind, _ := e.Whole.Get("kind")
	return kind.LoneSurrogate
}

// nesting is how deep brackets are opened, those in texts included: an upper bound.
func nesting(body []byte) int {
	depth, most := 0, 0
	for _, c := range body {
		switch c {
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most - 1 // the envelope itself
}
