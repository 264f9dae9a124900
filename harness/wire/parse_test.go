package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestAccepted(t *testing.T) {
	for text, kind := range map[string]Kind{
		"null": Null, "true": Bool, " \t\r\nfalse ": Bool, "0": Number, "-0": Number, "1e400": Number, "-12.50E-7": Number, "1E+2": Number,
		`""`: String, `"\u0000\ud83d\ude00\ud800"`: String, "\"\u007f\u2028\"": String, "[]": Array, "[ 1 , [ ] , {} ]": Array,
		"{}": Object, `{"":{"a":1,"a":2}}`: Object,
	} {
		v, err := Parse([]byte(text))
		if err != nil || v.Kind != kind || string(v.Raw) != strings.Trim(text, " \t\r\n") {
			t.Errorf("%q: %v %v %q", text, v.Kind, err, v.Raw)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, offset := range map[string]int{
		"": 0, "  ": 2, "nul": 3, "nulL": 3, "True": 0, "NaN": 0, "Infinity": 0, "+1": 0, "01": 1, "-": 1, "-a": 1, "1.": 2, ".5": 0, "1e": 2, "1e+": 3, "0x10": 1,
		`"`: 1, `"a`: 2, "\"a\n\"": 2, "\"\x00\"": 1, `"\`: 2, `"\x"`: 2, `"\u12G4"`: 5, `"\u12`: 5, `"\ud800\u"`: 9, "'a'": 0, "\"\xff\"": 1, "\"\xed\xa0\x80\"": 1, "\"\xc0\x80\"": 1,
		"[": 1, "[1": 2, "[1,": 3, "[1,]": 3, "[,1]": 1, "[1 2]": 3, "]": 0,
		"{": 1, "{a:1}": 1, `{"a"`: 4, `{"a" 1}`: 5, `{"a":}`: 5, `{"a":1,}`: 7, `{"a":1 "b":2}`: 7, `{1:2}`: 1, `{"a":1`: 6,
		"{} {}": 3, "1 1": 2, "null\x00": 4, "\ufeff{}": 0, "\u00a0{}": 0, "{}\v": 2, "// x\n1": 0, "\xff\xfe{\x00}\x00": 0,
	} {
		v, err := Parse([]byte(text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || v.Kind != Absent {
			t.Errorf("%q: accepted as %v, %v", text, v.Kind, err)
			continue
		}
		if syntax.Offset != offset || syntax.Problem == "" {
			t.Errorf("%q: %v, want offset %d", text, err, offset)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, c := range []struct{ begin, end string }{{"[", "]"}, {`{"":`, "}"}} {
		inner := map[string]string{"[": "", `{"":`: "0"}[c.begin]
		deep := func(n int) []byte { return []byte(strings.Repeat(c.begin, n) + inner + strings.Repeat(c.end, n)) }
		v, err := Parse(deep(MaxDepth))
		if err != nil {
			t.Fatal(err)
		}
		if !Equal(v, v) {
			t.Error("a deep value is not equal to itself")
		}
		if _, err := Parse(deep(MaxDepth + 1)); err == nil {
			t.Error("nesting beyond the bound was accepted")
		}
		if _, err := Parse([]byte(strings.Repeat(c.begin, 1<<20))); err == nil {
			t.Error("a million openings were accepted")
		}
	}
}

func TestParsePrefixCountsValues(t *testing.T) {
	rest := []byte(` {"a":1}{"b":2} 3"x"`)
	var kinds []Kind
	for len(trimSpace(rest)) > 0 {
		v, r, err := ParsePrefix(rest)
		if err != nil {
			t.Fatal(err)
		}
		kinds, rest = append(kinds, v.Kind), r
	}
	if len(kinds) != 4 || kinds[2] != Number || kinds[3] != String {
		t.Errorf("%v", kinds)
	}
	if _, rest, err := ParsePrefix([]byte("{} \xff")); err != nil || string(rest) != " \xff" {
		t.Errorf("%q %v", rest, err)
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		`"\"\\\/\b\f\n\r\t"`:   "\"\\/\b\f\n\r\t",
		`"\u00e9\u20AC"`:       "é€",
		`"\ud83d\ude00"`:       "😀",
		`"\ud83dx"`:            "\xed\xa0\xbdx",
		`"\ude00"`:             "\xed\xb8\x80",
		`"\ud83d\ud83d\ude00"`: "\xed\xa0\xbd😀",
		`"\ud83d\n"`:           "\xed\xa0\xbd\n",
	} {
		v, err := Parse([]byte(text))
		if err != nil || v.String != want || v.LoneSurrogate != strings.Contains(want, "\xed") {
			t.Errorf("%s: %q %v %v", text, v.String, v.LoneSurrogate, err)
		}
		again, err := Parse([]byte(Quote(v.String)))
		if err != nil || again.String != want {
			t.Errorf("%s: quoted %s: %q %v", text, Quote(v.String), again.String, err)
		}
	}
}

func TestGet(t *testing.T) {
	v, err := Parse([]byte(`{"a":1,"A":2,"\u0061":3}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, n := v.Get("a"); n != 2 || got.Number != "3" {
		t.Errorf("%v %d", got.Number, n)
	}
	if got, n := v.Get("b"); n != 0 || got.Kind != Absent {
		t.Errorf("%v %d", got.Kind, n)
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"1", "1.0", true}, {"-0", "0", true}, {"0e999999999999999999999", "-0.000", true}, {"1e400", "10e399", true}, {"1e400", "1e401", false},
		{"100", "1E2", true}, {"0.001", "1e-3", true}, {"9007199254740993", "9007199254740992", false}, {"1e99999999999999999999", "10e99999999999999999998", true},
		{"-1", "1", false}, {"1200e-2", "12", true}, {"0.10", "0.1", true}, {"10", "1", false}, {"0.01", "0.1", false},
		{`"\u0061"`, `"a"`, true}, {`"\ud800"`, `"\uD800"`, true}, {`"\ud800"`, `"\ud801"`, false}, {`"1"`, "1", false}, {"null", "false", false}, {"true", "false", false},
		{"[1,2]", "[2,1]", false}, {"[1]", "[1,1]", false}, {"[]", "{}", false},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true}, {`{"a":1}`, `{"a":1,"b":2}`, false}, {`{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
		{`{"a":1,"b":0,"a":2}`, `{"b":0,"a":1,"a":2}`, true}, {`{"a":1,"a":1}`, `{"a":1,"b":1}`, false},
	} {
		a, errA := Parse([]byte(c.a))
		b, errB := Parse([]byte(c.b))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if Equal(a, b) != c.same || Equal(b, a) != c.same || !Equal(a, a) {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.same)
		}
	}
}
