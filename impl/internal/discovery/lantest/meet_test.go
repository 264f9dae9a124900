package lantest_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/internal/discovery/lantest"
)

func pair(t *testing.T) (a, b *lantest.Host) {
	t.Helper()
	a, b = lantest.Hosts(t)
	lantest.Join(a, b, "lan0", 1)
	return a, b
}

// TestFreshDaemonsMeet is discovery as its users see it: two machines, two
// daemons, and nothing else to do.
func TestFreshDaemonsMeet(t *testing.T) {
	ha, hb := pair(t)
	a := start(t, ha, prepare(t, ""))
	began := time.Now()
	b := start(t, hb, prepare(t, ""))
	ca, cb := a.client(), b.client()
	ida, idb := ca.id(), cb.id()
	ca.wait(idb, "the first knows the second", 5*time.Second, connected)
	cb.wait(ida, "the second knows the first", 5*time.Second, connected)
	ca.request(idb)
	cb.request(ida)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("from the second's start to the answers it took %s", took)
	}

	// What was met is pinned: they meet again after a crash, without discovery.
	b.kill()
	b = start(t, hb, b.root, "--disable-mdns")
	cb = b.client()
	cb.wait(ida, "the second knows the first after kill -9", ceiling, connected)
	cb.request(ida)
	if udp, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/udp", b.cmd.Process.Pid)); err != nil || bytes.Contains(udp, []byte(":14E9 ")) {
		t.Errorf("with discovery off the mDNS port is open (%v):\n%s", err, udp)
	}
}

func TestEnrollMakesCandidates(t *testing.T) {
	ha, hb := pair(t)
	a := start(t, ha, prepare(t, "discovery:\n  trust: enroll\n"))
	ca, events := a.client(), a.client()
	events.do(`{"cmd":"status"}`) // it is attached
	b := start(t, hb, prepare(t, ""))
	cb := b.client()
	idb := cb.id()
	if e := events.next("event"); e["event"] != "peer_candidate" || e["agent_id"] != idb || e["source"] != "mdns" {
		t.Errorf("event %v", e)
	}
	p := ca.peer(idb)
	if p["trust"] != "candidate" || p["status"] != "discovered" {
		t.Errorf("listed: %v", p)
	}
	if answer := ca.do(fmt.Sprintf(`{"cmd":"send","to":%q,"kind":"message","payload":{}}`, idb)); answer["ok"] != false {
		t.Errorf("a message to a candidate: %v", answer)
	}
	if answer := cb.do(fmt.Sprintf(`{"cmd":"send","to":%q,"kind":"request","payload":{},"timeout_secs":3}`, ca.id())); answer["ok"] != false {
		t.Errorf("a candidate's request: %v", answer)
	}
	if answer := ca.do(fmt.Sprintf(`{"cmd":"add_peer","agent_id":%q}`, idb)); answer["ok"] != true {
		t.Fatalf("enrolment: %v", answer)
	}
	ca.wait(idb, "enrolled, it is connected", ceiling, connected)
	ca.request(idb)
}

// TestOtherKeyAtPinnedAddress puts another daemon where a pinned one was.
func TestOtherKeyAtPinnedAddress(t *testing.T) {
	ha, hb := pair(t)
	pinned := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)).Public().(ed25519.PublicKey)
	sum := sha256.Sum256(pinned)
	pinnedID := "ed25519." + hex.EncodeToString(sum[:16])
	key := base64.StdEncoding.EncodeToString(pinned)
	a := start(t, ha, prepare(t, fmt.Sprintf("peers:\n  - agent_id: %s\n    addr: %s:7100\n    pubkey: %s\n", pinnedID, lantest.Addr(1, 1), key)))
	ca := a.client()
	cb := start(t, hb, prepare(t, "")).client()
	p := ca.wait(cb.id(), "the other daemon is seen", 5*time.Second, func(p map[string]any) bool { return p != nil })
	if p["trust"] != "candidate" {
		t.Errorf("the other daemon is listed as %v", p)
	}
	if p := ca.peer(pinnedID); p["public_key"] != key || p["trust"] != "trusted" || !strings.HasPrefix(p["addr"].(string), lantest.Addr(1, 1)) {
		t.Errorf("the pinned one is listed as %v", p)
	}
	if connected(ca.peer(pinnedID)) {
		t.Error("connected to the pinned peer, which is not there")
	}
}

// TestKilledDaemonGoesStale takes over a minute of real time.
func TestKilledDaemonGoesStale(t *testing.T) {
	if os.Getenv("AXON_SLOW_TESTS") == "" {
		t.Skip("takes over a minute; set AXON_SLOW_TESTS=1 to include it")
	}
	ha, hb := pair(t)
	ca := start(t, ha, prepare(t, "discovery:\n  trust: enroll\n")).client()
	b := start(t, hb, prepare(t, "discovery:\n  trust: enroll\n"))
	idb := b.client().id()
	ca.wait(idb, "it is seen", 5*time.Second, func(p map[string]any) bool { return p != nil })
	b.kill()
	killed := time.Now()
	_ = ca.conn.SetDeadline(time.Now().Add(2 * time.Minute))
	ca.wait(idb, "it is listed no longer", 75*time.Second, func(p map[string]any) bool { return p == nil })
	if took := time.Since(killed); took < 40*time.Second {
		t.Errorf("forgotten after %s already", took)
	}
}
