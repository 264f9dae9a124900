package peers

import (
	"bytes"
	"crypto/ed25519"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

func at(p Peer, addr string) Observation {
	return Observation{AgentID: p.ID, PublicKey: p.PublicKey, Addr: netip.MustParseAddrPort(addr), Source: SourceMDNS}
}

func withTrust(t *testing.T, root string, trust config.Trust) (*Book, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	return Open(Options{Root: root, Trust: trust, Logger: slog.New(slog.NewTextHandler(&log, nil))}), &log
}

func TestAutomaticTrustPinsOnceProven(t *testing.T) {
	root := t.TempDir()
	b, _ := withTrust(t, root, config.TrustAutomatic)
	p := somebody(t)
	if got := b.Observe(at(p, "192.0.2.1:7100")); got != NewPeer {
		t.Errorf("first: %v", got)
	}
	if got := b.Observe(at(p, "192.0.2.1:7100")); got != Nothing {
		t.Errorf("again: %v", got)
	}
	if got := b.Observe(at(p, "192.0.2.2:7100")); got != NewAddr {
		t.Errorf("second address: %v", got)
	}
	if key, ok := b.Pinned(p.ID); !ok || !key.Equal(p.PublicKey) {
		t.Error("not admitted")
	}
	if _, err := os.Stat(b.path); err == nil {
		t.Error("stored before anything was proven")
	}
	if err := b.Proven(p.ID); err != nil {
		t.Fatal(err)
	}
	if b.Forget(at(p, "192.0.2.1:7100")) || b.Forget(at(p, "192.0.2.2:7100")) {
		t.Error("a pinned peer went with its adverts")
	}
	again, _ := withTrust(t, root, config.TrustAutomatic)
	if got, ok := again.Lookup(p.ID); !ok || got.Source != Cached || got.Addr != "192.0.2.1:7100" {
		t.Errorf("after the restart: %v %+v", ok, got)
	}
}

func TestOneLostAdvertLeavesTheOthers(t *testing.T) {
	b, _ := withTrust(t, t.TempDir(), config.TrustAutomatic)
	p := somebody(t)
	b.Observe(at(p, "192.0.2.1:7100"))
	b.Observe(at(p, "192.0.2.2:7100"))
	if b.Forget(at(p, "192.0.2.1:7100")) {
		t.Error("gone with one of two")
	}
	if got := b.Addrs(p.ID); len(got) != 1 || got[0] != "192.0.2.2:7100" {
		t.Errorf("addresses %v", got)
	}
	if !b.Forget(at(p, "192.0.2.2:7100")) {
		t.Error("still there")
	}
	if _, ok := b.Pinned(p.ID); ok || b.sightings != 0 {
		t.Error("still admitted")
	}
}

func TestProvenPeerOutlivesItsAdvertOnAFullDisk(t *testing.T) {
	root := t.TempDir()
	b, _ := withTrust(t, root, config.TrustAutomatic)
	p := somebody(t)
	b.Observe(at(p, "192.0.2.1:7100"))
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if err := b.Proven(p.ID); err == nil {
		t.Error("no error though nothing can be stored")
	}
	b.Forget(at(p, "192.0.2.1:7100"))
	if _, ok := b.Pinned(p.ID); !ok {
		t.Error("dropped")
	}
}

func TestEnrollTrustMakesCandidates(t *testing.T) {
	b, _ := withTrust(t, t.TempDir(), config.TrustEnroll)
	p := somebody(t)
	if got := b.Observe(at(p, "192.0.2.1:7100")); got != NewCandidate {
		t.Errorf("%v", got)
	}
	if _, ok := b.Pinned(p.ID); ok {
		t.Error("admitted")
	}
	if err := b.Proven(p.ID); err != nil {
		t.Error(err)
	}
	if got, _ := b.Lookup(p.ID); !got.Candidate || got.Addr != "192.0.2.1:7100" || got.Source != Discovered {
		t.Errorf("%+v", got)
	}
	enrolled, _ := b.Lookup(p.ID)
	enrolled.Source = Enrolled
	if err := b.Add(enrolled); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Pinned(p.ID); !ok {
		t.Error("not admitted once enrolled")
	}
}

func TestAnotherKeyAtAPinnedAddressIsNotAdmitted(t *testing.T) {
	b, log := withTrust(t, t.TempDir(), config.TrustAutomatic)
	p, other := somebody(t), somebody(t)
	if err := b.Add(p); err != nil {
		t.Fatal(err)
	}
	if got := b.Observe(at(other, p.Addr)); got != NewCandidate {
		t.Errorf("%v", got)
	}
	if _, ok := b.Pinned(other.ID); ok || !strings.Contains(log.String(), "another key") {
		t.Errorf("admitted %v, log %s", ok, log)
	}
	if key, ok := b.Pinned(p.ID); !ok || !key.Equal(p.PublicKey) {
		t.Error("the pin is gone")
	}
	if err := b.Add(other); err == nil {
		t.Error("pinned beside the other at one address")
	}
}

func TestRemovedPeerDoesNotComeBackByItself(t *testing.T) {
	root := t.TempDir()
	b, _ := withTrust(t, root, config.TrustAutomatic)
	p := somebody(t)
	b.Observe(at(p, "192.0.2.1:7100"))
	if was, err := b.Remove(p.ID); !was || err != nil {
		t.Fatal(was, err)
	}
	b, _ = withTrust(t, root, config.TrustAutomatic)
	if got := b.Observe(at(p, "192.0.2.1:7100")); got != NewCandidate {
		t.Errorf("%v", got)
	}
	if err := b.Add(p); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Remove(p.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(p); err != nil {
		t.Fatal(err)
	}
	if len(b.forgotten) != 0 {
		t.Error("enrolled and still listed as removed")
	}
}

func TestObservationsAreBounded(t *testing.T) {
	b, _ := withTrust(t, t.TempDir(), config.TrustAutomatic)
	for i := range maxSightings + 10 {
		key := make(ed25519.PublicKey, ed25519.PublicKeySize)
		key[0], key[1] = byte(i), byte(i>>8)
		b.Observe(Observation{AgentID: identity.DeriveAgentID(key), PublicKey: key, Addr: netip.MustParseAddrPort("192.0.2.1:7100")})
	}
	if len(b.List()) != maxSightings {
		t.Errorf("%d kept", len(b.List()))
	}
	p := b.List()[0]
	for i := range 20 {
		b.Observe(Observation{AgentID: p.ID, PublicKey: p.PublicKey, Addr: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), uint16(100+i))})
	}
	if got := len(b.Addrs(p.ID)); got != maxAddrs {
		t.Errorf("%d addresses", got)
	}
	wrong := at(somebody(t), "192.0.2.1:1")
	wrong.AgentID = p.ID
	if b.Observe(wrong) != Nothing || b.Observe(Observation{AgentID: p.ID, PublicKey: p.PublicKey}) != Nothing {
		t.Error("a bad observation was taken")
	}
}

func TestWhereItWasDialledIsKept(t *testing.T) {
	root := t.TempDir()
	b, _ := withTrust(t, root, config.TrustAutomatic)
	found, enrolled := somebody(t), somebody(t)
	b.Observe(at(found, "192.0.2.5:1"))
	b.Observe(at(found, "192.0.2.6:1"))
	if err := b.Proven(found.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.DialledAt(found.ID, "192.0.2.6:1"); err != nil {
		t.Fatal(err)
	}
	if got := b.Addrs(found.ID); len(got) != 2 || got[0] != "192.0.2.6:1" {
		t.Errorf("%v", got)
	}
	if err := b.Add(enrolled); err != nil {
		t.Fatal(err)
	}
	_ = b.DialledAt(enrolled.ID, "192.0.2.7:1")
	if got, _ := b.Lookup(enrolled.ID); got.Addr != enrolled.Addr {
		t.Errorf("the owner's address was replaced by %s", got.Addr)
	}
}
