package fuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/axonproto/axon/harness/wire"
)

// generator makes one input.
type generator struct {
	r  *rand.Rand
	id string
	// known are inputs of the features.
	known []sample
}

// generate makes the input of a number. The inputs of the features come first, each once
// as it is.
func generate(seed uint64, number int, known []sample) Input {
	g := &generator{r: rand.New(rand.NewPCG(seed, uint64(number))), known: known}
	g.id = g.uuid()
	in := Input{Number: number, ID: g.id}
	switch {
	case number < len(known):
		in.Bidi, in.Body = g.sample(known[number])
		return in
	case len(known) > 0 && g.chance(30):
		in.Bidi, in.Body = g.sample(known[g.r.IntN(len(known))])
		if g.chance(25) {
			in.Body = g.spoil(in.Body)
		}
	default:
		in.Bidi, in.Body = g.grown()
	}
	g.deliver(&in)
	return in
}

// deliver chooses how an input goes over its stream.
func (g *generator) deliver(in *Input) {
	switch n := g.r.IntN(100); {
	case len(in.Body) == 0:
	case n < 5 && len(in.Body) < 2000:
		in.Pieces = g.pick(1, 2, 7, 60, 100)
	case n < 10:
		in.End = Held
	case n < 13:
		in.End = Reset
	case n < 15 && in.Bidi:
		in.End = GivenUp
	}
}

// grown makes an envelope by the grammar, and mostly spoils it a little.
func (g *generator) grown() (bidi bool, body []byte) {
	kind := "request"
	switch n := g.r.IntN(100); {
	case n < 50:
	case n < 68:
		kind = g.unknownKind()
	case n < 82:
		kind = "message"
	case n < 93:
		kind = "error"
	default:
		kind = "response"
	}
	bidi = kind == "request" || kind != "message" && kind != "error" && kind != "response" && g.chance(60)
	if g.chance(7) {
		bidi = !bidi
	}
	d := &document{members: []member{{"id", quote(g.id)}, {"kind", quote(kind)}, {"payload", g.payload()}}}
	switch n := g.r.IntN(100); {
	case n < 12:
		d.add("ref", "null")
	case n < 27:
		d.add("ref", quote(g.uuid()))
	case n < 30:
		d.add("ref", quote(g.id))
	}
	if g.chance(25) {
		g.r.Shuffle(len(d.members), func(i, j int) { d.members[i], d.members[j] = d.members[j], d.members[i] })
	}
	if g.chance(8) {
		d.escape = true
	}
	if g.chance(15) {
		d.space = g.spacing()
	}
	changed := g.chance(35)
	if changed {
		for range g.few() {
			g.change(d)
		}
	}
	body = d.bytes(g)
	switch n := g.r.IntN(100); {
	case n < 4:
		body = g.fill(body)
	case n < 24 && !changed:
		for range g.few() {
			body = g.spoil(body)
		}
	}
	return bidi, body
}

// few is 1, seldom more.
func (g *generator) few() int {
	if g.chance(75) {
		return 1
	}
	return 2 + g.r.IntN(2)
}

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func (g *generator) pick(list ...int) int { return list[g.r.IntN(len(list))] }

func (g *generator) word(list ...string) string { return list[g.r.IntN(len(list))] }

// uuid is a version 4 UUID of the seed's.
func (g *generator) uuid() string {
	a, b := g.r.Uint64(), g.r.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", uint32(a>>32), uint16(a>>16), a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

func quote(text string) string { return wire.Quote(text) }

// member is a name as it is meant and a raw value.
type member struct{ name, value string }

// document is an envelope before it is written.
type document struct {
	members []member
	// escape: names and plain texts are written with escapes.
	escape bool
	// space is put between tokens, nil for none.
	space func() string
	// whole replaces everything when it is not empty.
	whole string
}

func (d *document) add(name, value string) { d.members = append(d.members, member{name, value}) }

func (d *document) at(name string) int {
	for i, m := range d.members {
		if m.name == name {
			return i
		}
	}
	return -1
}

func (d *document) bytes(g *generator) []byte {
	if d.whole != "" {
		return []byte(d.whole)
	}
	space := d.space
	if space == nil {
		space = func() string { return "" }
	}
	var b strings.Builder
	b.WriteString(space() + "{")
	for i, m := range d.members {
		if i > 0 {
			b.WriteString(space() + ",")
		}
		name, value := quote(m.name), m.value
		if d.escape {
			name = g.escaped(name)
			if m.name == "kind" && g.chance(50) {
				value = g.escaped(value)
			}
		}
		b.WriteString(space() + name + space() + ":" + space() + value)
	}
	b.WriteString(space() + "}" + space())
	return []byte(b.String())
}

// escaped writes some letters of a JSON text as escapes.
func (g *generator) escaped(text string) string {
	if strings.Contains(text, `\`) || !strings.HasPrefix(text, `"`) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if r > ' ' && r < 128 && r != '"' && g.chance(40) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (g *generator) spacing() func() string {
	all := []string{"", " ", "\n", "\t", "\r\n", "\n    ", " \t\r\n"}
	switch g.r.IntN(4) {
	case 0:
		only := g.word(all[1:]...)
		return func() string { return only }
	case 1: // much of it, once
		at, n := g.r.IntN(12), g.pick(100, 1001, 5000, 20000)
		return func() string {
			if at--; at == -1 {
				return strings.Repeat(g.word(" ", " ", "\n", "\t"), n)
			}
			return ""
		}
	}
	return func() string { return g.word(all...) }
}

func (g *generator) unknownKind() string {
	switch g.r.IntN(6) {
	case 0:
		return g.word("future", "unknown", "Unknown", "REQUEST", "Request", "MESSAGE", "Error", "", " ", "null", "0", "hello", "ping", "requests", "request ", "\x00", "re\nquest", `"quoted"`)
	case 1:
		known := []rune(g.word("request", "message", "response", "error"))
		at := g.r.IntN(len(known))
		switch g.r.IntN(3) {
		case 0:
			known[at] = known[at] - 'a' + 'A'
		case 1:
			known = append(known[:at], known[at+1:]...)
		default:
			known = append(known, []rune(g.word("_", " ", "s", "2", "\t", "é"))...)
		}
		return string(known)
	case 2:
		return strings.Repeat(g.word("k", "é", "😀", "学"), g.pick(1, 20, 63, 64, 65, 255, 256, 257, 300, 1000, 1001))
	case 3:
		return strings.Repeat("a", g.r.IntN(4)) + strings.Repeat(g.word("é", "😀", "学"), g.pick(1, 3, 64, 300))
	}
	return strings.ToValidUTF8(g.plainText(12), "?")
}
