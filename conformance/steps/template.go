package steps

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/axonproto/axon/harness/wire"
)

var (
	placeholder = regexp.MustCompile(`«([^«»]+)»`)
	filler      = regexp.MustCompile(`«([^«» ]+) to ([\d,]+) bytes»`)
)

// expand replaces the placeholders of a feature file's bytes:
//
//	«id»           the id of this exchange, the same each time
//	«id in upper case», «id without hyphens»
//	«id of version 7», «id of variant c»   the id with another digit in that place
//	«other id»     another fresh id, new each time
//	«request»      a whole request with «id»
//	«message»      a whole message with «id»
//	«my agent id»  the suite's Agent ID
//	«target», «peer», «peer key», «peer token», «peer address», «request id»
//	               of the target, of the latest peer, of the last request
//	«target key», «peer in upper case», «fresh key» (of nobody), «sent id» (the last
//	               that the probe sent), «received id» and «written id» (the last that
//	               the peer received, and wrote)
//	«folder», «state root», «port», «free port», «daemon pid», «beginning of peer»,
//	«beginning of both»   of a scenario at the command line: see commandwords.go
//	«hex 00 ff»    those bytes
//	«hex 00 ff, N times»   those bytes, N times over
//	«N spaces»     N spaces
//	«N times TEXT» TEXT, N times over
//	«TEXT to N bytes» TEXT as often as brings the whole body to N bytes, with x for
//	               what is left over; once in a body
//	«utf16 TEXT»   TEXT, in which ID stands for the id, as UTF-16 with a byte order mark
func (s *Scenario) expand(text, id string) ([]byte, error) {
	if m := filler.FindStringSubmatchIndex(text); m != nil {
		size, err := number(text[m[4]:m[5]])
		if err != nil {
			return nil, err
		}
		unit := text[m[2]:m[3]]
		if unit == "spaces" {
			unit = " "
		}
		around, err := s.expand(text[:m[0]]+text[m[1]:], id)
		if err != nil {
			return nil, err
		}
		if missing := size - len(around); missing >= 0 {
			text = text[:m[0]] + strings.Repeat(unit, missing/len(unit)) + strings.Repeat("x", missing%len(unit)) + text[m[1]:]
		}
	}
	var bad error
	out := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := strings.Trim(match, "«»")
		value, err := s.placeholder(name, id)
		if err != nil {
			bad = err
		}
		return value
	})
	return []byte(out), bad
}

func (s *Scenario) placeholder(name, id string) (string, error) {
	if value, known := s.localPlaceholder(name); known {
		return value, nil
	}
	if value, known := s.commandPlaceholder(name); known {
		return value, nil
	}
	word, rest, _ := strings.Cut(name, " ")
	switch {
	case name == "id":
		return id, nil
	case name == "id in upper case":
		return strings.ToUpper(id), nil
	case name == "id without hyphens":
		return strings.ReplaceAll(id, "-", ""), nil
	case len(name) == len("id of version 1") && strings.HasPrefix(name, "id of version "):
		return id[:14] + name[len(name)-1:] + id[15:], nil
	case len(name) == len("id of variant c") && strings.HasPrefix(name, "id of variant "):
		return id[:19] + name[len(name)-1:] + id[20:], nil
	case name == "other id":
		return wire.NewID(), nil
	case name == "request", name == "message":
		return string(plain(name, id)), nil
	case name == "my agent id":
		return s.Target.Identity.AgentID(), nil
	case word == "hex":
		digits, count, several := strings.Cut(rest, ", ")
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if !several || err != nil {
			return string(b), err
		}
		n, err := strconv.Atoi(strings.TrimSuffix(count, " times"))
		if err != nil || n < 0 || n > 1<<20 {
			return "", fmt.Errorf("«%s»: write «hex 00 ff, 20 times»", name)
		}
		return strings.Repeat(string(b), n), nil
	case word == "utf16":
		units := utf16.Encode([]rune("\ufeff" + strings.ReplaceAll(rest, "ID", id)))
		b := make([]byte, 0, 2*len(units))
		for _, u := range units {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b), nil
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 0 && n <= 1<<20 {
		if rest == "spaces" {
			return strings.Repeat(" ", n), nil
		}
		if unit, ok := strings.CutPrefix(rest, "times "); ok {
			return strings.Repeat(unit, n), nil
		}
	}
	return "", fmt.Errorf("there is no placeholder «%s»: see the list at steps.expand", name)
}

// plain is an ordinary envelope of a kind.
func plain(kind, id string) []byte {
	return wire.Outgoing{ID: id, Kind: kind, Payload: `{"from_probe":true}`}.Bytes()
}

// member is one name and raw value of an envelope that is built by hand.
type member struct{ name, value string }

// envelopeOf writes members in their order, which wire.Outgoing cannot vary.
func envelopeOf(members []member) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(m.name) + ":" + m.value)
	}
	b.WriteByte('}')
	return []byte(b.String())
}

// with returns an envelope of a kind whose member has another raw value, or which
// lacks it when value is empty.
func with(kind, id, name, value string) []byte {
	members := []member{{"id", strconv.Quote(id)}, {"kind", strconv.Quote(kind)}, {"payload", `{"from_probe":true}`}}
	found := false
	kept := members[:0]
	for _, m := range members {
		if m.name == name {
			found = true
			if value == "" {
				continue
			}
			m.value = value
		}
		kept = append(kept, m)
	}
	if !found && value != "" {
		kept = append(kept, member{name, value})
	}
	return envelopeOf(kept)
}
