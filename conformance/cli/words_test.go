package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/axonproto/axon/harness/credential"
)

func TestParseTarget(t *testing.T) {
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	key := id.PublicBase64()
	urlSafe := strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(key)
	for _, c := range []struct {
		target, key, address string
		pinned               bool
	}{
		{"127.0.0.1:7100", "", "127.0.0.1:7100", false},
		{"[::1]:7100", "", "[::1]:7100", false},
		{"[fe80::1%eth0]:7100", "", "[fe80::1%eth0]:7100", false},
		{"peer.example:1", "", "peer.example:1", false},
		{"localhost:65535", key, "localhost:65535", true},
		{"localhost:7100", urlSafe, "localhost:7100", true},
		{id.Token("peer.example:7100"), "", "peer.example:7100", true},
		{id.Token("[2001:db8::7]:7100"), key, "[2001:db8::7]:7100", true},
	} {
		address, got, err := parseTarget(c.target, c.key)
		if err != nil || address != c.address || (got != nil) != c.pinned {
			t.Errorf("%s, %s: got %s, %v, %v", c.target, c.key, address, got, err)
		}
		if got != nil && !got.Equal(id.Public()) {
			t.Errorf("%s: another key", c.target)
		}
	}
	for _, bad := range []string{"", ":", "host", "host:", ":1", "host:0", "host:65536", "host:-1", "host:http", "host:+80", "a b:1",
		"::1", "::1:7100", "[::1]", "[::1", "axon://", "axon://@host:1", "axon://" + key, "quic://host:1", "axon:host:1", "host:1/path"} {
		if address, _, err := parseTarget(bad, ""); err == nil {
			t.Errorf("%q is taken as %s", bad, address)
		} else if !strings.Contains(err.Error(), "write ") {
			t.Errorf("%q: the error does not say what to write: %v", bad, err)
		}
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"run", "list", "identity", "coverage"}
	for word, want := range map[string]string{
		"rnu":       `; did you mean "run"?`,
		"ident":     `; did you mean "identity"?`,
		"Coverage":  `; did you mean "coverage"?`,
		"elephants": "; there are run, list, identity, coverage",
		"":          "; there are run, list, identity, coverage",
	} {
		if got := suggest(word, known); got != want {
			t.Errorf("suggest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"run", "ran", 1}, {"kitten", "sitting", 3}, {"漢字", "漢", 1}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestShellQuote asks a shell, since it is one that reads the rerun command.
func TestShellQuote(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	for _, word := range []string{"plain", "", "two words", "it's", `"$HOME" \ !*`, "[::1]:7100", "-n", "a\nb", "~", "#x"} {
		got, err := exec.Command(shell, "-c", "printf %s "+"x"+shellQuote(word)).Output()
		if err != nil || string(got) != "x"+word {
			t.Errorf("%q became %q (%v) by way of %s", word, got, err, shellQuote(word))
		}
	}
	if got := shellQuote("axon://AbC-_@127.0.0.1:7100"); strings.Contains(got, "'") {
		t.Errorf("needless quotes: %s", got)
	}
}

func TestConfigFragmentReads(t *testing.T) {
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	got := configFragment(id, "[2001:db8::1]:7100")
	for _, want := range []string{"peers:\n", "  - agent_id: " + id.AgentID() + "\n", "    pubkey: " + id.PublicBase64() + "\n", `    addr: "[2001:db8::1]:7100"` + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
