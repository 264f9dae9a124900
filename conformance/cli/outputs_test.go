package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/axonproto/axon/conformance/report"
)

func opened(t *testing.T, values ...string) []*output {
	t.Helper()
	outputs, err := parseOutputs(values)
	if err != nil {
		t.Fatal(err)
	}
	if err := openOutputs(outputs); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { discardOutputs(outputs) })
	return outputs
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestOutputReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.json")
	if err := os.WriteFile(path, []byte("before"), 0o640); err != nil {
		t.Fatal(err)
	}
	o := opened(t, "json="+path)[0]
	if text, _ := os.ReadFile(path); string(text) != "before" {
		t.Errorf("the report that is there was touched before there is another: %q", text)
	}
	if err := o.write(report.Report{SchemaVersion: 1}, nil, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := report.ReadJSON(file); err != nil {
		t.Error(err)
	}
	if info, _ := file.Stat(); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, want that of the file before", info.Mode())
	}
	if list := names(t, dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

func TestOutputFollowsALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(real, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if _, err := parseOutputs([]string{"json=" + real, "text=" + link}); err == nil {
		t.Error("two reports to one file by way of a link are taken")
	}
	o := opened(t, "json="+link)[0]
	if err := o.write(report.Report{}, nil, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if text, _ := os.ReadFile(real); !strings.HasPrefix(string(text), "{") {
		t.Errorf("the file holds %q", text)
	}
}

func TestOutputToNoRegularFile(t *testing.T) {
	if _, err := os.Stat(os.DevNull); err != nil {
		t.Skip(err)
	}
	o := opened(t, "text="+os.DevNull)[0]
	if err := o.write(report.Report{}, nil, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is now %v, %v", os.DevNull, info, err)
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	outputs, err := parseOutputs([]string{"text=" + filepath.Join(dir, "a"), "json=" + filepath.Join(dir, "nowhere", "b")})
	if err != nil {
		t.Fatal(err)
	}
	if err := openOutputs(outputs); err == nil || !strings.Contains(err.Error(), "make it first") {
		t.Errorf("got %v", err)
	}
	if list := names(t, dir); len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
}
