package steps

import (
	"strings"
	"testing"

	"github.com/axonproto/axon/harness/wire"
)

func TestExpand(t *testing.T) {
	s := New(&Target{}, nil)
	const id = "5b1f0c3a-6a59-4e0d-9a52-0f8c1f6a7e11"
	for text, want := range map[string]string{
		`plain`:                       `plain`,
		`{"id":"«id»"}`:               `{"id":"` + id + `"}`,
		`«id in upper case»`:          strings.ToUpper(id),
		`«id without hyphens»`:        strings.ReplaceAll(id, "-", ""),
		`«id of version 7»`:           "5b1f0c3a-6a59-7e0d-9a52-0f8c1f6a7e11",
		`«id of variant c»`:           "5b1f0c3a-6a59-4e0d-ca52-0f8c1f6a7e11",
		`«hex 00 ff»`:                 "\x00\xff",
		`a«3 spaces»b`:                "a   b",
		`«3 times {"a":»1«3 times }»`: `{"a":{"a":{"a":1}}}`,
		`[«y to 10 bytes»]`:           `[yyyyyyyy]`,
		`[«spaces to 4 bytes»]`:       `[  ]`,
		`«utf16 {"id":"ID"}»`:         "\xff\xfe" + utf16LE(`{"id":"`+id+`"}`),
	} {
		got, err := s.expand(text, id)
		if err != nil || string(got) != want {
			t.Errorf("expand(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"«nothing of the kind»", "«hex 0»", "«hex zz»"} {
		if got, err := s.expand(text, id); err == nil {
			t.Errorf("expand(%q) = %q, want an error", text, got)
		}
	}
	one, _ := s.expand("«other id»", id)
	two, _ := s.expand("«other id»", id)
	if string(one) == string(two) || string(one) == id {
		t.Errorf("two other ids are %s and %s", one, two)
	}
	if got, _ := s.expand("«request»", id); len(problemsOf(got)) > 0 {
		t.Errorf("«request» is %s", got)
	}
}

func utf16LE(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		b.WriteByte(0)
	}
	return b.String()
}

func problemsOf(b []byte) []wire.Problem {
	_, problems := wire.Inspect(b)
	return problems
}

// A step is taken by one definition; the texts of the feature files are checked
// when they are loaded, so here it is enough that no pattern is there twice.
func TestDefinitionsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Definitions() {
		if seen[d.Pattern] {
			t.Errorf("the pattern %q is defined twice", d.Pattern)
		}
		seen[d.Pattern] = true
	}
}

func TestWith(t *testing.T) {
	const id = "5b1f0c3a-6a59-4e0d-9a52-0f8c1f6a7e11"
	for _, c := range []struct{ name, value, want string }{
		{"id", "7", `{"id":7,"kind":"request","payload":{"from_probe":true}}`},
		{"payload", "", `{"id":"` + id + `","kind":"request"}`},
		{"ref", "null", `{"id":"` + id + `","kind":"request","payload":{"from_probe":true},"ref":null}`},
	} {
		if got := string(with("request", id, c.name, c.value)); got != c.want {
			t.Errorf("with %s %q: %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

func TestExplains(t *testing.T) {
	for message, want := range map[string]bool{
		"": false, "unhandled": false, "not found": false, "no handler here": true, "bad request code": true,
	} {
		if got := explains(message, "unhandled"); got != want {
			t.Errorf("explains(%q) = %v", message, got)
		}
	}
	if explains("no handler here", "no_handler_here") {
		t.Error("the code again is no explanation")
	}
}
