package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

// takeaddress NAME sets NAME_ADDR and NAME_PORT from the ready line of that
// daemon.
func scriptTakeAddress(ts *testscript.TestScript, _ bool, args []string) {
	var record struct{ Address string }
	ts.Check(json.Unmarshal([]byte(await(ts, args[0], `"msg":"ready"`)), &record))
	ts.Setenv(args[0]+"_ADDR", record.Address)
	_, port, err := net.SplitHostPort(record.Address)
	ts.Check(err)
	ts.Setenv(args[0]+"_PORT", port)
}

// taketoken NAME sets NAME_TOKEN to what was printed last.
func scriptTakeToken(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0]+"_TOKEN", strings.TrimSpace(ts.ReadFile("stdout")))
}

// takeid NAME sets NAME_ID to the agent id of that state root.
func scriptTakeID(ts *testscript.TestScript, _ bool, args []string) {
	id, err := identity.Read(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Setenv(args[0]+"_ID", string(id.ID))
}

// glob PATTERN: one file at least has such a name.
func scriptGlob(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) == 0 != neg {
		ts.Fatalf("%s: %q", args[0], found)
	}
}

// kill9 NAME ends it without a chance to clean up.
func scriptKill(ts *testscript.TestScript, _ bool, args []string) {
	j := find(ts, args[0])
	delete(jobs(ts), args[0])
	ts.Check(j.cmd.Process.Kill())
	<-j.ended
}

// agents NAME...: starts a daemon for each, in the state root of that name,
// which know each other by their names. NAME_ID, NAME_ADDR and NAME_TOKEN are
// set.
func scriptAgents(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: agents NAME...")
	}
	ids := make([]*identity.Identity, len(args))
	addrs := make([]string, len(args))
	for i, name := range args {
		ts.Check(os.Mkdir(ts.MkAbs(name), 0o700))
		var err error
		ids[i], err = identity.Load(ts.MkAbs(name))
		ts.Check(err)
	}
	for i, name := range args {
		var b strings.Builder
		fmt.Fprintf(&b, "name: %s\n", name)
		for k, other := range args {
			switch {
			case k == i:
				continue
			case b.Len() < len(name)+8:
				b.WriteString("peers:\n")
			}
			fmt.Fprintf(&b, "  - {name: %s, agent_id: %s, pubkey: %q", other, ids[k].ID, identity.EncodePublicKey(ids[k].Public))
			if addrs[k] != "" { // started already; the others dial this one
				fmt.Fprintf(&b, ", addr: %q", addrs[k])
			}
			b.WriteString("}\n")
		}
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(name), config.File), []byte(b.String()), 0o600))
		start(ts, name, []string{"axon", "daemon", "--state-root", name, "--port", "0", "--listen", "127.0.0.1", "--disable-mdns", "--log-format", "json"})
		var record struct{ Address string }
		ts.Check(json.Unmarshal([]byte(await(ts, name, `"msg":"ready"`)), &record))
		addrs[i] = record.Address
		ts.Setenv(name+"_ID", string(ids[i].ID))
		ts.Setenv(name+"_PREFIX", string(ids[i].ID)[:20])
		ts.Setenv(name+"_ADDR", addrs[i])
		ts.Setenv(name+"_TOKEN", identity.Token{PublicKey: ids[i].Public, Addr: addrs[i]}.String())
	}
	for i, name := range args[1:] {
		await(ts, name, `"msg":"peer connected"`)
		await(ts, args[i], `"msg":"peer connected"`)
	}
}
