package wire

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Envelope is what could be read of an envelope.
type Envelope struct {
	ID         string   // "" when absent or no string
	Kind       string   // "" when absent or no string
	Payload    Value    // the zero Value when absent
	Ref        *string  // nil: absent, null, or no string
	RefNull    bool     // ref was there and null
	Extra      []Member // members other than id, kind, payload and ref, in order
	Duplicates []string // names that stood more than once, each once, in order of their second appearance
	Order      []string // the names of all members as they stood
	Raw        []byte   // the bytes inspected
	Whole      Value    // the whole value, also when it is no object
}

// ProblemCode names a way in which bytes are not an envelope.
type ProblemCode string

// The problem codes, in the order in which Inspect reports them.
const (
	BOM              ProblemCode = "bom"                // begins with a byte order mark
	NotUTF8          ProblemCode = "not-utf8"           // holds bytes that are not UTF-8
	NotJSON          ProblemCode = "not-json"           // does not begin with a JSON value
	TrailingData     ProblemCode = "trailing-data"      // more than white space follows the value
	NotObject        ProblemCode = "not-object"         // the value is no object
	DuplicateMember  ProblemCode = "duplicate-member"   // a member's name stands more than once
	ExtraMember      ProblemCode = "extra-member"       // a member other than the four
	MissingID        ProblemCode = "missing-id"         // no member id
	IDNotString      ProblemCode = "id-not-string"      // id is no string
	IDNotUUID        ProblemCode = "id-not-uuid"        // id is no hyphenated UUID
	IDNil            ProblemCode = "id-nil"             // id is the nil UUID
	IDNotV4          ProblemCode = "id-not-v4"          // id is a UUID of another version
	IDNotRFCVariant  ProblemCode = "id-not-rfc-variant" // id is a UUID of another variant
	MissingKind      ProblemCode = "missing-kind"       // no member kind
	KindNotString    ProblemCode = "kind-not-string"    // kind is no string
	KindUnknown      ProblemCode = "kind-unknown"       // kind is none of the four
	MissingPayload   ProblemCode = "missing-payload"    // no member payload
	PayloadNotObject ProblemCode = "payload-not-object" // payload is no object
	RefNotString     ProblemCode = "ref-not-string"     // ref is neither null nor a string
	RefNotUUID       ProblemCode = "ref-not-uuid"       // ref is no hyphenated UUID
)

// Problem is one way in which bytes are not an envelope that a sender may put on the wire.
type Problem struct {
	Code   ProblemCode
	Detail string // what was there instead, cut to a readable length
}

// String prints the code and, when there is one, the detail.
func (p Problem) String() string {
	if p.Detail == "" {
		return string(p.Code)
	}
	return string(p.Code) + ": " + p.Detail
}

// Inspect reads as much of an envelope as there is and returns every problem,
// in a fixed order. It never panics. A null ref is no problem here: see RefNull.
// Of a member that stands more than once the last one is read. The nil UUID is
// reported as IDNil alone, not also for its version and variant.
func Inspect(b []byte) (Envelope, []Problem) {
	e := Envelope{Raw: b}
	var problems []Problem
	report := func(code ProblemCode, format string, args ...any) {
		problems = append(problems, Problem{code, fmt.Sprintf(format, args...)})
	}

	body := b
	if bytes.HasPrefix(body, []byte(byteOrderMark)) {
		report(BOM, "the first three bytes are a byte order mark")
		body = body[len(byteOrderMark):]
	}
	if at := invalidUTF8(b); at >= 0 {
		report(NotUTF8, "byte %#02x at offset %d", b[at], at)
	}
	whole, rest, err := parsePrefix(body, true)
	if err != nil {
		report(NotJSON, "%v", err)
		return e, problems
	}
	e.Whole = whole
	if extra := trimSpace(rest); len(extra) > 0 {
		report(TrailingData, "%d bytes from offset %d: %s", len(extra), len(b)-len(extra), excerpt(extra))
	}
	if whole.Kind != Object {
		report(NotObject, "%s: %s", whole.Kind, excerpt(whole.Raw))
		return e, problems
	}
	e.readMembers(report)
	e.readID(report)
	e.readKind(report)
	e.readPayload(report)
	e.readRef(report)
	return e, problems
}

