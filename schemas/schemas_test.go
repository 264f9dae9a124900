package schemas

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

func TestCompile(t *testing.T) {
	want := []string{"report/report", "wire/default-error", "wire/envelope", "wire/error-payload"}
	for _, name := range want {
		if !slices.Contains(Names(), name) {
			t.Errorf("Names lacks %s: %v", name, Names())
		}
	}
	for _, name := range Names() {
		s, err := Compile(name)
		if err != nil || s.Name() != name {
			t.Errorf("%s: %v %v", name, s, err)
		}
		var head struct {
			ID     string `json:"$id"`
			Schema string `json:"$schema"`
		}
		text, err := Text(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &head); err != nil || head.ID != base+name+suffix || head.Schema != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: head %+v, %v", name, head, err)
		}
	}
	for _, name := range []string{"", "envelope", "wire", "../go.mod", "wire/envelope.schema.json"} {
		if _, err := Compile(name); !errors.Is(err, ErrUnknownSchema) || !strings.Contains(err.Error(), "wire/envelope") {
			t.Errorf("Compile(%q): %v", name, err)
		}
		if _, err := Text(name); !errors.Is(err, ErrUnknownSchema) {
			t.Errorf("Text(%q): %v", name, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustCompile does not panic")
		}
	}()
	MustCompile("none")
}

func TestNothingIsLoadedFromOutside(t *testing.T) {
	for _, ref := range []string{"file:///etc/hostname", "https://example.org/x.json", base + "wire/none.schema.json", base + "../go.mod"} {
		c := jsonschema.NewCompiler()
		c.LoadURL = loadEmbedded
		if err := c.AddResource("mem:///a", strings.NewReader(`{"$ref":"`+ref+`"}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("mem:///a"); err == nil || !strings.Contains(err.Error(), "is not embedded") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	cache.Lock()
	cache.compiled = nil
	cache.Unlock()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for _, name := range Names() {
				if err := MustCompile(name).Validate([]byte(`{"a":1,"b":2}`)); err == nil {
					t.Errorf("%s accepts nonsense", name)
				}
			}
		})
	}
	wg.Wait()
}
