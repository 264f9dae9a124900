package fuzz

import (
	"bytes"
	"strings"
	"unicode/utf16"
)

// spoil changes bytes without regard to what they mean, or mostly so.
func (g *generator) spoil(b []byte) []byte {
	join := func(parts ...string) []byte { return []byte(strings.Join(parts, "")) }
	s := string(b)
	switch g.r.IntN(16) {
	case 0, 1: // UTF-8
		return g.within(b, g.word("\xff", "\xfe", "\xc0\xaf", "\xed\xa0\x80", "\xed\xb0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xc3", "\x80", "\xf8\x88\x80\x80\x80", "\xe9", "\xc1\xbf"))
	case 2: // in a text
		return g.within(b, g.word("\x00", "\n", "\t", "\r", "\x1f", `\x41`, `\u12`, `\`, `\'`, `\u{41}`, "a\tb", "a\nb"))
	case 3: // before
		return join(g.word("\xef\xbb\xbf", "\x00", "\f", "\v", "\xc2\xa0", "\xff\xfe", "\x00\x00\x00\x68", "104\n", "data: ", ")]}',\n", "//\n", ",", "\xe2\x80\x8b", "POST / HTTP/1.1\r\n\r\n"), s)
	case 4, 5: // behind
		return join(s, g.word("\x00", "}", " ok", "{}", "\n{}", ",", "]", "\xc2\xa0", "\f", "\xff", "\xef\xbb\xbf", "1", "null", "\x1a", ";", "\r\n\r\n.", s, "\n"+s, strings.Replace(s, g.id, g.uuid(), 1)))
	case 6, 7: // cut
		if len(b) > 0 {
			return b[:len(b)-1-g.r.IntN(min(len(b), 1+g.pick(1, 3, 40, len(b))))]
		}
	case 8:
		if len(b) > 1 {
			return b[1+g.r.IntN(min(g.pick(1, 3, len(b)), len(b)-1)):]
		}
	case 9: // one byte
		if len(b) > 0 {
			at := g.r.IntN(len(b))
			return append(append(bytes.Clone(b[:at]), byte(g.r.IntN(256))), b[at+g.r.IntN(2):]...)
		}
	case 10: // two parts the other way round
		if len(b) > 3 {
			at := 1 + g.r.IntN(len(b)-2)
			return append(bytes.Clone(b[at:]), b[:at]...)
		}
	case 11: // what other readers take for JSON
		from, to := g.pair("{", "{,", "}", ",}", ",", ",,", `"id"`, "id", `"`, "'", ":", "=", ",", " ", ",", ",/* */", "{", "{//\n", "}", "", `"kind"`, "kind")
		return []byte(strings.Replace(s, from, to, g.pick(1, -1)))
	case 12:
		return []byte(strings.Replace(s, `"payload":`, `"payload":`+g.word(`{"n":NaN},"x":`, `{"n":01},"x":`, `{"n":+1},"x":`, `{"n":1.},"x":`, `{"n":.5},"x":`, `{"n":0x10},"x":`, `{"n":-},"x":`, `{"n":1e},"x":`, `{"b":True},"x":`, `{"a":[1,]},"x":`, `{"a":undefined},"x":`, `{a:1},"x":`, `{1:1},"x":`, `{"n":-Infinity},"x":`, `{"a" 1},"x":`), 1))
	case 13:
		return g.word16(s)
	case 14:
		return join(g.word("", " ", " \n\t", "\x00", "{", "}", "[", `"`, "{}", "hello", "id="+g.id+"&kind=request", "id: "+g.id+"\nkind: request\npayload: {}", strings.Repeat("[", g.pick(50, 1000, 30000)), strings.Repeat(`{"a":`, g.pick(50, 1000, 10000))))
	}
	noise := make([]byte, g.pick(1, 4, 30, 300))
	for i := range noise {
		noise[i] = byte(g.r.IntN(256))
	}
	return noise
}

// pair chooses two neighbours of a list.
func (g *generator) pair(list ...string) (a, b string) {
	at := 2 * g.r.IntN(len(list)/2)
	return list[at], list[at+1]
}

// within puts something into the payload, in a text of its own or anywhere.
func (g *generator) within(b []byte, what string) []byte {
	if at := bytes.Index(b, []byte(`"payload":{`)); at >= 0 && g.chance(80) {
		at += len(`"payload":{`)
		comma := ","
		if at < len(b) && b[at] == '}' {
			comma = ""
		}
		text := `"t":"a` + what + `b"` + comma
		if g.chance(15) {
			text = `"a` + what + `b":1` + comma
		}
		return append(append(bytes.Clone(b[:at]), text...), b[at:]...)
	}
	at := g.r.IntN(len(b) + 1)
	return append(append(bytes.Clone(b[:at]), what...), b[at:]...)
}

// word16 writes a text in UTF-16, with a mark or without.
func (g *generator) word16(s string) []byte {
	if g.chance(70) {
		s = "\ufeff" + s
	}
	big := g.chance(30)
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

// fill brings an envelope to a size at which something may happen.
func (g *generator) fill(b []byte) []byte {
	size := g.pick(1200, 4095, 4096, 4097, 16384, 32768, 65000, 65535, 65536, 65536, 65536, 65537, 65537, 70000, 131073, 262144)
	missing := size - len(b)
	if missing <= 12 {
		return b
	}
	if at := bytes.Index(b, []byte(`"payload":{}`)); at >= 0 {
		at += len(`"payload":{`)
		text := `"t":"` + strings.Repeat("y", missing-len(`"t":""`)) + `"`
		return append(append(bytes.Clone(b[:at]), text...), b[at:]...)
	}
	if at := bytes.IndexByte(b, '{'); at >= 0 {
		return append(append(bytes.Clone(b[:at+1]), strings.Repeat(g.word(" ", "\n"), missing)...), b[at+1:]...)
	}
	return b
}
