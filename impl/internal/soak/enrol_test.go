package soak

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/identity"
)

// known is what a daemon was told and has acknowledged.
type known map[string]bool

// check compares a daemon's peers with what it has acknowledged. Of the peer that was
// being enrolled or removed when the daemon ended, either is right: it is given back as
// it is.
func (k known) check(t *testing.T, n *node, underWay string) {
	t.Helper()
	c, err := client.Dial(t.Context(), client.Options{StateRoot: n.root})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list, err := c.Peers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := known{}
	for _, p := range list.Peers {
		got[p.AgentID] = true
	}
	if underWay != "" {
		delete(k, underWay)
		if got[underWay] {
			k[underWay] = true
		}
	}
	if !maps.Equal(got, k) {
		t.Fatalf("the daemon knows %d peers, and %d were acknowledged; it differs in %v", len(got), len(k), differ(got, k))
	}
}

func differ(a, b known) (list []string) {
	for id := range a {
		if !b[id] {
			list = append(list, "+"+id)
		}
	}
	for id := range b {
		if !a[id] {
			list = append(list, "-"+id)
		}
	}
	return list
}

// whole looks at the file while nobody writes it, and that none was set aside.
func (n *node) whole(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(n.root, "known_peers.json"))
	if err != nil && !errors.Is(err, os.ErrNotExist) || err == nil && !json.Valid(text) {
		t.Fatalf("known_peers.json: %v: %s", err, text)
	}
	list, err := os.ReadDir(n.root)
	if err != nil {
		t.Fatal(err)
	}
	unfinished := 0
	for _, e := range list {
		switch name := e.Name(); {
		case strings.HasSuffix(name, ".tmp"):
			unfinished++
		case name != "known_peers.json" && strings.HasPrefix(name, "known_peers.json"):
			t.Fatalf("%s was set aside", name)
		}
	}
	if unfinished > 1 {
		t.Fatalf("%d unfinished files are left; each life should take away what the one before left", unfinished)
	}
}

// change enrols a new peer, or removes one of those that are known.
func (k known) change(ctx context.Context, c *client.Client, r *rand.Rand) (id string, err error) {
	if ids := slices.Sorted(maps.Keys(k)); len(ids) > 3 && r.IntN(2) == 0 {
		id = ids[r.IntN(len(ids))]
		if err = c.RemovePeer(ctx, id); err == nil {
			delete(k, id)
		}
		return id, err
	}
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		return "", err
	}
	id = string(identity.DeriveAgentID(public))
	if _, err = c.AddPeer(ctx, client.NewPeer{PublicKey: base64.StdEncoding.EncodeToString(public), Addr: fmt.Sprintf("127.%d.%d.%d:9", public[0], public[1], public[2]|1)}); err == nil {
		k[id] = true
	}
	return id, err
}

// TestKilledWhileEnrolling: whatever was acknowledged outlives kill -9.
func TestKilledWhileEnrolling(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	n, k := newNode(t), known{}
	n.start(t)
	t.Cleanup(func() { _ = n.end(syscall.SIGKILL) })
	const changes = 300
	acknowledged, lives := 0, 1
	for acknowledged < changes && !t.Failed() {
		underWay := ""
		c, err := client.Dial(t.Context(), client.Options{StateRoot: n.root})
		if err != nil {
			t.Fatal(err)
		}
		killed := make(chan error, 1)
		go func() {
			time.Sleep(time.Duration(r.IntN(40_000)) * time.Microsecond)
			killed <- n.end(syscall.SIGKILL)
		}()
		own := rand.New(rand.NewPCG(uint64(lives), 1)) // r belongs to the killer meanwhile
		for {
			if underWay, err = k.change(t.Context(), c, own); err != nil {
				break
			}
			acknowledged++
		}
		if !errors.Is(err, client.ErrClosed) {
			t.Errorf("a change failed by something else than the daemon's end: %v", err)
		}
		<-killed
		_ = c.Close()
		n.whole(t)
		n.start(t)
		lives++
		k.check(t, n, underWay)
	}
	t.Logf("%d changes over %d lives, %d peers at the end", acknowledged, lives, len(k))
}
