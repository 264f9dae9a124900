package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// drawn draws a JSON text and the value that a reader must find in it.
func drawn(t *rapid.T, depth int) (string, Value) {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n", "\t\r "}).Draw(t, "space") }
	most := 6
	if depth >= 4 {
		most = 4
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return "null", Value{Kind: Null}
	case 1:
		return "true", Value{Kind: Bool, Bool: true}
	case 2:
		return "false", Value{Kind: Bool}
	case 3:
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,6})?`).Draw(t, "number")
		return number, Value{Kind: Number, Number: number}
	case 4:
		text := drawText(t)
		return Quote(text), Value{Kind: String, String: text}
	case 5:
		v := Value{Kind: Array}
		var parts []string
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			text, item := drawn(t, depth+1)
			parts = append(parts, space()+text+space())
			v.Array = append(v.Array, item)
		}
		if parts == nil {
			return "[" + space() + "]", v
		}
		return "[" + strings.Join(parts, ",") + "]", v
	default:
		v := Value{Kind: Object}
		var parts []string
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			name := drawText(t)
			text, member := drawn(t, depth+1)
			parts = append(parts, space()+Quote(name)+space()+":"+space()+text+space())
			v.Object = append(v.Object, Member{name, member})
		}
		if parts == nil {
			return "{" + space() + "}", v
		}
		return "{" + strings.Join(parts, ",") + "}", v
	}
}

func drawText(t *rapid.T) string {
	return rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("ab\"\\/\x00\n\u007f\u2028é😀")))).Draw(t, "text")
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, want := drawn(t, 0)
		got, err := Parse([]byte(" " + text + "\n"))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !Equal(got, want) || !Equal(want, got) || string(got.Raw) != text {
			t.Fatalf("%s: %+v", text, got)
		}
		if _, err := Parse([]byte(text + ",")); err == nil {
			t.Fatalf("%s with a comma was accepted", text)
		}
	})
}

// checkKinds fails when anything in an accepted value has no proper kind.
func checkKinds(v Value) error {
	if v.Kind < Null || v.Kind > Object || len(v.Raw) == 0 {
		return fmt.Errorf("kind %v, raw %q", v.Kind, v.Raw)
	}
	for _, item := range v.Array {
		if err := checkKinds(item); err != nil {
			return err
		}
	}
	for _, m := range v.Object {
		if err := checkKinds(m.Value); err != nil {
			return err
		}
	}
	return nil
}

// FuzzParse holds the reader against the standard library's. The two must agree
// on what is JSON, except where that library is known to be lenient or narrower:
// it repairs invalid UTF-8 instead of refusing it, and it refuses nesting beyond
// 10,000 levels.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[1,2.5e-7,null]", `{"a":{"a":"\ud800\u0000"},"a":[]}`, "01", "-", "1e", "\"\xff\"", "\ufeff1", "\"\xed\xa0\x80\"", "nul", "{} {}",
		"[[[[", `{"id":"` + someID + `","kind":"request","payload":{}}`, "\"\\", "1 ", "tru", "\v1", `"\ud83d\ud83d\ude00"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Parse(b)
		Inspect(b)
		std := json.Valid(b) && utf8.Valid(b)
		if err == nil && !std && strings.Count(string(b), "[")+strings.Count(string(b), "{") <= 10000 {
			t.Fatalf("%q: accepted here alone", b)
		}
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(b) {
				t.Fatalf("%q: %v", b, err)
			}
			if std {
				t.Fatalf("%q: refused here alone: %v", b, err)
			}
			return
		}
		if err := checkKinds(v); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if again, err := Parse(v.Raw); err != nil || !Equal(v, again) {
			t.Fatalf("%q: its raw bytes read differently: %v", b, err)
		}
	})
}
