package main

import (
	"io/fs"

	"github.com/axonproto/axon/conformance/cli"
	"github.com/axonproto/axon/conformance/mutants"
	"github.com/axonproto/axon/conformance/suite"
)

// coverage tells the suite which broken peers there are.
func coverage(features fs.FS) (cli.Coverage, error) {
	madeFor := map[string][]string{}
	for _, m := range mutants.Mutants() {
		if !m.Draft {
			madeFor[m.Name] = m.For
		}
	}
	text, holes, err := suite.Coverage(features, madeFor)
	return cli.Coverage{Text: text, Holes: holes}, err
}

func listMutants() []cli.Mutant {
	var list []cli.Mutant
	for _, m := range mutants.List() {
		list = append(list, cli.Mutant(m))
	}
	return list
}
