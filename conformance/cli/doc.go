// Package cli is the command line of axon-conformance: it turns arguments into
// the suite's options, shows progress, writes reports, starts the bundled daemon
// and maps every outcome to an exit code. It judges nothing.
//
// It imports conformance, harness/credential, harness/control, harness/lan and spec;
// never impl: the daemon that a run without --target meets is a child process whose command the
// program's main hands in.
//
// What a command prints: results go to standard output, everything else (what
// happens meanwhile, errors) to standard error. An error is one line that starts
// with the program's name and ends in what to do next.
package cli
