package discovery

import (
	"strings"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/internal/discovery/lantest"
)

// cable returns two hosts with one cable, with addresses .1 and .2.
func cable(t *testing.T) (a, b *lantest.Host) {
	t.Helper()
	a, b = lantest.Hosts(t)
	lantest.Join(a, b, "lan0", 1)
	return a, b
}

func isWarning(r report) bool { return r.What == "warning" }

func TestLANFindsAndLoses(t *testing.T) {
	t.Parallel()
	ha, hb := cable(t)
	began := time.Now()
	a, b := act(t, ha, "discover 1"), act(t, hb, "discover 2")
	id1, id2 := somebody(1).ID, somebody(2).ID
	a.until("the first sees the second", seen(id2, lantest.Addr(1, 1)+":7102"))
	b.until("the second sees the first", seen(id1, lantest.Addr(1, 0)+":7101"))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("finding each other took %s", took)
	}
	a.until("over IPv6, too", func(r report) bool {
		return r.What == "seen" && r.ID == id2 && strings.HasPrefix(r.Addr, "[fe80::") && strings.HasSuffix(r.Addr, "%lan0]:7102")
	})
	b.kill()
	a.until("the killed one goes stale", gone(id2, lantest.Addr(1, 1)+":7102"))
	if a.count(seen(id1, "")) != 0 {
		t.Error("the first discovered itself")
	}
	if a.count(isWarning) != 0 {
		t.Errorf("warned: %v", a.past)
	}
	act(t, hb, "discover 2")
	a.until("it comes back", seen(id2, lantest.Addr(1, 1)+":7102"))
}

func TestLANWithoutIPv6(t *testing.T) {
	t.Parallel()
	ha, hb := lantest.Hosts(t)
	ha.DisableIPv6()
	hb.DisableIPv6()
	lantest.Join(ha, hb, "lan0", 1)
	a, b := act(t, ha, "discover 1"), act(t, hb, "discover 2")
	a.until("the first sees the second", seen(somebody(2).ID, lantest.Addr(1, 1)+":7102"))
	b.until("the second sees the first", seen(somebody(1).ID, lantest.Addr(1, 0)+":7101"))
	if a.count(isWarning)+b.count(isWarning) != 0 {
		t.Errorf("warned: %v, %v", a.past, b.past)
	}
}

// TestLANSeveralInterfaces has three daemons on two links: each is seen at the
// address that its link has, and losing one leaves the other.
func TestLANSeveralInterfaces(t *testing.T) {
	t.Parallel()
	ha, hb := cable(t)
	lantest.Join(ha, hb, "lan1", 2)
	a := act(t, ha, "discover 1")
	b := act(t, hb, "discover 2")
	id1, id2 := somebody(1).ID, somebody(2).ID
	first, second := lantest.Addr(1, 1)+":7102", lantest.Addr(2, 1)+":7102"
	fits := func(r report) bool { return a.count(seen(id2, first)) > 0 && a.count(seen(id2, second)) > 0 }
	a.until("the other is seen on both links", fits)
	b.until("on the first link", seen(id1, lantest.Addr(1, 0)+":7101"))
	hb.IP("link", "set", "lan1", "down")
	a.until("the address of the link that is down goes stale", gone(id2, second))
	if a.count(gone(id2, first)) != 0 {
		t.Error("the other address was lost with it")
	}
	a.until("the other address stays", seen(id2, first))
	hb.IP("link", "set", "lan1", "up")
	a.until("the link is back", seen(id2, second))
}

func TestLANInterfaceComesLater(t *testing.T) {
	t.Parallel()
	ha, hb := lantest.Hosts(t)
	a, b := act(t, ha, "discover 1"), act(t, hb, "discover 2")
	a.until("there is no network", isWarning)
	b.until("there is no network", isWarning)
	lantest.Join(ha, hb, "lan0", 1)
	a.until("the first sees the second", seen(somebody(2).ID, ""))
	ha.IP("link", "delete", "lan0")
	a.until("the cable is gone", func(r report) bool { return r.What == "gone" })
	lantest.Join(ha, hb, "lan0", 1)
	a.until("the cable is back", seen(somebody(2).ID, ""))
	if n := a.count(isWarning); n != 1 {
		t.Errorf("warned %d times: %v", n, a.past)
	}
}

func TestLANNoMulticast(t *testing.T) {
	t.Parallel()
	ha, hb := cable(t)
	ha.IP("link", "set", "lan0", "multicast", "off")
	a := act(t, ha, "discover 1")
	act(t, hb, "discover 2")
	w := a.until("there is no multicast", isWarning)
	if !strings.Contains(w.Text, "static and known peers still work") {
		t.Errorf("warning: %s", w.Text)
	}
	ha.IP("link", "set", "lan0", "multicast", "on")
	a.until("there is multicast again", seen(somebody(2).ID, ""))
}

// TestLANOtherImplementation meets the client and the server of another author.
func TestLANOtherImplementation(t *testing.T) {
	t.Parallel()
	ha, hb := cable(t)
	ours := act(t, ha, "discover 1")
	act(t, hb, "advertise 2")
	ask := act(t, hb, "ask")
	ours.until("we see the other's server", seen(somebody(2).ID, lantest.Addr(1, 1)+":7102"))
	r := ask.until("the other's client sees us", seen(somebody(1).ID, lantest.Addr(1, 0)+":7101"))
	if r.Text != `axon-ed25519\.`+string(somebody(1).ID)[len("ed25519."):]+"."+service {
		t.Errorf("instance %q", r.Text)
	}
}

func TestLANPretenderIsIgnored(t *testing.T) {
	t.Parallel()
	ha, hb := cable(t)
	a := act(t, ha, "discover 1")
	act(t, hb, "pretend 3").until("the pretender is up", func(r report) bool { return r.What == "ready" })
	act(t, hb, "discover 2")
	// Two rounds of an honest one in which the pretender was asked as well.
	for range 2 {
		a.until("the honest one is seen", seen(somebody(2).ID, lantest.Addr(1, 1)+":7102"))
	}
	if a.count(func(r report) bool { return r.What == "seen" && r.ID != somebody(2).ID }) != 0 {
		t.Errorf("seen: %v", a.past)
	}
}

// TestLANForeignQuestionIsNotAnswered gives the asker an address that the other
// host can reach, but that no network of its interface has.
func TestLANForeignQuestionIsNotAnswered(t *testing.T) {
	t.Parallel()
	ha, hb := cable(t)
	hb.IP("address", "add", foreign+"/24", "dev", "lan0")
	ha.IP("route", "add", foreignNet, "dev", "lan0")
	hc := act(t, hb, "discover 2")
	act(t, ha, "discover 1").until("both run", seen(somebody(2).ID, ""))
	hc.kill()
	a := act(t, hb, "intrude")
	a.until("all is asked", func(r report) bool { return r.What == "done" })
	if len(a.past) != 2 || a.past[0].Addr != lantest.Addr(1, 1) {
		t.Errorf("answered: %v", a.past)
	}
}
