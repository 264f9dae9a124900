package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEmbeddedTextLoads(t *testing.T) {
	c, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.requirements) == 0 || len(c.sections) == 0 || len(c.seedLines) == 0 {
		t.Fatalf("nothing read: %d requirements, %d sections, %d seed lines", len(c.requirements), len(c.sections), len(c.seedLines))
	}
}

func TestEmbeddedIDs(t *testing.T) {
	form := regexp.MustCompile(`^AXON-[A-Z]+-\d{3}$`)
	seen := map[string]bool{}
	last := map[string]int{} // area → number
	ended := map[string]bool{}
	area := ""
	for _, r := range Requirements() {
		if !form.MatchString(r.ID) {
			t.Errorf("%s:%d: malformed id %q", r.File, r.Line, r.ID)
			continue
		}
		if seen[r.ID] {
			t.Errorf("%s:%d: %s stands twice", r.File, r.Line, r.ID)
		}
		seen[r.ID] = true
		a := r.ID[len("AXON-") : len(r.ID)-len("-000")]
		if a != area {
			if ended[a] {
				t.Errorf("%s:%d: area %s goes on after another area", r.File, r.Line, a)
			}
			ended[area] = true
			area = a
		}
		var n int
		fmt.Sscanf(r.ID[len(r.ID)-3:], "%d", &n)
		if n != last[a]+1 {
			t.Errorf("%s:%d: %s follows number %03d; numbers have no gaps, a withdrawn id stays listed", r.File, r.Line, r.ID, last[a])
		}
		last[a] = n
	}
}

// The published ids and levels: a change here needs a new id in place of an
// edit, since reports and expected-failure lists of others refer to them.
func TestPublishedLevels(t *testing.T) {
	want := map[string]string{ // area → one letter for each number: M, S, A
		"KIND": "MMMMMMMMM", "FWD": "MMMS", "ENV": "MMMMMMMMMMMMMMSA", "REF": "SMMMMMA",
		"STREAM": "MMMMMMMMMAM", "DEFERR": "MMMMMMMMM", "PAY": "MMMMMA", "ERRPAY": "SMMS",
		"LEARN": "AAAAAAA", "TLS": "MMMMMMMMMA", "LIMIT": "MMMSMMM",
	}
	got := map[string]string{}
	for _, r := range Requirements() {
		a := r.ID[len("AXON-") : len(r.ID)-len("-000")]
		got[a] += string(r.Level)[:1]
	}
	for a, levels := range want {
		if !strings.HasPrefix(got[a], levels) {
			t.Errorf("area %s has the levels %s, published are %s", a, got[a], levels)
		}
	}
}

func TestEmbeddedFieldsAreComplete(t *testing.T) {
	for _, r := range Requirements() {
		if r.Withdrawn {
			continue
		}
		if r.Text == "" || r.Why == "" || r.Fix == "" || len(r.Needs) == 0 || r.Section == "" || r.SectionTitle == "" || r.File == "" || r.Line == 0 {
			t.Errorf("%s:%d: %s is incomplete: %+v", r.File, r.Line, r.ID, r)
		}
		if (len(r.SeedLines) == 0) == (r.Source == "") {
			t.Errorf("%s:%d: %s needs either seed lines or a source", r.File, r.Line, r.ID)
		}
	}
}

func TestEachNormativeSeedLineIsCited(t *testing.T) {
	cited := map[int][]string{}
	for _, r := range Requirements() {
		if r.Withdrawn {
			continue
		}
		for _, n := range r.SeedLines {
			cited[n] = append(cited[n], r.ID)
		}
	}
	known := map[int]SeedLine{}
	normative := 0
	for _, l := range SeedLines() {
		known[l.Number] = l
		if l.Normative {
			normative++
			if len(cited[l.Number]) == 0 {
				t.Errorf("seed line %d is normative (%s) and no requirement cites it", l.Number, l.Note)
			}
		}
	}
	for n, ids := range cited {
		if _, ok := known[n]; !ok {
			t.Errorf("seed line %d is blank, cited by %v", n, ids)
		}
	}
	if len(known) != 119 || normative == 0 {
		t.Errorf("%d seed lines are listed, the seed has 119 that are not blank", len(known))
	}
}

func TestBindingRequirementsRestOnNormativeLines(t *testing.T) {
	var normative []int
	for _, l := range SeedLines() {
		if l.Normative {
			normative = append(normative, l.Number)
		}
	}
	for _, r := range Requirements() {
		if r.Level == Advisory || r.Source != "" || r.Withdrawn {
			continue
		}
		if !slices.ContainsFunc(r.SeedLines, func(n int) bool { return slices.Contains(normative, n) }) {
			t.Errorf("%s:%d: %s is %s and cites no normative line", r.File, r.Line, r.ID, r.Level)
		}
	}
}

func TestSections(t *testing.T) {
	var slugs []string
	for _, s := range Sections() {
		slugs = append(slugs, s.Slug)
	}
	want := []string{"kinds", "forward", "envelope", "ref", "streams", "default-error", "payloads", "learnability", "tls", "limits"}
	if len(slugs) < len(want) || !slices.Equal(slugs[:len(want)], want) {
		t.Errorf("sections are %v, want them to begin with %v", slugs, want)
	}
	for _, r := range Requirements() {
		if !slices.Contains(slugs, r.Section) {
			t.Errorf("%s is in the unlisted section %q", r.ID, r.Section)
		}
	}
}

func TestLookup(t *testing.T) {
	r, ok := Lookup("AXON-STREAM-007")
	if !ok || r.Level != Must || r.Section != "streams" || !slices.Equal(r.SeedLines, []int{79}) {
		t.Errorf("Lookup: %v %+v", ok, r)
	}
	if len(r.Needs) != 1 || !slices.Equal(r.Needs[0], []Need{Wire, Quiet}) {
		t.Errorf("needs: %v", r.Needs)
	}
	for _, id := range []string{"", "AXON-STREAM-999", "axon-stream-007", "AXON-STREAM-7"} {
		if _, ok := Lookup(id); ok {
			t.Errorf("Lookup(%q) found something", id)
		}
	}
}

func TestResultsAreCopies(t *testing.T) {
	rs := Requirements()
	for i := range rs {
		if len(rs[i].SeedLines) > 0 {
			rs[i].SeedLines[0] = -1
		}
		rs[i].Needs[0][0] = "changed"
		rs[i].ID = "changed"
	}
	SeedLines()[0].Number = -1
	Sections()[0].Slug = "changed"
	for _, r := range Requirements() {
		if r.ID == "changed" || r.Needs[0][0] == "changed" || slices.Contains(r.SeedLines, -1) {
			t.Fatalf("a caller changed %s", r.File)
		}
	}
	if SeedLines()[0].Number == -1 || Sections()[0].Slug == "changed" {
		t.Fatal("a caller changed the seed lines or sections")
	}
}
