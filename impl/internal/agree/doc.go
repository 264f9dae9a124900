// Package agree holds tests alone, which read the same bytes with the daemon's reader,
// the suite's and the JSON Schema. The three were written apart, and here is the one
// place where they meet: what one of them reads in its own way is a mistake of one.
package agree
