package report

import (
	"fmt"
	"strings"
)

// judgement is the whole report in a word and a sentence, for formats in which
// there is no command line to point at.
type judgement struct {
	word string
	// tone is good, bad, open or fault.
	tone     string
	sentence string
	// scope says what the judgement covers.
	scope string
}

func judge(r Report) judgement {
	must, should := r.Summary.Must, r.Summary.Should
	all := must.plus(should).plus(r.Summary.Advisory)
	var parts []string
	j := judgement{scope: scope(r)}
	if word, tone, text := expected(r); word != "" {
		j.word, j.tone, j.sentence = word, tone, text
		return j
	}
	switch r.ExitCode {
	case ExitConformant:
		j.word, j.tone = "Conformant", "good"
		switch {
		case must.Pass > 0:
			parts = append(parts, fmt.Sprintf("every MUST that applies holds (%d)", must.Pass))
		default:
			parts = append(parts, "nothing that was checked is broken")
		}
		if should.Warn > 0 {
			parts = append(parts, count(should.Warn, "SHOULD is", "SHOULDs are")+" broken, which is allowed")
		} else if should.Pass > 0 {
			parts = append(parts, fmt.Sprintf("and so does every SHOULD (%d)", should.Pass))
		}
	case ExitBroken:
		j.word, j.tone = "Not conformant", "bad"
		if must.Fail > 0 {
			parts = append(parts, count(must.Fail, "MUST is", "MUSTs are")+" broken")
		}
		if r.Strict && should.Warn > 0 {
			parts = append(parts, count(should.Warn, "SHOULD is", "SHOULDs are")+" broken, which counts here")
		}
		if all.CouldNotRun > 0 {
			parts = append(parts, fmt.Sprintf("%d more could not be judged", all.CouldNotRun))
		}
	case ExitIncomplete:
		j.word, j.tone = "Incomplete", "open"
		if all.CouldNotRun == 0 {
			parts = append(parts, "no check saw the target do anything, so nothing is shown either way")
		} else {
			parts = append(parts, count(all.CouldNotRun, "requirement", "requirements")+" could not be judged, and none failed")
		}
	case ExitHarnessError:
		j.word, j.tone = "Fault of the suite", "fault"
		parts = append(parts, "the suite itself went wrong in "+count(all.HarnessError, "requirement", "requirements")+
			", so nothing is shown about that; please report it with the JSON report")
	default:
		j.word, j.tone = "Unknown", "fault"
		parts = append(parts, "the report has an exit code that this program does not know")
	}
	j.sentence = strings.Join(parts, ", ")
	return j
}

// scope says how many requirements the report judges, and how many it does not.
func scope(r Report) string {
	all := r.Summary.Must.plus(r.Summary.Should).plus(r.Summary.Advisory)
	judged := all.Sum() - all.NotApplicable - all.CouldNotRun - all.HarnessError
	text := fmt.Sprintf("%d of %s judged", judged, count(all.Sum(), "requirement", "requirements"))
	if all.NotApplicable > 0 {
		text += "; " + count(all.NotApplicable, "does", "do") + " not apply to what this target offers"
	}
	return text
}

// expected words the outcome of a run that was held against a baseline, where the
// baseline has a part in it; the word is empty where it has none.
func expected(r Report) (word, tone, sentence string) {
	b := r.Baseline
	if b == nil || b.Known == 0 && len(b.Problems) == 0 {
		return "", "", ""
	}
	broken := func(n int, how string) string {
		return count(n, "requirement is ", "requirements are ") + how
	}
	var parts []string
	if b.New > 0 {
		parts = append(parts, broken(b.New, "newly broken"))
	}
	if b.Known > 0 && r.ExitCode == ExitConformant {
		return "As expected", "open", broken(b.Known, "broken, as the baseline says, and nothing else is")
	}
	if b.Known > 0 {
		parts = append(parts, count(b.Known, "known one is", "known ones are")+" still broken")
	}
	if n := len(b.Problems); n > 0 {
		parts = append(parts, count(n, "entry of the baseline does", "entries of the baseline do")+" not hold any more")
	}
	all := r.Summary.Must.plus(r.Summary.Should).plus(r.Summary.Advisory)
	if all.CouldNotRun > 0 {
		parts = append(parts, fmt.Sprintf("%d could not be judged", all.CouldNotRun))
	}
	switch {
	case r.ExitCode == ExitBroken && b.New > 0:
		word, tone = "Not conformant", "bad"
	case r.ExitCode == ExitBroken:
		word, tone = "Baseline out of date", "bad"
	case r.ExitCode == ExitIncomplete:
		word, tone = "Incomplete", "open"
	default:
		return "", "", ""
	}
	return word, tone, strings.Join(parts, ", ")
}
