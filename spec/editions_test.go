package spec

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestEditionsHoldTheText: no sentence of messages.md and transport.md without an
// edition, and none that is not as its editions have it.
func TestEditionsHoldTheText(t *testing.T) {
	list, err := loadEditions(editionFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range checkEditions(list, Requirements()) {
		t.Error(err)
	}
	names := Editions()
	if len(names) == 0 || names[len(names)-1] != Edition {
		t.Errorf("the editions are %v, and the newest is not %s", names, Edition)
	}
}

func TestInEdition(t *testing.T) {
	for _, r := range Requirements() {
		if !r.Withdrawn && !InEdition(Edition, r) {
			t.Errorf("%s is not part of %s", r.ID, Edition)
		}
		if got := InEdition("2020-01-01", r); got == slices.Contains(frozenFiles, r.File) {
			t.Errorf("%s of %s: %t for an edition that there is not", r.ID, r.File, got)
		}
	}
}

func TestCheckEditionsBites(t *testing.T) {
	list, err := loadEditions(fstest.MapFS{
		"editions/2026-01-01.txt": {Data: []byte("# one\nAXON-KIND-001 MUST\nAXON-KIND-009 MUST\n\nAXON-KIND-002 SHOULD\nAXON-IPC-001 MUST\n")},
		"editions/2027-01-01.txt": {Data: []byte("AXON-KIND-001 MUST\nAXON-KIND-003 MUST\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, err := range checkEditions(list, []Requirement{
		{ID: "AXON-KIND-001", Level: Must, File: "messages.md"},
		{ID: "AXON-KIND-002", Level: Must, File: "messages.md"},
		{ID: "AXON-KIND-003", Level: Must, File: "messages.md", Withdrawn: true},
		{ID: "AXON-KIND-004", Level: Must, File: "messages.md", Line: 7},
		{ID: "AXON-IPC-001", Level: Must, File: "ipc.md"},
		{ID: "AXON-IPC-002", Level: Must, File: "ipc.md"},
	}) {
		got = append(got, err.Error())
	}
	for i, want := range []string{
		"editions/2026-01-01.txt: AXON-IPC-001 stands in ipc.md",
		"editions/2026-01-01.txt: AXON-KIND-002 is SHOULD there and MUST in messages.md",
		"editions/2026-01-01.txt: AXON-KIND-009 is no sentence",
		"messages.md:7: AXON-KIND-004 is in no edition",
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("got %q, want one that begins %q", got, want)
		}
	}
	if len(got) != 4 {
		t.Errorf("got %d problems: %q", len(got), got)
	}
}

func TestMalformedEditions(t *testing.T) {
	for text, want := range map[string]string{
		"AXON-KIND-1 MUST":                       "is not an id and a level",
		"AXON-KIND-001":                          "is not an id and a level",
		"AXON-KIND-001 must":                     "is not an id and a level",
		"AXON-KIND-001 MUST\nAXON-KIND-001 MUST": "2026-01-01.txt:2: AXON-KIND-001 stands twice",
		"# nothing":                              "holds no sentence",
	} {
		if _, err := loadEditions(fstest.MapFS{"editions/2026-01-01.txt": {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, err := loadEditions(fstest.MapFS{"editions/newest.txt": {Data: []byte("AXON-KIND-001 MUST")}}); err == nil || !strings.Contains(err.Error(), "by its date") {
		t.Errorf("got %v", err)
	}
}
