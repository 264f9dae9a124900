package fuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generate makes the input of a number: every other one with a certain thing about it, of
// which all are met in turn, else one with as many as chance will have. What it became is
// for the oracle to say.
func generate(r *rand.Rand, number int) Input {
	which := number / 2
	in := Input{Uni: r.IntN(4) == 0}
	if number%2 == 0 {
		// On a bidirectional stream more can be seen, so there first.
		in.Uni = in.Uni && which >= len(specials)
		in.Body = specials[which%len(specials)](r, plain(r, in.Uni))
		return in
	}
	e := plain(r, in.Uni)
	damages := []int{0, 0, 0, 1, 1, 1, 1, 1, 2, 3}[r.IntN(10)]
	late := 0 // those that work on the text, after it is written
	for range damages {
		if r.IntN(2) == 0 {
			e.damage(r)
		} else {
			late++
		}
	}
	body := e.write(r)
	for range late {
		body = damageText(r, body)
	}
	in.Body = body
	return in
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// member is a name and a value as they are written.
type member struct{ name, value string }

// draft is an envelope before it is written.
type draft []member

// plain is a valid envelope.
func plain(r *rand.Rand, uni bool) draft {
	kind := "request"
	if uni {
		kind = pick(r, "message", "message", "error")
	}
	if r.IntN(8) == 0 {
		kind = unknownKind(r)
	}
	d := draft{{`"id"`, `"«id»"`}, {`"kind"`, `"` + kind + `"`}, {`"payload"`, object(r, 3)}}
	if r.IntN(3) == 0 {
		d = append(d, member{`"ref"`, pick(r, "null", `"«other id»"`, `"«id»"`)})
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(d), func(i, j int) { d[i], d[j] = d[j], d[i] })
	}
	return d
}

func unknownKind(r *rand.Rand) string {
	return pick(r, "future", "unknown", "REQUEST", "Message", "", " ", "request ", "null", `\u0000`, "наука", "«1000 times k»", "reques", "requestx", `re\nquest`, "0")
}

// damage changes one member.
func (d *draft) damage(r *rand.Rand) {
	l := *d
	if len(l) == 0 {
		return
	}
	i := r.IntN(len(l))
	m := &l[i]
	switch r.IntN(9) {
	case 0:
		*d = append(l[:i:i], l[i+1:]...)
	case 1:
		*d = append(l, *m) // twice
	case 2:
		*d = append(l, member{m.name, value(r, 1)}) // twice, with another value
	case 3:
		*d = append(l, member{`"` + pick(r, "from", "to", "v", "ts", "x", "ID", "Kind", "") + `"`, value(r, 2)})
	case 4:
		m.name = `"` + pick(r, "ID", "Id", "KIND", "Kind", "Payload", "PAYLOAD", "id ", " id", "_id", `\u212aind`, "ref", "payload", "kind", "id") + `"`
	case 5, 6:
		m.value = value(r, 2)
	default:
		switch m.name {
		case `"id"`:
			m.value = strangeID(r)
		case `"kind"`:
			m.value = pick(r, "null", "1", "true", `["request"]`, `{"request":null}`, `"`+unknownKind(r)+`"`, `"response"`, `"error"`, `"message"`, `"request"`)
		case `"payload"`:
			m.value = pick(r, "null", "[]", `"{}"`, "7", "[{}]", deep(r), `{"t":"«`+fmt.Sprint(1000*(1+r.IntN(70)))+` times x»"}`)
		default:
			m.value = pick(r, `""`, "7", "{}", `"x"`, `"00000000-0000-0000-0000-000000000000"`, "null")
		}
	}
}

func strangeID(r *rand.Rand) string {
	digit := string("0123456789abcdef"[r.IntN(16)])
	return pick(r, "null", "7", `""`, `"x"`, `["«id»"]`, `{"id":"«id»"}`, `"00000000-0000-0000-0000-000000000000"`, `"«id in upper case»"`,
		`"«id without hyphens»"`, `"{«id»}"`, `"urn:uuid:«id»"`, `"«id»0"`, `" «id»"`, `"«id of version `+digit+`»"`, `"«id of variant `+digit+`»"`,
		`"«id»\u0000"`, `"ffffffff-ffff-ffff-ffff-ffffffffffff"`, `"g0000000-0000-4000-8000-000000000000"`)
}

// write writes an envelope, with white space and escapes that change nothing.
func (d draft) write(r *rand.Rand) string {
	space := func() string {
		if r.IntN(20) == 0 {
			return pick(r, " ", "«hex 0a»", "«hex 09»", "«hex 0d»", "«200 spaces»")
		}
		return ""
	}
	var b strings.Builder
	b.WriteString(space() + "{")
	for i, m := range d {
		if i > 0 {
			b.WriteString(",")
		}
		name := m.name
		if r.IntN(25) == 0 && len(name) > 2 && name[1] != '\\' && name[1] < 0x7f {
			name = fmt.Sprintf(`"\u%04x%s`, name[1], name[2:])
		}
		b.WriteString(space() + name + space() + ":" + space() + m.value + space())
	}
	b.WriteString("}" + space())
	return b.String()
}

