package envelope

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/google/uuid"
)

const (
	idText  = "0b7e6a52-3c1d-4f7a-9b1e-5a2f8c3d4e6f"
	refText = "f3b1c0de-0000-1000-8000-00805f9b34fb"
)

func with(members string) string { return `{"id":"` + idText + `",` + members + `}` }

func nested(levels int) string {
	return strings.Repeat(`{"a":`, levels-1) + `{}` + strings.Repeat(`}`, levels-1)
}

func TestDecodeAccepts(t *testing.T) {
	plain := `"kind":"request","payload":{}`
	for name, c := range map[string]struct {
		body    string
		kind    Kind
		payload string
		ref     string
	}{
		"plain":                  {with(plain), Request, `{}`, ""},
		"white space":            {"\n\t {\r\n \"id\" : \"" + idText + "\" ,\n" + plain + " } \n", Request, `{}`, ""},
		"other order":            {`{"payload":{"a":1},"kind":"message","id":"` + idText + `"}`, Message, `{"a":1}`, ""},
		"upper case id":          {`{"id":"` + strings.ToUpper(idText) + `",` + plain + `}`, Request, `{}`, ""},
		"ref null":               {with(plain + `,"ref":null`), Request, `{}`, ""},
		"ref":                    {with(plain + `,"ref":"` + refText + `"`), Request, `{}`, refText},
		"ref upper case":         {with(plain + `,"ref":"` + strings.ToUpper(refText) + `"`), Request, `{}`, refText},
		"ref nil":                {with(plain + `,"ref":"` + uuid.Nil.String() + `"`), Request, `{}`, uuid.Nil.String()},
		"escaped name and kind":  {with(`"\u006bind":"\u0072equest","payload":{}`), Request, `{}`, ""},
		"unknown kind":           {with(`"kind":"future","payload":{}`), "future", `{}`, ""},
		"kind in another case":   {with(`"kind":"REQUEST","payload":{}`), "REQUEST", `{}`, ""},
		"empty kind":             {with(`"kind":"","payload":{}`), "", `{}`, ""},
		"non-ASCII kind":         {with(`"kind":"späť","payload":{}`), "späť", `{}`, ""},
		"lone surrogate kind":    {with(`"kind":"\ud800","payload":{}`), "\ufffd", `{}`, ""},
		"payload bytes kept":     {with(`"kind":"request","payload": { "n":1e400, "z":-0,"s":"\u0041\/","d":1,"d":2,"l":"\udc00" } `), Request, `{ "n":1e400, "z":-0,"s":"\u0041\/","d":1,"d":2,"l":"\udc00" }`, ""},
		"deepest payload":        {with(`"kind":"request","payload":` + nested(10000)), Request, nested(10000), ""},
		"odd extra members":      {with(plain + `,"":[],"x":{"\ud800":"\udfff","a":1,"a":2},"x":1e999,"\ud800":null,"from":7,"to":[],"v":{},"ID":1,"Kind":2,"PAYLOAD":3`), Request, `{}`, ""},
		"extra members in front": {`{"zz":"a\"b","from":"me","id":"` + idText + `",` + plain + `}`, Request, `{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Decode([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if e.ID.String() != idText || e.Kind != c.kind || string(e.Payload) != c.payload {
				t.Errorf("got id %s, kind %q, payload %.200q", e.ID, e.Kind, e.Payload)
			}
			if e.HasRef != (c.ref != "") || (e.HasRef && e.Ref.String() != c.ref) {
				t.Errorf("got ref %v %s, want %q", e.HasRef, e.Ref, c.ref)
			}
		})
	}
}

func TestDecodeMalformed(t *testing.T) {
	plain := `"kind":"request","payload":{}`
	for name, body := range map[string]string{
		"empty":                   "",
		"white space only":        " \n",
		"half an object":          with(plain)[:40],
		"open object":             `{"id":"` + idText + `",` + plain,
		"empty object":            `{}`,
		"array":                   `["` + idText + `","request",{}]`,
		"string":                  `"x"`,
		"number":                  `1`,
		"null":                    `null`,
		"second value":            with(plain) + `{}`,
		"trailing byte":           with(plain) + "x",
		"trailing NUL":            with(plain) + "\x00",
		"leading NUL":             "\x00" + with(plain),
		"byte order mark":         "\ufeff" + with(plain),
		"UTF-16":                  "{\x00\"\x00i\x00d\x00",
		"invalid UTF-8 in value":  with(`"kind":"request","payload":{"a":"` + "\xff" + `"}`),
		"invalid UTF-8 in extra":  with(plain + `,"x":"` + "\xc3\x28" + `"`),
		"encoded surrogate":       with(plain + `,"x":"` + "\xed\xa0\x80" + `"`),
		"control in string":       with(`"kind":"re` + "\n" + `quest","payload":{}`),
		"trailing comma":          with(plain + `,`),
		"no colon":                with(`"kind" "request","payload":{}`),
		"bare name":               with(`kind:"request","payload":{}`),
		"single quotes":           with(`'kind':"request","payload":{}`),
		"comment":                 with(plain + `/* */`),
		"bad number in payload":   with(`"kind":"request","payload":{"a":01}`),
		"NaN in extra":            with(plain + `,"x":NaN`),
		"bad escape":              with(`"kind":"\x","payload":{}`),
		"no id":                   `{` + plain + `}`,
		"no kind":                 with(`"payload":{}`),
		"no payload":              with(`"kind":"request"`),
		"id null":                 `{"id":null,` + plain + `}`,
		"id number":               `{"id":7,` + plain + `}`,
		"id in other case":        `{"ID":"` + idText + `",` + plain + `}`,
		"id no UUID":              `{"id":"seven",` + plain + `}`,
		"id in braces":            `{"id":"{` + idText + `}",` + plain + `}`,
		"id as urn":               `{"id":"urn:uuid:` + idText + `",` + plain + `}`,
		"id without hyphens":      `{"id":"` + strings.ReplaceAll(idText, "-", "") + `",` + plain + `}`,
		"id with a space":         `{"id":"` + idText + ` ",` + plain + `}`,
		"kind object":             with(`"kind":{"request":null},"payload":{}`),
		"kind null":               with(`"kind":null,"payload":{}`),
		"ref number":              with(plain + `,"ref":1`),
		"ref false":               with(plain + `,"ref":false`),
		"id twice":                `{"id":"` + idText + `",` + with(plain)[1:],
		"kind twice":              with(`"kind":"request",` + plain),
		"kind twice, one escaped": with(`"\u006bind":"request",` + plain),
		"payload twice":           with(plain + `,"payload":{}`),
		"ref twice":               with(plain + `,"ref":null,"ref":null`),
		"nil id and no payload":   `{"id":"` + uuid.Nil.String() + `","kind":"request"}`,
		"payload too deep":        with(`"kind":"request","payload":` + nested(10001)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(body))
			var malformed *MalformedError
			if !errors.As(err, &malformed) {
				t.Errorf("got %v, want a MalformedError", err)
			}
		})
	}
}

func TestDecodeInvalid(t *testing.T) {
	plain := `"kind":"request","payload":{}`
	v1 := "0b7e6a52-3c1d-1f7a-9b1e-5a2f8c3d4e6f"
	variant := "0b7e6a52-3c1d-4f7a-1b1e-5a2f8c3d4e6f"
	for name, c := range map[string]struct{ body, id string }{
		"nil id":           {`{"id":"` + uuid.Nil.String() + `",` + plain + `}`, uuid.Nil.String()},
		"version 1":        {`{"id":"` + v1 + `",` + plain + `}`, v1},
		"other variant":    {`{"id":"` + variant + `",` + plain + `}`, variant},
		"payload array":    {with(`"kind":"request","payload":[]`), idText},
		"payload null":     {with(`"kind":"request","payload":null`), idText},
		"payload string":   {with(`"kind":"future","payload":"{}"`), idText},
		"ref no UUID":      {with(plain + `,"ref":"seven"`), idText},
		"ref empty":        {with(plain + `,"ref":""`), idText},
		"ref in braces":    {with(plain + `,"ref":"{` + refText + `}"`), idText},
		"ref, odd hyphens": {with(plain + `,"ref":"` + strings.Replace(refText, "-", "0", 1) + `"`), idText},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(c.body))
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, want an InvalidError", err)
			}
			if invalid.ID.String() != c.id {
				t.Errorf("id %s, want %s", invalid.ID, c.id)
			}
		})
	}
}

func TestAppendIsReadBack(t *testing.T) {
	for _, want := range []string{
		with(`"kind":"request","payload":{"a":1.0}`),
		with(`"kind":"error","payload":{},"ref":"` + refText + `"`),
		with(`"kind":"\ud800\u0041","payload":{}`),
		with(`"kind":"ž","payload":{}`),
	} {
		e, err := Decode([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		clone := e.Clone()
		if got := string(clone.Append(nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	made := Envelope{ID: uuid.MustParse(idText), Kind: "a\"b", Payload: []byte(`{}`)}
	if got, want := string(made.Append(nil)), with(`"kind":"a\"b","payload":{}`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNewIDs(t *testing.T) {
	seen := map[uuid.UUID]bool{}
	for range 100 {
		e := NewReply(Error, uuid.Nil, []byte(`{}`))
		if e.ID.Version() != 4 || e.ID.Variant() != uuid.RFC4122 || seen[e.ID] || !e.HasRef {
			t.Fatalf("bad reply %+v", e)
		}
		seen[e.ID] = true
	}
}

func TestDecodeAllocatesLittle(t *testing.T) {
	body := []byte(with(`"kind":"request","payload":{"message":"hello"}`))
	n := testing.AllocsPerRun(100, func() {
		if _, err := Decode(body); err != nil {
			t.Fatal(err)
		}
	})
	if n > 3 {
		t.Errorf("%v allocations per envelope, want at most 3", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	body := []byte(with(`"kind":"request","payload":{"message":"hello"}`))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Decode(body)
	}
}

// FuzzDecode: what is taken is the same once it is written, in no more bytes; what is not is told in one short line.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(with(`"kind":"request","payload":{}`)))
	f.Add([]byte(with(`"kind":"\ud800","payload":{"a":[1,2]},"ref":null,"x":"\"`)))
	f.Add([]byte(with(`"kind":"` + "\u2028" + `","payload":{"a":"\u0007"},"\u001b":"\u001b","\u001b":1}`)))
	f.Add([]byte(with(`"kind":"error","payload":{},"ref":"` + refText + `"`)))
	f.Add([]byte(with(`"kind":"request","payload":[],"ref":"\u0007"`)))
	f.Add([]byte(with(`"kind":"request","payload":{},"x":` + "\x1b")))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := Decode(body)
		if err != nil {
			var malformed *MalformedError
			var invalid *InvalidError
			if !errors.As(err, &malformed) && !errors.As(err, &invalid) || e.Payload != nil {
				t.Fatalf("%q: %T, %+v", body, err, e)
			}
			if text := err.Error(); len(text) > 500 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Fatalf("%q: %q", body, text)
			}
			return
		}
		if e.ID.Version() != 4 || e.ID.Variant() != uuid.RFC4122 || e.Payload[0] != '{' || e.Kind.Known() != (e.RawKind == nil) {
			t.Fatalf("%q: taken: %+v", body, e)
		}
		wire := e.Append(nil)
		if len(wire) > len(body) {
			t.Fatalf("%d bytes became %d: %q, %q", len(body), len(wire), body, wire)
		}
		again, err := Decode(wire)
		if err != nil {
			t.Fatalf("own output refused: %v\n%s", err, wire)
		}
		if again.ID != e.ID || again.Kind != e.Kind || string(again.Payload) != string(e.Payload) || again.HasRef != e.HasRef || again.Ref != e.Ref {
			t.Fatalf("changed on the way: %+v, %+v", e, again)
		}
		if clone := e.Clone(); string(clone.Append(nil)) != string(wire) {
			t.Fatalf("%q: a clone is written as %q", body, clone.Append(nil))
		}
	})
}
