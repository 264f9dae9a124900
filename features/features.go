// Package features holds the checks of each sentence of spec/ as Gherkin, one file
// per section of the text, and embeds them. gaps.txt owns up to what has no
// scenario or no mutant yet. It imports nothing of ours.
package features

import (
	"embed"
	"io/fs"
)

//go:embed *.feature gaps.txt
var files embed.FS

// FS returns the feature files.
func FS() fs.FS { return files }
