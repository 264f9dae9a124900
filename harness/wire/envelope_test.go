package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const someID = "6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b"

func TestInspect(t *testing.T) {
	ok := func(id string) string { return `{"id":` + id + `,"kind":"request","payload":{}}` }
	q := func(s string) string { return `"` + s + `"` }
	for text, want := range map[string][]ProblemCode{
		ok(q(someID)):                  nil,
		ok(q(strings.ToUpper(someID))): nil,
		" " + ok(q(someID)) + "\r\n":   nil,
		`{"id":"` + someID + `","kind":"error","payload":{},"ref":null}`:             nil,
		`{"id":"` + someID + `","kind":"error","payload":{},"ref":"` + someID + `"}`: nil,
		`{"id":"` + someID + `","kind":"error","payload":{},"ref":"x"}`:              {RefNotUUID},
		`{"id":"` + someID + `","kind":"error","payload":{},"ref":1}`:                {RefNotString},
		"":                          {NotJSON},
		"{":                         {NotJSON},
		"\ufeff" + ok(q(someID)):    {BOM},
		"\ufeff":                    {BOM, NotJSON},
		"\xff\xfe{\x00":             {NotUTF8, NotJSON},
		ok(q(someID)) + "{}":        {TrailingData},
		ok(q(someID)) + "\x00":      {TrailingData},
		ok(q(someID)) + "\xff":      {NotUTF8, TrailingData},
		"[]":                        {NotObject},
		"null 1":                    {TrailingData, NotObject},
		"{}":                        {MissingID, MissingKind, MissingPayload},
		`{"ID":1}`:                  {ExtraMember, MissingID, MissingKind, MissingPayload},
		ok("1"):                     {IDNotString},
		ok("null"):                  {IDNotString},
		ok(q("")):                   {IDNotUUID},
		ok(q("{" + someID + "}")):   {IDNotUUID},
		ok(q("urn:uuid:" + someID)): {IDNotUUID},
		ok(q(someID[:35] + "g")):    {IDNotUUID},
		ok(q(strings.ReplaceAll(someID, "-", ""))):                                                      {IDNotUUID},
		ok(q("00000000-0000-0000-0000-000000000000")):                                                   {IDNil},
		ok(q("6f1c2a34-5b6d-1e7f-8a9b-0c1d2e3f4a5b")):                                                   {IDNotV4},
		ok(q("6f1c2a34-5b6d-4e7f-ca9b-0c1d2e3f4a5b")):                                                   {IDNotRFCVariant},
		ok(q("6f1c2a34-5b6d-7e7f-0a9b-0c1d2e3f4a5b")):                                                   {IDNotV4, IDNotRFCVariant},
		`{"id":"` + someID + `","kind":"Request","payload":{}}`:                                         {KindUnknown},
		`{"id":"` + someID + `","kind":{},"payload":[]}`:                                                {KindNotString, PayloadNotObject},
		`{"id":"` + someID + `","kind":"message","payload":null}`:                                       {PayloadNotObject},
		`{"v":1,"id":"` + someID + `","kind":"message","payload":{},"id":"` + someID + `","from":null}`: {DuplicateMember, ExtraMember, ExtraMember},
		`{"id":"` + someID + `","kind":"message","payload":{"a":"` + "\xc3" + `"}}`:                     {NotUTF8},
	} {
		e, problems := Inspect([]byte(text))
		var codes []ProblemCode
		for _, p := range problems {
			codes = append(codes, p.Code)
			if p.Detail == "" || !strings.HasPrefix(p.String(), string(p.Code)) {
				t.Errorf("%q: %+v", text, p)
			}
		}
		if !slices.Equal(codes, want) {
			t.Errorf("%q: %v, want %v", text, problems, want)
		}
		if string(e.Raw) != text {
			t.Errorf("%q: raw %q", text, e.Raw)
		}
	}
}

func TestInspectReadsAll(t *testing.T) {
	text := `{"kind":"response","x":[1],"id":"` + someID + `","payload":{"a": 1},"ref":"R","id":"b","id":"c"}`
	e, _ := Inspect([]byte(text))
	if e.Kind != "response" || e.ID != "c" || string(e.Payload.Raw) != `{"a": 1}` || e.Ref == nil || *e.Ref != "R" || e.RefNull {
		t.Errorf("%+v", e)
	}
	if fmt.Sprint(e.Order) != "[kind x id payload ref id id]" || fmt.Sprint(e.Duplicates) != "[id]" || len(e.Extra) != 1 || e.Extra[0].Name != "x" {
		t.Errorf("%v %v %v", e.Order, e.Duplicates, e.Extra)
	}
	if e, _ := Inspect([]byte(`{"ref":null}`)); !e.RefNull || e.Ref != nil {
		t.Errorf("%+v", e)
	}
}

func TestOutgoing(t *testing.T) {
	ref := someID
	for want, o := range map[string]Outgoing{
		`{"id":"a","kind":"request","payload":{}}`:                        {ID: "a", Kind: "request"},
		`{"id":"\"","kind":"\u0001é","payload":1,"ref":"` + someID + `"}`: {ID: `"`, Kind: "\x01é", Payload: "1", Ref: &ref},
	} {
		if got := string(o.Bytes()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if _, problems := Inspect(Outgoing{ID: NewID(), Kind: "message"}.Bytes()); len(problems) > 0 {
		t.Error(problems)
	}
	if a, b := NewID(), NewID(); a == b || a != strings.ToLower(a) || SameUUID(a, b) || !SameUUID(a, strings.ToUpper(a)) || SameUUID("x", "x") {
		t.Error(a, b)
	}
}

func TestPad(t *testing.T) {
	least := len(Pad(someID, "request", 200)) - (200 - len(`{"id":"`+someID+`","kind":"request","payload":{"padding":""}}`))
	for _, size := range []int{least, least + 1, 1000, 65536, 65537} {
		b := Pad(someID, "request", size)
		if _, problems := Inspect(b); len(b) != size || len(problems) > 0 {
			t.Errorf("%d bytes instead of %d, %v", len(b), size, problems)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Pad(someID, "request", least-1)
}
