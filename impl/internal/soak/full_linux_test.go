package soak

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/axonproto/axon/impl/client"
)

// TestFullDisk: on a file system without room a change is refused with the reason,
// nothing that was acknowledged is lost, also over a kill, and once there is room
// everything works again.
func TestFullDisk(t *testing.T) {
	n, k := newNode(t), known{}
	if err := syscall.Mount("tmpfs", n.root, "tmpfs", 0, "size=512k,mode=700"); err != nil {
		if os.Getenv("AXON_REQUIRE_NETNS") != "" {
			t.Fatal(err)
		}
		t.Skipf("no small file system can be made here (it needs root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(n.root, 0) })
	n.start(t)
	t.Cleanup(func() { _ = n.end(syscall.SIGKILL) })
	r := rand.New(rand.NewPCG(1, 1))
	filler := filepath.Join(n.root, "filler")
	for round := range 5 {
		dial := func() *client.Client {
			c, err := client.Dial(t.Context(), client.Options{StateRoot: n.root})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		c := dial()
		for range 10 {
			if _, err := k.change(t.Context(), c, r); err != nil {
				t.Fatalf("with room: %v", err)
			}
		}
		fill(t, filler)
		refused := 0
		for range 5 {
			if _, err := k.change(t.Context(), c, r); err != nil {
				if !strings.Contains(err.Error(), "no space left on device; check the free space") {
					t.Errorf("refused without the reason and what to do: %v", err)
				}
				refused++
			}
		}
		if refused == 0 {
			t.Error("nothing was refused on a full disk")
		}
		_ = c.Close()
		k.check(t, n, "")
		if round%2 == 0 {
			_ = n.end(syscall.SIGKILL)
		} else {
			_ = n.end(syscall.SIGTERM)
		}
		n.whole(t)
		n.start(t)
		k.check(t, n, "")
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
}

// fill takes all the room that is left.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}
