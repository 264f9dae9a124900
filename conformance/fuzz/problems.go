package fuzz

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/axonproto/axon/harness/wire"
)

// reason is why an input must not be accepted.
type reason struct {
	ids []string
	why string
}

// sentences on what must not be accepted, by the problem.
var sentences = map[wire.ProblemCode]string{
	wire.BOM: "AXON-LIMIT-004", wire.NotUTF8: "AXON-LIMIT-004", wire.TrailingData: "AXON-LIMIT-004",
	wire.NotJSON: "AXON-PAY-004", wire.NotObject: "AXON-ENV-013",
	wire.MissingID: "AXON-ENV-009", wire.MissingKind: "AXON-ENV-009", wire.MissingPayload: "AXON-ENV-009",
	wire.IDNotString: "AXON-ENV-010", wire.KindNotString: "AXON-ENV-010", wire.PayloadNotObject: "AXON-ENV-010", wire.IDNotUUID: "AXON-ENV-010",
	wire.IDNil: "AXON-ENV-006", wire.IDNotV4: "AXON-ENV-015", wire.IDNotRFCVariant: "AXON-ENV-015",
}

// member that a problem is about, where it is about one.
var memberOf = map[wire.ProblemCode]string{
	wire.IDNotString: "id", wire.IDNotUUID: "id", wire.IDNil: "id", wire.IDNotV4: "id", wire.IDNotRFCVariant: "id",
	wire.KindNotString: "kind", wire.PayloadNotObject: "payload",
}

// sortProblems tells the reasons against an input, the gravest first, and in a word
// what about it the text leaves open, if anything.
func sortProblems(env wire.Envelope, problems []wire.Problem, body []byte) (reasons []reason, open string) {
	for _, p := range problems {
		id := sentences[p.Code]
		switch {
		case p.Code == wire.KindUnknown:
			continue
		case id == "", slices.Contains(env.Duplicates, memberOf[p.Code]):
			// Further members, doubled ones, and what is wrong with a ref.
			open = string(p.Code)
			continue
		case p.Code == wire.IDNotUUID && otherForm(env.ID):
			open = "a UUID in another form"
			continue
		case p.Code == wire.NotJSON && bytes.Count(body, []byte("["))+bytes.Count(body, []byte("{")) > wire.MaxDepth:
			open = "too deep to be read"
			continue
		case p.Code == wire.NotJSON && (len(bytes.Trim(body, "\x00 \t\r\n")) == 0 || bytes.IndexByte(body, 0) >= 0):
			id = "AXON-LIMIT-004"
		case id == "AXON-ENV-009" && likeAMember(env):
			id = "AXON-ENV-014"
		}
		reasons = append(reasons, reason{[]string{id}, string(p.Code)})
	}
	// What is only a SHOULD comes last, so that it hides nothing.
	slices.SortStableFunc(reasons, func(a, b reason) int { return mild(a) - mild(b) })
	if open == "" {
		open = openValue(env)
	}
	return reasons, open
}

func mild(r reason) int {
	if r.ids[0] == "AXON-LIMIT-004" || r.ids[0] == "AXON-ENV-015" {
		return 1
	}
	return 0
}

// openValue names a value that a target may refuse or take.
func openValue(env wire.Envelope) string {
	kind, _ := env.Whole.Get("kind")
	switch {
	case depth(env.Payload) > deepest:
		return "a payload of more than 100 levels"
	case env.ID != strings.ToLower(env.ID):
		return "an id in upper case"
	case env.Ref != nil && strings.Trim(*env.Ref, "0-") == "":
		return "a nil ref"
	case kind.LoneSurrogate:
		return "half a character in the kind"
	case slices.ContainsFunc(env.Order, func(n string) bool { return !utf8.ValidString(n) }):
		return "half a character in a name"
	}
	return ""
}

// otherForm: a UUID in braces, as a URN, or with its hyphens in other places.
func otherForm(id string) bool {
	id = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(id)), "urn:uuid:")
	id = strings.NewReplacer("-", "", "{", "", "}", "").Replace(id)
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// likeAMember: a member's name differs from one of the envelope's by little.
func likeAMember(env wire.Envelope) bool {
	return slices.ContainsFunc(env.Extra, func(m wire.Member) bool {
		name := strings.Trim(m.Name, " _")
		return slices.ContainsFunc([]string{"id", "kind", "payload"}, func(n string) bool { return strings.EqualFold(n, name) })
	})
}

// depth is how deep a value is nested.
func depth(v wire.Value) int {
	most := 0
	for _, e := range v.Array {
		most = max(most, depth(e))
	}
	for _, m := range v.Object {
		most = max(most, depth(m.Value))
	}
	if v.Kind == wire.Array || v.Kind == wire.Object {
		return most + 1
	}
	return 0
}
