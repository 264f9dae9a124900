// Command axon is the reference daemon and its command line.
package main

import (
	"context"
	"os"

	"github.com/axonproto/axon/impl/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
