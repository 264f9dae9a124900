package wire

import (
	"math/big"
	"strings"
)

// Equal tells whether a and b are the same JSON value: numbers by their
// mathematical value (-0 is 0), strings by their decoded text, objects without
// regard to the order of different names, the values of a name that stands
// more than once in their order. Two absent values are equal.
func Equal(a, b Value) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Bool:
		return a.Bool == b.Bool
	case Number:
		return sameNumber(a.Number, b.Number)
	case String:
		return a.String == b.String
	case Array:
		if len(a.Array) != len(b.Array) {
			return false
		}
		for i := range a.Array {
			if !Equal(a.Array[i], b.Array[i]) {
				return false
			}
		}
		return true
	case Object:
		return sameMembers(a.Object, b.Object)
	default: // Absent, Null
		return true
	}
}

func sameMembers(a, b []Member) bool {
	if len(a) != len(b) {
		return false
	}
	values := make(map[string][]Value, len(b))
	for _, m := range b {
		values[m.Name] = append(values[m.Name], m.Value)
	}
	for _, m := range a {
		left := values[m.Name]
		if len(left) == 0 || !Equal(m.Value, left[0]) {
			return false
		}
		values[m.Name] = left[1:]
	}
	return true
}

// sameNumber compares two number literals exactly, whatever their size: each is
// brought to the form 0.DIGITS × 10^exponent, without zeros at either end of
// DIGITS, in which equal numbers are written alike.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	signA, digitsA, expA := normal(a)
	signB, digitsB, expB := normal(b)
	return signA == signB && digitsA == digitsB && expA.Cmp(expB) == 0
}

func normal(literal string) (negative bool, digits string, exponent *big.Int) {
	exponent = new(big.Int)
	literal, negative = strings.CutPrefix(literal, "-")
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		exponent.SetString(strings.TrimPrefix(literal[i+1:], "+"), 10)
		literal = literal[:i]
	}
	whole, fraction, _ := strings.Cut(literal, ".")
	digits = whole + fraction
	exponent.Add(exponent, big.NewInt(int64(len(whole))))
	stripped := strings.TrimLeft(digits, "0")
	exponent.Sub(exponent, big.NewInt(int64(len(digits)-len(stripped))))
	digits = strings.TrimRight(stripped, "0")
	if digits == "" {
		return false, "", new(big.Int)
	}
	return negative, digits, exponent
}
