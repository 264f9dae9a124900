package agree

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/axonproto/axon/harness/wire"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/schemas"
)

// maxNesting is below what each of the three readers takes.
const maxNesting = 5000

// faults are those that the daemon refuses: all that the suite's reader knows but members
// too many and a kind that nobody knows.
func faults(body []byte) (wire.Envelope, []wire.Problem) {
	e, problems := wire.Inspect(body)
	problems = slices.DeleteFunc(problems, func(p wire.Problem) bool {
		// A member that stands twice is refused where it is one of the four.
		return p.Code == wire.ExtraMember || p.Code == wire.KindUnknown ||
			p.Code == wire.DuplicateMember && !slices.ContainsFunc(e.Duplicates, func(name string) bool {
				return slices.Contains([]string{"id", "kind", "payload", "ref"}, name)
			})
	})
	return e, problems
}

func FuzzEnvelope(f *testing.F) {
	const id = "6fa459ea-ee8a-4ca4-894e-db77e160355e"
	for _, seed := range []string{
		`{"id":"` + id + `","kind":"request","payload":{}}`,
		` { "ref" : null , "payload" : {"a":[1,-0,1e400,"\ud800"],"a":2} , "kind" : "\u006dessage" , "id" : "` + strings.ToUpper(id) + `" } `,
		`{"id":"` + id + `","kind":"later","payload":{},"ref":"00000000-0000-0000-0000-000000000000","from":7,"from":8}`,
		`{"id":"` + id + `","id":"` + id + `","kind":"request","payload":{}}`,
		`{"id":"` + id + `","kind":"request","payload":[],"ref":7}`,
		`{"ID":"` + id + `","Kind":"request","payload ":{}}`,
		`{"id":"00000000-0000-0000-0000-000000000000","kind":"","payload":{}}`,
		`{"id":"{` + id + `}","kind":"error","payload":{"t":"\u0000é😀"}}`,
		"\ufeff{}", "[]", "{}{}", "", "nul", `{"id":"` + id + `","kind":"request","payload":{"t":"` + "\xff" + `"}}`,
	} {
		f.Add([]byte(seed))
	}
	strict := schemas.MustCompile("wire/envelope")
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > envelope.MaxSize || bytes.Count(body, []byte("["))+bytes.Count(body, []byte("{")) > maxNesting {
			return
		}
		theirs, problems := faults(body)
		ours, err := envelope.Decode(body)
		if (err == nil) != (len(problems) == 0) {
			t.Fatalf("%q: the daemon says %v, the suite %v", body, err, problems)
		}
		valid := strict.Validate(body) == nil
		if err != nil {
			if valid {
				t.Fatalf("%q: the schema takes what both readers refuse: %v", body, err)
			}
			return
		}
		if !wire.SameUUID(theirs.ID, ours.ID.String()) {
			t.Errorf("%q: the id is %s for the daemon and %q for the suite", body, ours.ID, theirs.ID)
		}
		if !bytes.Equal(ours.Payload, theirs.Payload.Raw) {
			t.Errorf("%q: the payload is %q for the daemon and %q for the suite", body, ours.Payload, theirs.Payload.Raw)
		}
		if ours.HasRef != (theirs.Ref != nil) || ours.HasRef && !wire.SameUUID(*theirs.Ref, ours.Ref.String()) {
			t.Errorf("%q: the ref is %v %s for the daemon and %v for the suite", body, ours.HasRef, ours.Ref, theirs.Ref)
		}
		kind, err := wire.Parse(ours.AppendKind(nil))
		if err != nil || kind.String != theirs.Kind {
			t.Errorf("%q: the kind is %s (%v) for the daemon and %q for the suite", body, ours.AppendKind(nil), err, theirs.Kind)
		}
		// The schema is about what may be sent, which is less.
		_, all := wire.Inspect(body)
		sendable := len(all) == 0 && !theirs.RefNull && (theirs.Kind != "response" || theirs.Ref != nil)
		if valid != sendable {
			t.Errorf("%q: the schema says %v, the suite's reader %v %v", body, strict.Validate(body), all, theirs.RefNull)
		}
		// What the daemon sends on is an envelope for everybody.
		out := ours.Append(nil)
		if _, problems := faults(out); len(problems) > 0 || ours.ID == uuid.Nil {
			t.Errorf("%q was written as %q: %v", body, out, problems)
		}
	})
}
