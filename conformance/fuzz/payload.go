package fuzz

import (
	"fmt"
	"strconv"
	"strings"
)

// payload makes the raw JSON of an object.
func (g *generator) payload() string {
	switch n := g.r.IntN(100); {
	case n < 22:
		return `{"from_probe":true}`
	case n < 32:
		return "{}"
	case n < 40: // deep
		levels := g.pick(2, 31, 32, 33, 63, 64, 65, 90, 98, 99, 100, 101, 127, 128, 129, 500)
		if g.chance(50) {
			return strings.Repeat(`{"a":`, levels-1) + "{}" + strings.Repeat("}", levels-1)
		}
		return `{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "}"
	case n < 45: // wide
		count := g.pick(16, 101, 257, 501, 1000, 1025)
		if g.chance(50) {
			return `{"a":[` + strings.Repeat(g.value(5)+",", count) + "1]}"
		}
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, `"m%d":%d,`, i, i)
		}
		return "{" + b.String() + `"last":1}`
	case n < 48:
		return `{"text":"` + strings.Repeat(g.word("x", "é", "😀", `\u00e9`, `\n`, `\\`), g.pick(100, 1000, 5000, 10000)) + `"}`
	case n < 53:
		return `{"domain":` + g.word(`"family.calendar"`, `"nobody.knows"`, `"a b&c"`, `".."`, `""`, "7", "null", "true", "[]", "{}", `"`+strings.Repeat("d", 300)+`"`) + "}"
	case n < 60:
		return "{" + quote(g.reserved()) + ":" + g.value(2) + "}"
	case n < 63:
		return `{"a":1,"a":2,"a":` + g.value(3) + "}"
	case n < 70:
		return `{"n":[` + g.number() + "," + g.number() + "," + g.number() + "]}"
	}
	return g.object(0)
}

// reserved is a name that means something elsewhere.
func (g *generator) reserved() string {
	return g.word("id", "kind", "payload", "ref", "from", "to", "v", "ts", "", "__proto__", "constructor", "$ref", "code", "message", "retryable", "ping", "question", "version", "type", "cmd", "domain", "request_id")
}

func (g *generator) object(level int) string {
	var parts []string
	for range g.r.IntN(5) {
		name := g.text(8)
		if g.chance(30) {
			name = quote(g.reserved())
		}
		parts = append(parts, name+":"+g.value(level+1))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// value makes any JSON value.
func (g *generator) value(level int) string {
	most := 9
	if level > 4 {
		most = 7
	}
	switch g.r.IntN(most) {
	case 0:
		return "null"
	case 1:
		return "true"
	case 2:
		return "false"
	case 3, 4:
		return g.number()
	case 5, 6:
		return g.text(20)
	case 7:
		return g.object(level)
	}
	var parts []string
	for range g.r.IntN(4) {
		parts = append(parts, g.value(level+1))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (g *generator) number() string {
	switch g.r.IntN(4) {
	case 0:
		return g.word("0", "-0", "-0.0", "0e0", "1.0", "1e400", "-1e400", "1e-400", "1E+400", "9007199254740993", "18446744073709551617", "-9223372036854775809", "1e999999999", "0.1e1", "2147483648", "4294967296")
	case 1:
		return "1" + strings.Repeat("0", g.pick(20, 100, 400))
	case 2:
		return "0." + strings.Repeat("3", g.pick(1, 20, 200))
	}
	return strconv.Itoa(g.r.IntN(2000) - 1000)
}

// text makes a JSON text, its quotes included.
func (g *generator) text(most int) string {
	var b strings.Builder
	for range g.r.IntN(most) {
		if g.chance(70) {
			b.WriteByte("abcdefgh 0129._-"[g.r.IntN(16)])
			continue
		}
		b.WriteString(g.word(`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0000`, `\u001b[31m`, `\u007f`, `\ud800`, `\udfff`, `\udc00\ud800`, `\ud83d\ude00`, `\u00e9`, `\u2028`, `\uFFFF`, `\ufeff`,
			"é", "😀", "学", "\u2028", "\u202e", "\x7f", "\U0010ffff", "'", "{", "]", "//", "/*"))
	}
	return `"` + b.String() + `"`
}

// plainText makes a text that is not yet JSON.
func (g *generator) plainText(most int) string {
	var b strings.Builder
	for range g.r.IntN(most) {
		b.WriteString(g.word("a", "b", "k", "R", " ", "-", "_", ".", "7", "é", "学", "😀", "\t", "\x00", `\`, `"`, "/", "\u2028"))
	}
	return b.String()
}
