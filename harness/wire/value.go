package wire

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

func (e *SyntaxError) Error() string { return e.Problem }

// MaxDepth is how deep arrays and objects may be nested.
const MaxDepth = 20000

// Parse reads exactly one JSON value (RFC 8259) with nothing but JSON white
// space around it. It refuses a byte order mark, invalid UTF-8 and nesting
// beyond MaxDepth. Errors are *SyntaxError.
func Parse(b []byte) (Value, error) { return Value{}, nil }

// ParsePrefix reads the first JSON value and returns what follows it, white
// space included.
func ParsePrefix(b []byte) (v Value, rest []byte, err error) { return Value{}, nil, nil }

// Get returns the last member of exactly that name, and how many there are. A
// value that is no object has none.
func (v Value) Get(name string) (Value, int) { return Value{}, 0 }

// Equal tells whether a and b are the same JSON value: numbers by their
// mathematical value (-0 is 0), strings by their decoded text, objects without
// regard to the order of different names, the values of a name that stands
// more than once in their order.
func Equal(a, b Value) bool { return false }
