package mutants

// draftMutants are those that `axon-conformance new` has begun, and nobody has written
// yet. A finished one moves to the table of its sort, without Draft.
func draftMutants() []Mutant {
	return []Mutant{
		// New drafts go above this line.
	}
}
