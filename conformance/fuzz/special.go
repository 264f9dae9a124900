package fuzz

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// special is one certain thing about an envelope that is otherwise plain. Chance alone
// would meet each of them too seldom.
type special func(r *rand.Rand, d draft) string

// specials are the certain things, each as likely as any other.
var specials = slices.Concat(
	values(`"id"`, `null`, `7`, `""`, `"x"`, `true`, `["«id»"]`, `{"id":"«id»"}`, `"00000000-0000-0000-0000-000000000000"`, `"ffffffff-ffff-ffff-ffff-ffffffffffff"`,
		`"«id in upper case»"`, `"«id without hyphens»"`, `"{«id»}"`, `"urn:uuid:«id»"`, `"«id»0"`, `" «id»"`, `"«id» "`, `"«id»\u0000"`, `"g0000000-0000-4000-8000-000000000000"`,
		`"«id of version 1»"`, `"«id of version 3»"`, `"«id of version 5»"`, `"«id of version 7»"`, `"«id of variant 0»"`, `"«id of variant c»"`, `"«id of variant f»"`),
	values(`"kind"`, `null`, `0`, `1`, `true`, `["request"]`, `{"request":null}`, `""`, `" "`, `"future"`, `"unknown"`, `"Unknown"`, `"REQUEST"`, `"Request"`, `"request "`, `"requests"`, `"null"`, `"hello"`, `"ping"`,
		`"\u0000"`, `"наука"`, `"«1000 times k»"`, `"«300 times 😀»"`, `"req\u0075est"`, `"response"`, `"error"`, `"message"`),
	values(`"payload"`, `null`, `false`, `7`, `"text"`, `"{}"`, `[]`, `[{}]`, `{}`, `{"":""}`, `{"a":1,"a":2}`, `{"t":"\ud800"}`, `{"t":"\u0000"}`, `{"n":1e400}`, `{"n":-0}`, `{"n":18446744073709551617}`, `{"n":1«400 times 0»}`,
		`{"id":1,"kind":null,"payload":[],"ref":"x"}`, `{"t":"«170 times a»«60 times é»"}`, `{"t":"«60000 times x»"}`, `{"t":"«15000 times 😀»"}`, `{"a":[«5000 times {"":0},»{}]}`, `{"a":«99 times [»«99 times ]»}`, `«99 times {"a":»{}«99 times }»`,
		`{"a":«9000 times [»«9000 times ]»}`, `{"a":01}`, `{"a":+1}`, `{"a":1.}`, `{"a":.5}`, `{"a":0x10}`, `{"a":NaN}`, `{"a":Infinity}`, `{"a":True}`, `{"a":1,}`, `{"a":[1,]}`, `{"t":"\x41"}`, `{"t":"\u12"}`, `{"t":"a«hex 0a»b"}`, `{"t":"a«hex 09»b"}`, `{"t":"«hex 00»"}`,
		`{"t":"«hex ff»"}`, `{"t":"«hex c0 af»"}`, `{"t":"«hex ed a0 80»"}`, `{"t":"«hex e2 82»"}`, `{"t":"«hex f4 90 80 80»"}`, `{"«hex fe»":1}`, `{'t':1}`, `{t:1}`, `{"domain":7}`, `{"domain":""}`, `{"cmd":"shutdown"}`),
	values(`"ref"`, `null`, `"«other id»"`, `"«id»"`, `""`, `7`, `{}`, `"x"`, `"00000000-0000-0000-0000-000000000000"`),
	names(`"id"`, `"ID"`, `"Id"`, `"id "`, `" id"`, `"_id"`, `"\u0069d"`, `"uuid"`, `"i\u0064"`, `id`, `'id'`),
	names(`"kind"`, `"KIND"`, `"Kind"`, `"kind "`, `"_kind"`, `"type"`, `"\u212aind"`, `"k\u0069nd"`),
	names(`"payload"`, `"PAYLOAD"`, `"Payload"`, `"payload "`, `"_payload"`, `"body"`, `"p\u0061yload"`),
	around("", "x", "", "}", "", "{}", "", "«hex 00»", "«hex 00»", "", "«hex ef bb bf»", "", "", "«request»", "", "«hex 0a»«request»", "", " ok", "", "null", "", ",", "", "7", "", "«hex ff»", "7", "", "null", "", ",", "", "x", "",
		"[", "]", `"`, `"`, `{"axon":`, "}", "/*c*/", "", "", "//c", "", "#", "«200 spaces»", "«200 spaces»", "«hex 0d 0a 09»", "«hex 0d 0a 09»", "«hex c2 a0»", "", "", "«hex 0b»", "", "«hex 0c»", "«hex 1e»", ""),
	[]special{
		func(r *rand.Rand, d draft) string { return strings.TrimSuffix(d.write(r), "}") },
		func(r *rand.Rand, d draft) string { return d.array() },
		func(r *rand.Rand, d draft) string { return halfOf(d.write(r)) },
		func(r *rand.Rand, d draft) string { return strings.ReplaceAll(d.write(r), `"`, "'") },
		func(r *rand.Rand, d draft) string { return strings.Replace(d.write(r), ":", "", 1) },
		func(r *rand.Rand, d draft) string { return strings.Replace(d.write(r), ",", "", 1) },
		func(r *rand.Rand, d draft) string { return strings.Replace(d.write(r), "}", ",}", 1) },
		func(r *rand.Rand, d draft) string { return fill(r, d.write(r)) },
		func(*rand.Rand, draft) string { return "" },
		func(*rand.Rand, draft) string { return "{}" },
		func(*rand.Rand, draft) string { return "[«request»,«request»]" },
		func(r *rand.Rand, d draft) string { return append(d, member{`"ID"`, `"«other id»"`}).write(r) },
		func(r *rand.Rand, d draft) string { return append(draft{{`"ID"`, `"«other id»"`}}, d...).write(r) },
		func(*rand.Rand, draft) string { return "«hex 20 0a»" },
		func(*rand.Rand, draft) string { return "«100000 times [»" },
		func(*rand.Rand, draft) string {
			return `{"id":"«id»","kind":"request","payload":«30000 times {"a":»`
		},
		func(*rand.Rand, draft) string { return `«utf16 {"id":"ID","kind":"request","payload":{}}»` },
	},
	without(`"id"`, `"kind"`, `"payload"`),
	twice(`"id"`, `"kind"`, `"payload"`),
	further("from", "to", "v", "ts", "ID", "Kind", "priority", ""),
)

