package play

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/axonproto/axon/impl/internal/atomicfile"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

// peer is one entry of the peers in a configuration.
type peer struct {
	name string
	id   *identity.Identity
	addr string // HOST:PORT; empty: it dials us
}

// writeConfig writes the configuration of an agent that is reached on loopback
// only. Port 0 leaves the port out.
func writeConfig(root, name string, port int, peers ...peer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", name)
	if port != 0 {
		fmt.Fprintf(&b, "port: %d\n", port)
	}
	b.WriteString("listen_addr: 127.0.0.1\ndiscovery: {enabled: false}\npeers:\n")
	for _, p := range peers {
		fmt.Fprintf(&b, "  - name: %s\n    agent_id: %s\n    pubkey: %s\n", p.name, p.id.ID, identity.EncodePublicKey(p.id.Public))
		if p.addr != "" {
			fmt.Fprintf(&b, "    addr: %s\n", p.addr)
		}
	}
	if err := atomicfile.Write(filepath.Join(root, config.File), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}

// ErrExists reports that Setup would have to overwrite something.
var ErrExists = errors.New("exists already; remove it, or choose another folder")

// Names are the agents that Setup makes.
var Names = []string{"alice", "bob"}

// Setup makes the state roots alice and bob in a folder: two agents on this
// machine that know each other, reached on loopback only, each on a port that is
// free now. Nothing is overwritten.
func Setup(dir string) error {
	for _, name := range Names {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = ErrExists
			}
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	ports, err := freePorts(len(Names))
	if err != nil {
		return err
	}
	all := make([]peer, len(Names))
	for i, name := range Names {
		root := filepath.Join(dir, name)
		if err := os.MkdirAll(root, 0o700); err != nil {
			return fmt.Errorf("make state root: %w; choose a folder that can be written", err)
		}
		id, err := identity.Load(root)
		if err != nil {
			return err
		}
		all[i] = peer{name, id, net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i]))}
	}
	for i, name := range Names {
		if err := writeConfig(filepath.Join(dir, name), name, ports[i], all[1-i]); err != nil {
			return err
		}
	}
	return nil
}

// freePorts finds UDP ports that nobody uses at the moment.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		// All are held until all are found, so that they differ.
		defer func() { _ = c.Close() }()
		ports = append(ports, c.LocalAddr().(*net.UDPAddr).Port)
	}
	return ports, nil
}
