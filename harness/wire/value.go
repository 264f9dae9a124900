package wire

import "fmt"

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of JSON value. The zero Kind is none of them: the value is absent.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	names := [...]string{"absent", "null", "bool", "number", "string", "array", "object"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Value is one JSON value with the bytes that it came from.
type Value struct {
	Kind          Kind
	Bool          bool
	Number        string // the literal as it stood
	String        string // decoded; a lone surrogate escape is kept as its three WTF-8 bytes
	LoneSurrogate bool   // String holds such bytes
	Array         []Value
	Object        []Member // in order, duplicates included
	Raw           []byte   // exactly the bytes of this value, shared with the input
}

// Member is one name and its value in an object.
type Member struct {
	Name  string // decoded like Value.String
	Value Value
}

// SyntaxError says where and why bytes are not JSON.
type SyntaxError struct {
	Offset  int // of the first byte that cannot stand there; the input's length at its end
	Problem string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON at byte %d: %s", e.Offset, e.Problem)
}

// Get returns the last member of exactly that name, and how many there are. A
// value that is no object has none.
func (v Value) Get(name string) (Value, int) {
	var last Value
	count := 0
	for _, m := range v.Object {
		if m.Name == name {
			last = m.Value
			count++
		}
	}
	return last, count
}
