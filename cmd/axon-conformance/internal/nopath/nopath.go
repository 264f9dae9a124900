// Package nopath keeps PATH empty while the other packages of the program are
// initialised.
//
// One of godog's packages starts "go env" in its initialisation, in every program
// that is linked with it: that costs each command some milliseconds, leaves files
// in HOME, and may even download a toolchain when the working directory asks for
// another Go. With no PATH it finds no go command and goes on without.
//
// Packages are initialised in the order of their import paths as far as their
// imports allow, so that this one, which imports os alone, comes before godog's.
// A test of the program shows that it does.
package nopath

import "os"

var path, set = os.LookupEnv("PATH")

func init() { os.Unsetenv("PATH") } //nolint:errcheck // it cannot fail for this name

// Restore gives PATH back. The program calls it first thing.
func Restore() {
	if set {
		os.Setenv("PATH", path) //nolint:errcheck // it was there before
	}
}
