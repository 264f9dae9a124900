package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/axonproto/axon/spec"
)

// aTree is a source tree with what new edits.
func aTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"spec/messages.md", "spec/ipc.md", "features/streams.feature", "features/ipc-lines.feature", draftsFile} {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func call(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(t.Context(), args, strings.NewReader(""), &o, &e, Env{})
	return code, o.String(), e.String()
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, readErr := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir+string(filepath.Separator))], err = string(text), readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestNew(t *testing.T) {
	dir := aTree(t)
	const sentence = "A stream is closed by who opened it."
	code, out, errOut := call(t, "new", "AXON-STREAM-942", sentence, "--section", "streams", "--seed-lines", "77,76", "--needs", "drive", "--dir", dir)
	if code != 0 || !strings.Contains(out, "spec/editions/DATE.txt") {
		t.Fatalf("exit %d\n%s%s", code, out, errOut)
	}
	all := contents(t, dir)
	reqs, err := spec.Parse("messages.md", []byte(all[filepath.Join("spec", "messages.md")]))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(reqs, func(r spec.Requirement) bool { return r.ID == "AXON-STREAM-942" })
	if at < 0 || reqs[at].Text != sentence || reqs[at].Section != "streams" || !slices.Equal(reqs[at].SeedLines, []int{76, 77}) {
		t.Errorf("the sentence is not in its place: %d", at)
	}
	if !strings.HasSuffix(all[filepath.Join("features", "streams.feature")], "\n\n  @AXON-STREAM-942 @drive\n  Scenario: To be written: A stream is closed by who opened it\n") {
		t.Error("the scenario is not at the end of its file")
	}
	if drafts := all[filepath.FromSlash(draftsFile)]; !strings.Contains(drafts, `Name: "draft-stream-942", Draft: true, For: ids("STREAM-942")`) {
		t.Errorf("the mutant was not begun:\n%s", drafts)
	}
	// A second one, of another file, which needs no edition.
	code, out, errOut = call(t, "new", "AXON-IPC-942", "An answer names its command.", "--level", "Should", "--section", "ipc-lines", "--dir", dir)
	if code != 0 || strings.Contains(out, "edition") {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
	if drafts := contents(t, dir)[filepath.FromSlash(draftsFile)]; strings.Count(drafts, "Draft: true") != 2 || strings.Count(drafts, draftMarker) != 1 {
		t.Errorf("got\n%s", drafts)
	}
}

// TestNewRefuses: nothing is changed by a mistake.
func TestNewRefuses(t *testing.T) {
	good := []string{"AXON-STREAM-942", "A stream is closed.", "--section", "streams", "--seed-lines", "76"}
	with := func(place int, value string) []string {
		args := slices.Clone(good)
		args[place] = value
		return args
	}
	dir := aTree(t)
	before := contents(t, dir)
	for _, c := range []struct {
		args []string
		want string
	}{
		{good[:1], "a sentence in quotes"},
		{with(0, "STREAM-942"), "write AXON-AREA-NNN"},
		{with(0, "AXON-STREAM-001"), "is there already"},
		{with(0, "AXON-STREAM-000"), "is no id"},
		{with(1, "A stream"), "full stop"},
		{with(1, "A\nstream."), "full stop"},
		{with(3, "stream"), "did you mean \"streams\""},
		{with(5, "5000"), "no such line"},
		{with(5, "1"), ""},
		{append(slices.Clone(good), "--level", "may"), "no such level"},
		{append(slices.Clone(good), "--needs", "wires"), "did you mean \"wire\""},
		{good[:4], "--seed-lines"},
		// Before the other sentences of its area it cannot stand.
		{with(0, "AXON-KIND-942")[:4], "--seed-lines"},
	} {
		code, out, errOut := call(t, append(append([]string{"new"}, c.args...), "--dir", dir)...)
		if code != 2 || !strings.Contains(errOut, c.want) {
			t.Errorf("%q: exit %d, %s%s", c.args, code, out, errOut)
		}
	}
	if code, _, errOut := call(t, append(append([]string{"new"}, good...), "--dir", t.TempDir())...); code != 2 || !strings.Contains(errOut, "--dir") {
		t.Errorf("exit %d: %s", code, errOut)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(draftsFile)), []byte("package mutants\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before[filepath.FromSlash(draftsFile)] = "package mutants\n"
	if code, _, errOut := call(t, append(append([]string{"new"}, good...), "--dir", dir)...); code != 2 || !strings.Contains(errOut, "put it back") {
		t.Errorf("exit %d: %s", code, errOut)
	}
	for name, text := range contents(t, dir) {
		if before[name] != text {
			t.Errorf("%s was changed", name)
		}
	}
}
