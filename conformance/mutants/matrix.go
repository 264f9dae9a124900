package mutants

import (
	"fmt"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/report"
)

// The sorts of peer.
const (
	SortMutant = "mutant"
	SortOddity = "oddity"
)

// Row is what the suite made of one peer.
type Row struct {
	Name string `json:"name"`
	// Sort is SortMutant or SortOddity.
	Sort string `json:"sort"`
	What string `json:"what"`
	// MadeFor are the requirements that must be failed; for an oddity those that
	// must warn.
	MadeFor []string `json:"made_for"`
	// FailedBy are all that were failed or warned.
	FailedBy []string `json:"failed_by"`
	// Collateral are those among them that the fault does not break.
	Collateral []string `json:"collateral"`
	// OwnReason: each requirement in MadeFor was failed for the fault's own reason.
	OwnReason bool `json:"own_reason"`
	ExitCode  int  `json:"exit_code"`
	// Problems say what the suite got wrong; none means that all is well.
	Problems []string `json:"problems"`
	// FirstLook are the problems of a first look that a second one did not have, or had
	// again.
	FirstLook []string `json:"first_look,omitempty"`
	// Seen is what the checks of MadeFor saw, each with its place.
	Seen []string `json:"seen"`
	// NotRun is why the suite was not let loose on the peer; empty: it was.
	NotRun string `json:"not_run,omitempty"`
	// Took is Duration in milliseconds.
	Took     int64         `json:"duration_ms"`
	Duration time.Duration `json:"-"`

	undeserved []string
}

func (r *Row) saw(q report.Requirement) {
	for _, text := range reasons(q) {
		r.Seen = append(r.Seen, q.ID+" "+text)
	}
}

// Matrix is the outcome of a self test.
type Matrix struct {
	Rows     []Row
	Duration time.Duration
}

// Problems are all that the suite got wrong, each a sentence that begins with the
// peer's name.
func (m Matrix) Problems() []string {
	var list []string
	for _, r := range m.Rows {
		for _, p := range r.Problems {
			list = append(list, r.Name+": "+p)
		}
	}
	return list
}

// Text is the matrix for people. Verbose adds what was seen.
func (m Matrix) Text(verbose bool) string {
	var b strings.Builder
	width := len("peer")
	for _, r := range m.Rows {
		width = max(width, len(r.Name))
	}
	fmt.Fprintf(&b, "%-*s  %-8s %6s  %s\n", width, "peer", "outcome", "time", "failed by (a star marks what it is made for)")
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "%-*s  %-8s %5.1fs  %s\n", width, r.Name, r.Outcome(), r.Duration.Seconds(), r.requirements())
		if verbose {
			fmt.Fprintf(&b, "    %s\n", r.What)
			for _, s := range r.Seen {
				fmt.Fprintf(&b, "    %s\n", s)
			}
		}
		if r.NotRun != "" {
			fmt.Fprintf(&b, "    %s\n", r.NotRun)
		}
		if verbose || r.Sort == SortOddity {
			for _, p := range r.FirstLook {
				fmt.Fprintf(&b, "    ~ at the first look: %s\n", p)
			}
		}
		for _, p := range r.Problems {
			fmt.Fprintf(&b, "    ! %s\n", p)
		}
	}
	return b.String()
}

// Outcome is one word: caught, survived, blamed or passed.
func (r Row) Outcome() string {
	switch {
	case r.NotRun != "":
		return "not run"
	case r.Sort == SortOddity && len(r.Problems) == 0:
		return "passed"
	case r.Sort == SortOddity:
		return "BLAMED"
	case len(r.Problems) == 0:
		return "caught"
	case len(r.FailedBy) == 0:
		return "SURVIVED"
	}
	return "WRONG"
}

func (r Row) requirements() string {
	var words []string
	for _, id := range r.FailedBy {
		short := strings.TrimPrefix(id, "AXON-")
		for _, made := range r.MadeFor {
			if made == id {
				short += "*"
			}
		}
		words = append(words, short)
	}
	return strings.Join(words, " ")
}