type reporter func(code ProblemCode, format string, args ...any)

// readMembers fills Order, Duplicates and Extra.
func (e *Envelope) readMembers(report reporter) {
	count := map[string]int{}
	for _, m := range e.Whole.Object {
		e.Order = append(e.Order, m.Name)
		count[m.Name]++
		if count[m.Name] == 2 {
			e.Duplicates = append(e.Duplicates, m.Name)
		}
		switch m.Name {
		case "id", "kind", "payload", "ref":
		default:
			e.Extra = append(e.Extra, m)
		}
	}
	for _, name := range e.Duplicates {
		report(DuplicateMember, "%s stands %d times", excerpt([]byte(Quote(name))), count[name])
	}
	for _, m := range e.Extra {
		report(ExtraMember, "%s: %s", excerpt([]byte(Quote(m.Name))), excerpt(m.Value.Raw))
	}
}

func (e *Envelope) readID(report reporter) {
	v, count := e.Whole.Get("id")
	switch {
	case count == 0:
		report(MissingID, "there is no member id")
		return
	case v.Kind != String:
		report(IDNotString, "%s: %s", v.Kind, excerpt(v.Raw))
		return
	}
	e.ID = v.String
	switch {
	case !isUUID(v.String):
		report(IDNotUUID, "%s", excerpt(v.Raw))
	case strings.Trim(v.String, "0-") == "":
		report(IDNil, "%s", v.String)
	default:
		if v.String[14] != '4' {
			report(IDNotV4, "version %c: %s", v.String[14], v.String)
		}
		if !strings.ContainsRune("89abAB", rune(v.String[19])) {
			report(IDNotRFCVariant, "variant digit %c: %s", v.String[19], v.String)
		}
	}
}

func (e *Envelope) readKind(report reporter) {
	v, count := e.Whole.Get("kind")
	switch {
	case count == 0:
		report(MissingKind, "there is no member kind")
		return
	case v.Kind != String:
		report(KindNotString, "%s: %s", v.Kind, excerpt(v.Raw))
		return
	}
	e.Kind = v.String
	switch v.String {
	case "request", "response", "message", "error":
	default:
		report(KindUnknown, "%s", excerpt(v.Raw))
	}
}

func (e *Envelope) readPayload(report reporter) {
	v, count := e.Whole.Get("payload")
	e.Payload = v
	switch {
	case count == 0:
		report(MissingPayload, "there is no member payload")
	case v.Kind != Object:
		report(PayloadNotObject, "%s: %s", v.Kind, excerpt(v.Raw))
	}
}

func (e *Envelope) readRef(report reporter) {
	v, count := e.Whole.Get("ref")
	switch {
	case count == 0:
	case v.Kind == Null:
		e.RefNull = true
	case v.Kind != String:
		report(RefNotString, "%s: %s", v.Kind, excerpt(v.Raw))
	default:
		ref := v.String
		e.Ref = &ref
		if !isUUID(ref) {
			report(RefNotUUID, "%s", excerpt(v.Raw))
		}
	}
}

// SameUUID compares two UUIDs in hyphenated form without regard to case. It is
// false when either is no such UUID.
func SameUUID(a, b string) bool { return isUUID(a) && isUUID(b) && strings.EqualFold(a, b) }

// isUUID tells whether s is 8-4-4-4-12 hexadecimal digits, in either case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return false
			}
		}
	}
	return true
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(b []byte) int {
	for at := 0; at < len(b); {
		char, size := utf8.DecodeRune(b[at:])
		if char == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// excerpt shows the beginning of b, cut between characters.
func excerpt(b []byte) string {
	const most = 80
	if len(b) <= most {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(b[cut]) {
		cut--
	}
	return strings.ToValidUTF8(string(b[:cut]), "\uFFFD") + "…"
}
