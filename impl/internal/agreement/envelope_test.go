package agreement

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/axonproto/axon/harness/wire"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/schemas"
)

const (
	someID  = "0b7e6a52-3c1d-4f7a-9b1e-5a2f8c3d4e6f"
	someRef = "f3b1c0de-0000-1000-8000-00805f9b34fb"
	plain   = `{"id":"` + someID + `","kind":"request","payload":{}}`
)

// The daemon's answers to bytes.
const (
	accepted  = "accepted"
	invalid   = "invalid"
	malformed = "malformed"
)

// expected is what the daemon has to make of bytes, from what the suite's reader
// says of them. Where no reference can be given that counts more than a broken rule.
func expected(e wire.Envelope, problems []wire.Problem) string {
	outcome := accepted
	for _, p := range problems {
		switch p.Code {
		case wire.ExtraMember, wire.KindUnknown:
		case wire.DuplicateMember:
			if slices.ContainsFunc(e.Duplicates, func(name string) bool { return slices.Contains([]string{"id", "kind", "payload", "ref"}, name) }) {
				return malformed
			}
		case wire.IDNil, wire.IDNotV4, wire.IDNotRFCVariant, wire.PayloadNotObject, wire.RefNotUUID:
			outcome = invalid
		default:
			return malformed
		}
	}
	return outcome
}

// compare returns how the two readers and the schema disagree about a body.
func compare(body []byte) error {
	theirs, problems := wire.Inspect(body)
	ours, err := envelope.Decode(body)
	outcome := accepted
	var broken *envelope.InvalidError
	var torn *envelope.MalformedError
	switch {
	case errors.As(err, &broken):
		outcome = invalid
		if !wire.SameUUID(broken.ID.String(), theirs.ID) {
			return fmt.Errorf("the daemon answers %s, the suite read %q", broken.ID, theirs.ID)
		}
	case errors.As(err, &torn):
		outcome = malformed
	case err != nil:
		return fmt.Errorf("an error of no known type: %w", err)
	}
	if want := expected(theirs, problems); outcome != want {
		return fmt.Errorf("the daemon says %s (%w), the suite %s: %v", outcome, err, want, problems)
	}
	if err := compareSchema(body, theirs, problems); err != nil {
		return err
	}
	if outcome != accepted {
		return nil
	}
	if err := compareValues(&ours, theirs); err != nil {
		return err
	}
	return compareWritten(&ours)
}

func compareValues(ours *envelope.Envelope, theirs wire.Envelope) error {
	switch kind, _ := theirs.Whole.Get("kind"); {
	case !wire.SameUUID(ours.ID.String(), theirs.ID):
		return fmt.Errorf("id %s here, %q there", ours.ID, theirs.ID)
	case string(ours.Kind) != withoutLone(kind.String):
		return fmt.Errorf("kind %q here, %q there", ours.Kind, theirs.Kind)
	case ours.RawKind != nil && !bytes.Equal(ours.RawKind, kind.Raw):
		return fmt.Errorf("raw kind %q here, %q there", ours.RawKind, kind.Raw)
	case ours.RawKind == nil && !ours.Kind.Known():
		return fmt.Errorf("the raw form of kind %q is lost", ours.Kind)
	case !bytes.Equal(ours.Payload, theirs.Payload.Raw):
		return fmt.Errorf("payload %q here, %q there", ours.Payload, theirs.Payload.Raw)
	case ours.HasRef != (theirs.Ref != nil):
		return fmt.Errorf("ref %v here, %v there", ours.HasRef, theirs.Ref)
	case ours.HasRef && !wire.SameUUID(ours.Ref.String(), *theirs.Ref):
		return fmt.Errorf("ref %s here, %q there", ours.Ref, *theirs.Ref)
	}
	return nil
}

// compareSchema: the schema describes what a sender may put on the wire, which is
// what the suite's reader has no problem with, but for two rules that it leaves to
// the schema: no null for ref, and a ref on each response.
func compareSchema(body []byte, theirs wire.Envelope, problems []wire.Problem) error {
	want := len(problems) == 0 && !theirs.RefNull && (theirs.Kind != "response" || theirs.Ref != nil)
	if err := schemas.MustCompile(schemas.Envelope).Validate(body); (err == nil) != want {
		return fmt.Errorf("the schema says %w, the suite's reader %v", err, problems)
	}
	return nil
}

// compareWritten: what the daemon writes is read by the suite as what it was, and
// has no problem but an unknown kind.
func compareWritten(e *envelope.Envelope) error {
	written := e.Append(nil)
	again, problems := wire.Inspect(written)
	problems = slices.DeleteFunc(problems, func(p wire.Problem) bool { return p.Code == wire.KindUnknown })
	if len(problems) > 0 {
		return fmt.Errorf("the daemon writes %s: %v", written, problems)
	}
	if err := compareValues(e, again); err != nil {
		return fmt.Errorf("the daemon writes %s: %w", written, err)
	}
	return nil
}

