package fuzz

import (
	"strings"
	"unicode"
)

// change makes an envelope wrong, or odd, on the level of its members.
func (g *generator) change(d *document) {
	switch g.r.IntN(11) {
	case 0, 1:
		g.drop(d)
	case 2:
		g.double(d)
	case 3, 4:
		g.retype(d)
	case 5:
		g.rename(d)
	case 6, 7:
		g.changeID(d)
	case 8:
		g.extend(d)
	case 9:
		g.refer(d)
	default:
		g.reshape(d)
	}
}

func (g *generator) drop(d *document) {
	if len(d.members) > 0 {
		at := g.r.IntN(len(d.members))
		d.members = append(d.members[:at], d.members[at+1:]...)
	}
}

// double has a member stand twice, with the same value or with another.
func (g *generator) double(d *document) {
	if len(d.members) == 0 {
		return
	}
	m := d.members[g.r.IntN(len(d.members))]
	if g.chance(60) {
		m.value = g.word(g.value(3), quote(g.uuid()), `"message"`, "{}", "null")
	}
	at := g.r.IntN(len(d.members) + 1)
	d.members = append(d.members[:at], append([]member{m}, d.members[at:]...)...)
}

// retype gives a member a value of another type.
func (g *generator) retype(d *document) {
	name := g.word("id", "kind", "payload")
	at := d.at(name)
	if at < 0 {
		return
	}
	was := d.members[at].value
	values := []string{"null", "true", "false", "0", "1", "7", "[]", "[" + was + "]", `["a","b"]`, `{"` + name + `":` + was + "}", "{" + was + ":null}", "{" + was + ":{}}", `""`, `"text"`, quote(was), "[{}]", "1e400"}
	if name != "payload" {
		values = append(values, "{}")
	} else {
		values = append(values, `"{}"`)
	}
	d.members[at].value = g.word(values...)
}

// rename writes a member's name a little differently.
func (g *generator) rename(d *document) {
	if len(d.members) == 0 {
		return
	}
	at := g.r.IntN(len(d.members))
	name := d.members[at].name
	if name == "" {
		return
	}
	other := g.word(strings.ToUpper(name), strings.ToUpper(name[:1])+name[1:], name+" ", " "+name, "_"+name, name+"_", name[:len(name)-1], strings.ReplaceAll(name, "k", "\u212a"), name+"\x00", g.flip(name))
	if g.chance(25) { // beside the right one
		d.add(other, g.word(quote(g.uuid()), `"message"`, "null", "{}"))
		return
	}
	d.members[at].name = other
}

// flip changes the case of one letter.
func (g *generator) flip(name string) string {
	runes := []rune(name)
	at := g.r.IntN(len(runes))
	runes[at] = unicode.ToUpper(runes[at])
	return string(runes)
}

// changeID writes the id in another form, of another version, or not as an id at all.
func (g *generator) changeID(d *document) {
	at := d.at("id")
	if at < 0 {
		return
	}
	id := g.id
	digit := string("0123456789abcdef"[g.r.IntN(16)])
	d.members[at].value = quote(g.word(
		"00000000-0000-0000-0000-000000000000", id[:14]+digit+id[15:], id[:14]+g.word("1", "7", "3", "5")+id[15:], id[:19]+digit+id[20:], id[:19]+g.word("1", "c", "f", "7")+id[20:],
		strings.ToUpper(id), "{"+id+"}", "urn:uuid:"+id, strings.ReplaceAll(id, "-", ""), id+"0", id[:35], id[:35]+"g", id+" ", "", "not a uuid", strings.ReplaceAll(id, "-", "_"), "ffffffff-ffff-ffff-ffff-ffffffffffff", id+id))
}

// extend adds members that the envelope does not define.
func (g *generator) extend(d *document) {
	d.add(g.word("from", "to", "v", "ts", "priority", "ID", "Kind", "kInD", "idx", "", "payloads", g.plainText(6)), g.word(g.value(2), `"ed25519.00000000000000000000000000000000"`, "null"))
}

// refer gives the envelope an odd ref.
func (g *generator) refer(d *document) {
	value := g.word(`""`, `"not a uuid"`, "7", "{}", "[]", "true", `"00000000-0000-0000-0000-000000000000"`, quote(strings.ToUpper(g.uuid())), quote("{"+g.uuid()+"}"), `"`+g.id[:14]+"1"+g.id[15:]+`"`)
	if at := d.at("ref"); at >= 0 {
		d.members[at].value = value
		return
	}
	d.add("ref", value)
}

// reshape replaces the object.
func (g *generator) reshape(d *document) {
	whole := string(d.bytes(g))
	var values []string
	for _, m := range d.members {
		values = append(values, m.value)
	}
	d.whole = g.word("["+strings.Join(values, ",")+"]", "["+whole+"]", "["+whole+","+whole+"]", quote(whole), quote(g.id), "null", "true", "7", "[]", "{}", `""`, `{"envelope":`+whole+"}", g.value(0))
}
