package fuzz

import (
	"bytes"
	"slices"
	"strings"

	"github.com/axonproto/axon/harness/wire"
)

// Class is what the text says of an input.
type Class string

// The classes.
const (
	Valid   Class = "valid"   // it has to be taken
	Invalid Class = "invalid" // it must not be accepted
	Open    Class = "open"    // the text leaves it to the target
)

// largest is the size of the largest envelope that every target takes, in bytes, and
// deepest the nesting of the deepest payload that it is said to take, in levels.
const (
	largest = 65536
	deepest = 100
)

// expectation is what has to come of an input.
type expectation struct {
	class Class
	// claims hold of the input by itself, the most telling one first.
	claims []Claim
	// stays: the connection has to live on.
	stays bool
	// about are the requirements that an end of the connection breaks, or an answer
	// that must not come.
	about []string
	// why names what is special about the input; findings that share it and a claim
	// are taken for one.
	why string
}

// oracle knows what depends on the target.
type oracle struct{ hasHandler bool }

func one(step string, ids ...string) []Claim { return []Claim{{step, ids}} }

// expect tells what has to come of an input.
func (o oracle) expect(in Input) expectation {
	env, problems := wire.Inspect(in.Body)
	reasons, open := sortProblems(env, problems, in.Body)
	if in.End == Reset {
		e := expectation{class: Invalid, about: []string{"AXON-LIMIT-003"}, why: "reset before its FIN"}
		if in.Bidi {
			e.claims = one(isNotAccepted, "AXON-LIMIT-003")
		}
		return e
	}
	switch {
	case len(reasons) > 0:
		e := expectation{class: Invalid, about: reasons[0].ids, why: reasons[0].why}
		if in.Bidi {
			e.claims = one(isNotAccepted, reasons[0].ids...)
		} else {
			e.about = []string{"AXON-STREAM-005"}
		}
		return e
	case !in.Bidi:
		return oneWay(in, env, open)
	case in.End == GivenUp:
		return expectation{class: Open, stays: open == "" && env.Kind == "request" && len(in.Body) <= largest, about: []string{"AXON-STREAM-008"}, why: "given up"}
	case env.Kind == "message" || env.Kind == "response" || env.Kind == "error":
		return expectation{class: Open, about: []string{"AXON-STREAM-003"}, why: env.Kind + " on a bidirectional stream"}
	case len(in.Body) > largest:
		return expectation{class: Open, claims: one(wholeOrNot, "AXON-LIMIT-002"), stays: open == "", about: []string{"AXON-LIMIT-002"}, why: "more than 65,536 bytes"}
	case open != "":
		e := expectation{class: Open, about: []string{"AXON-ENV-011"}, why: open}
		if wire.SameUUID(env.ID, env.ID) && !slices.Contains(env.Duplicates, "id") {
			e.claims = one(refIfAccepted, "AXON-ENV-011")
		}
		return e
	}
	return o.valid(in, env)
}

// valid is a request, or an envelope of an unknown kind, that has to be taken.
func (o oracle) valid(in Input, env wire.Envelope) expectation {
	id, why := telling(in, env)
	e := expectation{class: Valid, stays: true, about: []string{id}, why: why}
	if in.held() {
		e.claims = append(e.claims, one(stillUnanswered, "AXON-LIMIT-006")...)
	}
	if env.Kind != "request" {
		if id == "AXON-KIND-002" {
			e.why, e.about = "unknown kind", []string{"AXON-FWD-001"}
		}
		e.claims = append(e.claims, one(defaultError, "AXON-FWD-002")...)
		return e
	}
	e.claims = append(e.claims, one(isAccepted, id)...)
	if !o.hasHandler {
		e.claims = append(e.claims,
			Claim{"the reply is an error", []string{"AXON-DEFERR-001"}},
			Claim{`the error's code is "unhandled"`, []string{"AXON-DEFERR-003"}},
			Claim{"the error's message is the default one, with the request's id", []string{"AXON-DEFERR-004"}},
			Claim{"the error's retryable is the boolean false", []string{"AXON-DEFERR-005"}})
	}
	return e
}

// oneWay is an envelope on a unidirectional stream, which nothing answers.
func oneWay(in Input, env wire.Envelope, open string) expectation {
	e := expectation{class: Valid, stays: open == "", why: env.Kind + " on a unidirectional stream"}
	switch env.Kind {
	case "message":
		e.about = []string{"AXON-KIND-005"}
	case "error":
		e.about = []string{"AXON-KIND-008"}
	case "request", "response":
		e.about, e.stays = []string{"AXON-STREAM-005"}, false
	default:
		e.about, e.why = []string{"AXON-FWD-001"}, "unknown kind on a unidirectional stream"
	}
	if len(in.Body) > largest {
		e.about, e.why = []string{"AXON-LIMIT-002"}, "more than 65,536 bytes on a unidirectional stream"
	}
	if open != "" {
		e.class = Open
	}
	return e
}

// special names what is special about an input that breaks a claim.
func (e expectation) special(c Claim) string {
	if strings.HasPrefix(c.Requirements[0], "AXON-DEFERR-") {
		return c.Step // whatever was asked
	}
	return e.why
}

// survival is the claim that an input, the last of several, did no harm.
func (e expectation) survival(in Input) Claim {
	ids := e.about
	switch {
	case !e.stays:
		return Claim{servesOn, ids}
	case slices.Contains(ids, "AXON-KIND-008"):
		ids = []string{"AXON-KIND-007"}
	case slices.Contains(ids, "AXON-KIND-005"):
		ids = []string{"AXON-REF-002"}
		if env, _ := wire.Inspect(in.Body); env.RefNull {
			ids = []string{"AXON-REF-003"}
		} else if env.Ref != nil {
			ids = []string{"AXON-REF-004"}
		}
	}
	return Claim{survives, ids}
}

// telling is the requirement that a valid input is most of all about.
func telling(in Input, env wire.Envelope) (id, why string) {
	_, domain := env.Payload.Get("domain")
	payload := string(env.Payload.Raw)
	switch {
	case len(in.Body) > 60000:
		return "AXON-LIMIT-001", "size"
	case in.Pieces > 0 || in.End == Held:
		return "AXON-LIMIT-006", "not at once"
	case spaced(in.Body):
		return "AXON-LIMIT-005", "white space"
	case env.RefNull:
		return "AXON-REF-003", "ref null"
	case env.Ref != nil:
		return "AXON-REF-004", "ref"
	case domain > 0:
		return "AXON-PAY-005", "domain"
	case payload != "{}" && payload != `{"from_probe":true}`:
		return "AXON-PAY-002", "payload"
	case bytes.Contains(in.Body, []byte(`\u`)):
		return "AXON-ENV-014", "escapes"
	}
	return "AXON-KIND-002", "plain"
}

// spaced: white space stands outside of the texts.
func spaced(b []byte) bool {
	inText := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && strings.IndexByte(" \t\r\n", c) >= 0:
			return true
		}
	}
	return false
}
