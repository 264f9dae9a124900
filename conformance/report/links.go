package report

import (
	"path/filepath"
	"slices"
)

// RelativePath writes a path as it is seen from a directory, with slashes, where
// that can be done; an empty directory leaves it as it is.
func RelativePath(dir, path string) string {
	if dir == "" || path == "" {
		return filepath.ToSlash(path)
	}
	base, err1 := filepath.Abs(dir)
	full, err2 := filepath.Abs(path)
	if err1 == nil && err2 == nil {
		if relative, err := filepath.Rel(base, full); err == nil {
			return filepath.ToSlash(relative)
		}
	}
	return filepath.ToSlash(path)
}

// WithLinks is the report with the paths of its qlogs changed. A path in a report is
// as one sees it from where the program runs; in a stored one it is relative to the
// file, so that both can be moved together.
func (r Report) WithLinks(change func(path string) string) Report {
	r.Requirements = slices.Clone(r.Requirements)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		q.Scenarios = slices.Clone(q.Scenarios)
		for k := range q.Scenarios {
			if s := &q.Scenarios[k]; s.QLog != "" {
				s.QLog = change(s.QLog)
			}
		}
	}
	return r
}