func halfOf(body string) string {
	list := atoms(body)
	return strings.Join(list[:len(list)/2], "")
}

// values puts each of them in the place of a member's.
func values(name string, list ...string) (all []special) {
	for _, v := range list {
		all = append(all, func(r *rand.Rand, d draft) string {
			for i := range d {
				if d[i].name == name {
					d[i].value = v
					return d.write(r)
				}
			}
			return append(d, member{name, v}).write(r)
		})
	}
	return all
}

// names gives a member each of the names.
func names(name string, list ...string) (all []special) {
	for _, other := range list {
		all = append(all, func(r *rand.Rand, d draft) string {
			for i := range d {
				if d[i].name == name {
					d[i].name = other
				}
			}
			return d.write(r)
		})
	}
	return all
}

// around puts each pair of texts before and behind the whole.
func around(pairs ...string) (all []special) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, func(r *rand.Rand, d draft) string { return pairs[i] + d.write(r) + pairs[i+1] })
	}
	return all
}

func without(list ...string) (all []special) {
	for _, name := range list {
		all = append(all, func(r *rand.Rand, d draft) string {
			return slices.DeleteFunc(d, func(m member) bool { return m.name == name }).write(r)
		})
	}
	return all
}

func twice(list ...string) (all []special) {
	for _, name := range list {
		all = append(all, func(r *rand.Rand, d draft) string {
			for _, m := range d {
				if m.name == name {
					return append(d, m).write(r)
				}
			}
			return d.write(r)
		})
	}
	return all
}

func further(list ...string) (all []special) {
	for _, name := range list {
		all = append(all, func(r *rand.Rand, d draft) string { return append(d, member{`"` + name + `"`, value(r, 1)}).write(r) })
	}
	return all
}

// array is an envelope without its names.
func (d draft) array() string {
	var parts []string
	for _, m := range d {
		parts = append(parts, m.value)
	}
	return "[" + strings.Join(parts, ",") + "]"
}
