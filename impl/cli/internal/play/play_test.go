package play

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/schemas"
)

func TestTheLessonIsValid(t *testing.T) {
	seen := map[string]bool{}
	ids := map[string]bool{}
	for _, x := range Lesson() {
		if x.Title == "" || x.Text == "" || !strings.HasPrefix(x.Command, "axon ") || len(x.Envelopes) == 0 {
			t.Errorf("incomplete: %+v", x)
		}
		request := ""
		for _, e := range x.Envelopes {
			if err := schemas.MustCompile(schemas.Envelope).Validate(e.Envelope); err != nil {
				t.Errorf("%s: %v", x.Title, err)
			}
			var m struct{ ID, Kind, Ref, Code string }
			if err := json.Unmarshal(e.Envelope, &m); err != nil {
				t.Fatal(err)
			}
			if ids[m.ID] {
				t.Errorf("%s: the id %s stands twice", x.Title, m.ID)
			}
			ids[m.ID], seen[m.Kind] = true, true
			switch e.Over {
			case overBidi:
				request = m.ID
			case overSame:
				if m.Ref != request {
					t.Errorf("%s: ref %s, want %s", x.Title, m.Ref, request)
				}
			}
			if strings.Contains(string(e.Envelope), `"unhandled"`) {
				if err := schemas.MustCompile(schemas.DefaultError).Validate(e.Envelope); err != nil {
					t.Errorf("%s: %v", x.Title, err)
				}
			}
		}
	}
	if !seen["request"] || !seen["response"] || !seen["message"] || !seen["error"] {
		t.Errorf("kinds shown: %v", seen)
	}
}

func TestSetup(t *testing.T) {
	dir := t.TempDir()
	if err := Setup(dir); err != nil {
		t.Fatal(err)
	}
	ports := map[int]bool{}
	for i, name := range Names {
		conf, err := config.Load(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		other, err := identity.Read(filepath.Join(dir, Names[1-i]))
		if err != nil {
			t.Fatal(err)
		}
		if conf.Name != name || conf.Discovery || conf.ListenAddr != "127.0.0.1" || len(conf.Peers) != 1 ||
			conf.Peers[0].Name != Names[1-i] || conf.Peers[0].ID != other.ID || !strings.HasPrefix(conf.Peers[0].Addr, "127.0.0.1:") {
			t.Errorf("%s: %+v", name, conf)
		}
		ports[conf.Port] = true
	}
	if len(ports) != 2 {
		t.Errorf("ports %v", ports)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "bob", config.File))
	if err := Setup(dir); !errors.Is(err, ErrExists) {
		t.Errorf("again: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "bob", config.File)); !bytes.Equal(before, after) {
		t.Error("the second time changed something")
	}
}

func TestRunOptions(t *testing.T) {
	if err := Run(t.Context(), Options{}); err == nil {
		t.Error("no options: no error")
	}
	err := Run(t.Context(), Options{Command: []string{"/no/such/program"}, Out: &bytes.Buffer{}})
	if err == nil || !strings.Contains(err.Error(), "start a daemon") {
		t.Errorf("no program: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, Options{Command: []string{os.Args[0], "-test.run=NONE"}, Out: &bytes.Buffer{}}); err == nil {
		t.Error("cancelled: no error")
	}
}
