package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/report"
)

// formats are the report formats that --report knows.
var formats = []string{"text", "json", "junit", "html", "markdown"}

// output is one --report: a format and where it goes.
type output struct {
	format string
	// path as given; "-" is standard output.
	path string
	// final is the file that is replaced, with links followed; temporary is the
	// open file beside it that takes its place once it is whole.
	final     string
	temporary *os.File
	// direct: the path is no regular file (a terminal, a pipe), so it is written
	// in place.
	direct bool
}

// parseOutputs reads the values of --report.
func parseOutputs(values []string) ([]*output, error) {
	var outputs []*output
	for _, value := range values {
		format, path, found := strings.Cut(value, "=")
		if !slices.Contains(formats, format) {
			return nil, usagef("--report %s: there is no format %q%s; write --report FORMAT=PATH with %s",
				value, format, suggest(format, formats), strings.Join(formats, ", "))
		}
		if !found || path == "" {
			return nil, usagef("--report %s: the path is missing; write --report %s=PATH, with - for standard output", value, format)
		}
		for _, o := range outputs {
			if samePath(o.path, path) {
				return nil, usagef("--report %s=%s and --report %s=%s would write over each other; give each its own path",
					o.format, o.path, format, path)
			}
		}
		outputs = append(outputs, &output{format: format, path: path})
	}
	return outputs, nil
}

func samePath(a, b string) bool {
	if a == "-" || b == "-" {
		return a == b
	}
	return resolve(a) == resolve(b)
}

// resolve follows links as far as the path exists.
func resolve(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// openOutputs opens every file before the run starts, so that a path that cannot
// be written costs no run. The caller discards them in the end.
func openOutputs(outputs []*output) error {
	for _, o := range outputs {
		if o.path == "-" {
			continue
		}
		if err := o.open(); err != nil {
			discardOutputs(outputs)
			return &failure{code: report.ExitUsage, err: err}
		}
	}
	return nil
}

func (o *output) open() error {
	o.final = resolve(o.path)
	mode := fs.FileMode(0o666)
	info, err := os.Stat(o.final)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("the report cannot be written: %s is a directory; name a file in it, as in %s",
			o.path, o.flag(filepath.Join(o.path, "report."+extension(o.format))))
	case err == nil && !info.Mode().IsRegular():
		o.direct = true
		if o.temporary, err = os.OpenFile(o.final, os.O_WRONLY, 0); err != nil {
			return fmt.Errorf("the report cannot be written: %w; choose another path", err)
		}
		return nil
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the report cannot be written: %w; choose another path", err)
	}
	dir, base := filepath.Split(o.final)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the report cannot be written: there is no directory %s; make it first, or choose another path", dir)
	}
	name := filepath.Join(dir, fmt.Sprintf(".%s.%08x.part", base, rand.Uint32()))
	// Not os.CreateTemp: a report gets the mode that the user's mask gives.
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("the report cannot be written: %w; choose a path in a directory that you may write to", err)
	}
	o.temporary = file
	return nil
}

// flag is how one asks for a report at a path.
func (o *output) flag(path string) string {
	if o.format == "" {
		return "--output " + path
	}
	return "--report " + o.format + "=" + path
}

func extension(format string) string {
	switch format {
	case "junit":
		return "xml"
	case "text":
		return "txt"
	case "markdown":
		return "md"
	case "":
		return "out"
	default:
		return format
	}
}

// discardOutputs closes and removes what was opened and not written.
func discardOutputs(outputs []*output) {
	for _, o := range outputs {
		if o.temporary == nil {
			continue
		}
		_ = o.temporary.Close()
		if !o.direct {
			_ = os.Remove(o.temporary.Name())
		}
		o.temporary = nil
	}
}

// write puts the report where it belongs; a file appears whole or not at all.
func (o *output) write(r report.Report, standard io.Writer, text report.TextOptions) error {
	if o.path == "-" {
		return writeFormat(standard, o.format, r, text, "")
	}
	return o.replace(func(w io.Writer) error {
		return writeFormat(w, o.format, r, report.TextOptions{Verbose: text.Verbose}, filepath.Dir(o.final))
	})
}

// replace writes all that a function produces, and then puts it in the place of
// the file that was there.
func (o *output) replace(produce func(io.Writer) error) error {
	var b bytes.Buffer
	if err := produce(&b); err != nil {
		return err
	}
	if _, err := o.temporary.Write(b.Bytes()); err != nil {
		return fmt.Errorf("the report %s could not be written: %w; make room or choose another path", o.path, err)
	}
	if o.direct {
		file := o.temporary
		o.temporary = nil
		return file.Close()
	}
	name := o.temporary.Name()
	err := errors.Join(o.temporary.Sync(), o.temporary.Close())
	o.temporary = nil
	if err == nil {
		err = os.Rename(name, o.final)
	}
	if err != nil {
		_ = os.Remove(name)
		return fmt.Errorf("the report %s could not be written: %w; choose another path", o.path, err)
	}
	return nil
}

// writeFormat writes a report; dir is the directory that it will stand in, empty
// for standard output.
func writeFormat(w io.Writer, format string, r report.Report, text report.TextOptions, dir string) error {
	switch format {
	case "html":
		return report.WriteHTML(w, r, report.HTMLOptions{Dir: dir})
	case "markdown":
		return report.WriteMarkdown(w, r)
	case "json":
		if dir != "" {
			r = r.WithLinks(func(path string) string { return report.RelativePath(dir, path) })
		}
		return report.WriteJSON(w, r)
	case "junit":
		return report.WriteJUnit(w, r)
	default:
		return report.WriteText(w, r, text)
	}
}