// value is any JSON value.
func value(r *rand.Rand, depth int) string {
	if depth <= 0 || r.IntN(2) == 0 {
		return scalar(r)
	}
	if r.IntN(2) == 0 {
		return object(r, depth-1)
	}
	var parts []string
	for range r.IntN(4) {
		parts = append(parts, value(r, depth-1))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func object(r *rand.Rand, depth int) string {
	var parts []string
	for range r.IntN(4) {
		parts = append(parts, text(r)+":"+value(r, depth-1))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func scalar(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return pick(r, "null", "true", "false")
	case 1:
		return pick(r, "0", "-0", "1", "-1", "1.0", "1e400", "-1e-400", "1E+2", "9007199254740993", "18446744073709551617", "0.1", "1«300 times 0»", "0.«100 times 3»")
	}
	return text(r)
}

// text is any JSON string.
func text(r *rand.Rand) string {
	return `"` + pick(r, "", "a", "id", "kind", "payload", "ref", "from", "to", "cmd", "ok", "error", "é", "😀", "наука 科学", `\n`, `\u0000`, `\ud83d\ude00`, `\ud800`, `\udfff`, `\"`, `\\`, `\/`,
		`«hex 7f»`, `\u001b[31m`, "../../etc/passwd", "«255 times a»é", "«64 times 😀»", "$ref", "__proto__", " ", "%s%n", "«id»", "«other id»") + `"`
}

// deep is a payload that is nested deeply.
func deep(r *rand.Rand) string {
	n := pick(r, 50, 98, 99, 101, 200, 1000, 5000, 10000)
	if r.IntN(2) == 0 {
		return fmt.Sprintf(`{"a":«%d times [»«%d times ]»}`, n, n)
	}
	return fmt.Sprintf(`«%d times {"a":»{}«%d times }»`, n, n)
}

// damageText changes what is written, at a place between two of its atoms.
func damageText(r *rand.Rand, body string) string {
	list := atoms(body)
	if len(list) == 0 {
		return body
	}
	at := r.IntN(len(list))
	before, here, after := strings.Join(list[:at], ""), list[at], strings.Join(list[at+1:], "")
	switch r.IntN(14) {
	case 0: // cut off
		return before
	case 1: // an atom less
		return before + after
	case 2: // an atom twice
		if strings.HasSuffix(here, " bytes»") {
			return body
		}
		return before + here + here + after
	case 3, 4: // a byte that is no UTF-8
		return before + here + fmt.Sprintf("«hex %s»", pick(r, "ff", "c0 af", "ed a0 80", "e2 82", "f4 90 80 80", "80", "fe")) + after
	case 5: // a control character, which no text may hold as it is
		return before + here + fmt.Sprintf("«hex %02x»", r.IntN(0x20)) + after
	case 6: // something that structures JSON
		return before + here + pick(r, "{", "}", "[", "]", ",", ":", `"`, `\`, "'", "/*c*/", "//", "#") + after
	case 7: // something before or behind it all
		return pick(r, "«hex ef bb bf»", "«hex 00»", "null", "x", "«request»", "", " ") + body + pick(r, "", "", "x", "}", "«request»", "«hex 00»", "null", ",", "«hex 0a»{}")
	case 8: // a number that is none
		return strings.Replace(body, ":", ":"+pick(r, "+1,", "01,", "1.,", ".5,", "0x10,", "NaN,", "Infinity,", "-,", "1e,", "True,", "undefined,"), 1)
	case 9: // another container
		return pick(r, "[", `"`, `{"axon":`, "") + body + pick(r, "]", `"`, "}", "")
	case 10: // quotes of another sort
		return strings.ReplaceAll(body, `"`, pick(r, "'", "", "`", "“"))
	case 11: // UTF-16
		return `«utf16 {"id":"ID","kind":"request","payload":{}}»`
	case 12: // larger than anybody has to take, or just not
		return fill(r, body)
	default: // nothing at all, or white space alone
		return pick(r, "", "«hex 20»", "«hex 0a»", "{}", "[]", "null", "0", `""`)
	}
}

// fill brings a body to a size near the limit by white space before its end.
func fill(r *rand.Rand, body string) string {
	if strings.Contains(body, " bytes»") || !strings.HasSuffix(body, "}") {
		return body
	}
	size := pick(r, 1200, 4096, 16384, 65535, 65536, 65537, 65600, 70000, 131073)
	return strings.TrimSuffix(body, "}") + fmt.Sprintf("«spaces to %d bytes»}", size)
}
