// Package agreement holds the daemon's readers against those of the suite. The two
// were written apart so that they do not share a mistake; its tests see to it that
// they take and refuse the same bytes, and read the same from them.
//
// It has nothing but tests, and these are the only ones that may import both sides.
package agreement