// withoutLone puts the replacement character in the place of each lone surrogate,
// which the suite's reader keeps as three bytes.
func withoutLone(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if i+2 < len(text) && text[i] == 0xed && text[i+1] >= 0xa0 {
			b.WriteString("\uFFFD")
			i += 2
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// deep tells of nesting near the bounds of the readers, which each sets for itself.
func deep(body []byte) bool {
	return bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > 9000
}

// seeds are bodies of each outcome.
var seeds = []string{
	plain,
	`{"payload":{"n":1e400,"z":-0,"d":1,"d":2,"l":"\udc00"},"kind":"message","id":"` + strings.ToUpper(someID) + `"}`,
	` { "id" : "` + someID + `" , "kind" : "response" , "payload" : { } , "ref" : "` + someRef + `" } ` + "\n",
	`{"id":"` + someID + `","kind":"response","payload":{}}`,
	`{"id":"` + someID + `","kind":"error","payload":{},"ref":null}`,
	`{"id":"` + someID + `","\u006bind":"\ud800\udc00\ud800","payload":{},"from":[],"from":{}}`,
	`{"id":"` + someID + `","kind":"\udc00\udc00","payload":{},"ref":"` + strings.ToUpper(someRef) + `"}`,
	`{"id":"00000000-0000-0000-0000-000000000000","kind":"request","payload":{}}`,
	`{"id":"` + someRef + `","kind":"request","payload":{}}`,
	`{"id":"0b7e6a52-3c1d-4f7a-1b1e-5a2f8c3d4e6f","kind":"request","payload":{}}`,
	`{"id":"` + someID + `","kind":"request","payload":[]}`,
	`{"id":"` + someID + `","kind":"request","payload":{},"ref":"seven"}`,
	`{"id":"` + someID + `","kind":"request","payload":{},"ref":7}`,
	`{"id":"{` + someID + `}","kind":"request","payload":{}}`,
	`{"id":"` + someID + `","ID":1,"kind":"request","payload":{},"\ud800":1,"\ufffd":2}`,
	plain[:len(plain)-1] + `,"payload":{}}`, plain[:20], plain + plain, "\ufeff" + plain, plain + "\x00",
	"{}", "[]", `"x"`, "1", "", `{"id":null}`, plain[:len(plain)-1] + `,"x":"` + "\xff" + `"}`,
	`{"id":"` + someID + `","kind":"request","payload":{"a":{"b":[1,2.5e-7,null,true]}},"x":01}`,
}

func FuzzEnvelope(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if deep(body) {
			t.Skip()
		}
		if err := compare(body); err != nil {
			t.Fatalf("%q: %v", body, err)
		}
	})
}

// FuzzMembers makes envelopes of parts, so that more of them come near to being good
// than among bytes at random.
func FuzzMembers(f *testing.F) {
	f.Add(someID, "request", []byte(`{}`), someRef, []byte(`{}`), uint8(0))
	f.Add(someID, "späť\ud7ff", []byte(`{"a":1,"a":"\ud800"}`), "", []byte(`[1]`), uint8(0xff))
	f.Add(strings.ToUpper(someID), "response", []byte(` [] `), strings.ToUpper(someRef), []byte(`1e999`), uint8(0x35))
	f.Fuzz(func(t *testing.T, id, kind string, payload []byte, ref string, extra []byte, how uint8) {
		if deep(payload) || deep(extra) {
			t.Skip()
		}
		members := []string{`"id":` + wire.Quote(id), `"kind":` + wire.Quote(kind), `"payload":` + string(payload)}
		if how&1 != 0 {
			members = append(members, `"ref":`+wire.Quote(ref))
		}
		if how&2 != 0 {
			members = append(members, `"x":`+string(extra))
		}
		if how&4 != 0 {
			members = append(members, members[int(how>>5)%len(members)])
		}
		if how&8 != 0 {
			slices.Reverse(members)
		}
		separator := ","
		if how&16 != 0 {
			separator = " ,\n"
		}
		body := []byte("{" + strings.Join(members, separator) + "}")
		if err := compare(body); err != nil {
			t.Fatalf("%q: %v", body, err)
		}
	})
}

// TestBothTakeWhatTheSuiteSends: an envelope written by the suite is read by the
// daemon as it was meant.
func TestBothTakeWhatTheSuiteSends(t *testing.T) {
	ref := someRef
	for _, o := range []wire.Outgoing{
		{ID: someID, Kind: "request"},
		{ID: someID, Kind: "response", Ref: &ref, Payload: `{"a":[]}`},
		{ID: someID, Kind: "a\"b\\\x00\u2028", Payload: `{}`},
	} {
		e, err := envelope.Decode(o.Bytes())
		if err != nil || e.ID.String() != o.ID || string(e.Kind) != o.Kind || e.HasRef != (o.Ref != nil) || !json.Valid(e.Payload) {
			t.Errorf("%s: %+v, %v", o.Bytes(), e, err)
		}
		if err := compare(o.Bytes()); err != nil {
			t.Errorf("%s: %v", o.Bytes(), err)
		}
	}
}
