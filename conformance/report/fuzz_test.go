package report

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

// FuzzReadJSON: what is read can be shown in each form and is read again as the same.
func FuzzReadJSON(f *testing.F) {
	if whole, err := os.ReadFile("../../schemas/testdata/report.json"); err == nil {
		f.Add(whole)
	}
	for _, seed := range []string{`{"schema_version":1}`, `{"schema_version":1,"requirements":[{}]}`, `{"schema_version":2}`, "{}", "", "[]", `{"schema_version":1,"x":1}`, `{"schema_version":1}{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			if !errors.Is(err, ErrNotReport) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var first, second bytes.Buffer
		if err := WriteJSON(&first, r); err != nil {
			t.Fatal(err)
		}
		again, err := ReadJSON(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("%q was written as %s: %v", text, &first, err)
		}
		if err := WriteJSON(&second, again); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("%q changes when it is read again: %v\n%s\n%s", text, err, &first, &second)
		}
	})
}
