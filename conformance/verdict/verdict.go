// Package verdict names the outcomes of a check and the errors by which a step
// reaches one. It imports nothing of ours, so that steps, suite and reports all
// mean the same by a word.
package verdict

import "fmt"

// Verdict is the outcome of a scenario or of a requirement.
type Verdict string

const (
	// Pass: the check ran and what the sentence demands holds.
	Pass Verdict = "pass"
	// Fail: a MUST is broken.
	Fail Verdict = "fail"
	// Warn: a SHOULD is broken.
	Warn Verdict = "warn"
	// Observed: an ADVISORY was looked at; the reason says what was seen.
	Observed Verdict = "observed"
	// NotApplicable: the target does not offer what the check needs.
	NotApplicable Verdict = "not-applicable"
	// CouldNotRun: a precondition broke, for instance the target went away.
	CouldNotRun Verdict = "could-not-run"
	// HarnessError: the suite itself is at fault.
	HarnessError Verdict = "harness-error"
)

// All lists the verdicts from the best to the worst; NotApplicable comes first,
// because it says nothing about the target.
func All() []Verdict {
	return []Verdict{NotApplicable, Pass, Observed, Warn, CouldNotRun, Fail, HarnessError}
}

// rank orders verdicts so that the worst of several can be taken.
func (v Verdict) rank() int {
	for i, w := range All() {
		if v == w {
			return i
		}
	}
	return len(All())
}

// Worst is the verdict of a whole whose parts have the given ones: a harness
// error outweighs a failure, a failure outweighs what could not run, and what is
// not applicable counts only when nothing else is there. Of no parts it is
// NotApplicable.
func Worst(parts ...Verdict) Verdict {
	worst := NotApplicable
	for _, p := range parts {
		if p.rank() > worst.rank() {
			worst = p
		}
	}
	return worst
}

// ForLevel turns the outcome of a check into the verdict for a requirement of a
// level: a failed check of a SHOULD is a Warn, of an ADVISORY an Observed, and a
// passed check of an ADVISORY is an Observed as well.
func (v Verdict) ForLevel(level string) Verdict {
	switch {
	case level == "ADVISORY" && (v == Pass || v == Fail || v == Warn):
		return Observed
	case level == "SHOULD" && v == Fail:
		return Warn
	case level == "MUST" && v == Warn:
		return Fail
	}
	return v
}

// Failure is the error of a step that saw the target break a sentence.
type Failure struct {
	// Expected and Actual say what should have been seen and what was.
	Expected, Actual string
	// Connection and Stream name the place in the trace; Connection 0 means
	// none, Stream -1 the connection as a whole.
	Connection int
	Stream     int64
	// Requirements narrows the failure to some of the scenario's requirement
	// ids; empty means all of them.
	Requirements []string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("expected %s, but %s", f.Expected, f.Actual)
}

// Inapplicable is the error of a step that needs what the target does not offer.
type Inapplicable struct {
	// Need is the missing capability, such as "drive"; it may be empty when the
	// reason is of another kind.
	Need string
	// Reason is a sentence for people.
	Reason string
}

func (n *Inapplicable) Error() string { return n.Reason }

// Blocked is the error of a step whose precondition broke.
type Blocked struct {
	// Reason says what broke and, where that is known, what to do about it.
	Reason string
	// Err is the cause, if there is one.
	Err error
}

func (b *Blocked) Error() string {
	if b.Err != nil {
		return b.Reason + ": " + b.Err.Error()
	}
	return b.Reason
}

func (b *Blocked) Unwrap() error { return b.Err }
