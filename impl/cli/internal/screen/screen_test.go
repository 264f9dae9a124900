package screen

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä 漢":        "plain ä 漢",
		"\x1b[31mred\x07":  `\x1b[31mred\x07`,
		"a\nb\tc\rd":       `a\nb\tc\rd`,
		"\u009b2J":         `\u009b2J`,
		"\u202eevil":       `\u202eevil`,
		"bad \xff utf":     `bad \xff utf`,
		"\U000e0001 tag":   `\U000e0001 tag`,
		"\u200bzero\u00a0": `\u200bzero\u00a0`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := EscapeLines("a\n\tb\x1b"); got != "a\n\tb\\x1b" {
		t.Errorf("lines: %q", got)
	}
}

func TestJSONKeepsItsMeaning(t *testing.T) {
	for _, in := range []string{
		"{ \"a\" :\n\t1, \"b\":\"\u009b2J\u202e\x7f\U000e0001ä\" }", `{"a":"\ud800","n":1.0}`, "{\"\u0085\":[]}",
	} {
		got := JSON([]byte(in))
		var before, after any
		if err := json.Unmarshal([]byte(in), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%q became %q: %v", in, got, err)
		}
		if bytes.ContainsFunc(got, func(r rune) bool { return !harmless(r) }) || !utf8.Valid(got) {
			t.Errorf("%q still holds something to act on: %q", in, got)
		}
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	table := Table{Header: []string{"NAME", "STATUS"}}
	table.Row("a\x1b", "x")
	table.Rows = append(table.Rows, []Cell{{Text: "longer"}, {Text: "ok", Colour: Green}})
	if err := table.Write(&b, false); err != nil {
		t.Fatal(err)
	}
	if want := "NAME    STATUS\na\\x1b   x\nlonger  ok\n"; b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	b.Reset()
	_ = table.Write(&b, true)
	if !strings.Contains(b.String(), "longer  \x1b[32mok\x1b[0m\n") {
		t.Errorf("got %q", b.String())
	}
}

func TestNoColoursOffATerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Terminal(f) || Coloured(f) || Coloured(&strings.Builder{}) {
		t.Error("a file is taken for a terminal")
	}
	if Paint(false, Red, "x") != "x" {
		t.Error("painted though off")
	}
}
