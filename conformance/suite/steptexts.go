package suite

import "io/fs"

// Steps are the texts of all steps in the feature files, each once, in the order of the
// checks; those with a doc string, which end in a colon, are among them without it.
func Steps(features fs.FS) ([]string, error) {
	c, err := load(features)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var texts []string
	for _, k := range c.checks {
		for _, text := range k.steps {
			if !seen[text] {
				seen[text] = true
				texts = append(texts, text)
			}
		}
	}
	return texts, nil
}
