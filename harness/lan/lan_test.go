package lan

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan/netns"
)

// inside marks the process that has a private network.
const inside = "AXON_LAN_TEST_INSIDE"

// ceiling ends a test that hangs; no passing test waits for it.
const ceiling = 20 * time.Second

// TestMain runs the tests in a process with a private network, where multicast
// reaches nobody. Where there can be none, those that need it are skipped.
func TestMain(m *testing.M) {
	if os.Getenv(inside) == "" && netns.Possible() == nil {
		cmd, err := netns.Privately(context.Background(), os.Args)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		cmd.Env = append(os.Environ(), inside+"=1")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			os.Exit(1)
		}
		return
	}
	if os.Getenv(inside) != "" {
		if err := netns.Furnish("lan0", "10.77.1.1/24", "10.77.1.2/24"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

func needNetwork(t *testing.T) {
	t.Helper()
	if os.Getenv(inside) != "" {
		return
	}
	why := fmt.Sprintf("%v; run the tests as root to include this one", netns.Possible())
	if os.Getenv("AXON_REQUIRE_NETNS") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func open(t *testing.T) *Network {
	t.Helper()
	needNetwork(t)
	n, err := Open("lan0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), ceiling)
	t.Cleanup(cancel)
	return ctx
}

func identity(t *testing.T) credential.Identity {
	t.Helper()
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestAdvertIsHeardAndRead(t *testing.T) {
	a, b := open(t), open(t)
	id := identity(t)
	at := netip.MustParseAddrPort("10.77.1.2:7100")
	mark := b.Mark()
	announcer, err := a.Announce(Honest(id, at), netip.MustParseAddr("10.77.1.2"), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := b.Await(within(t), mark, Packet.Answers)
	if err != nil {
		t.Fatal(err)
	}
	if p.From != netip.MustParseAddrPort("10.77.1.2:5353") || !p.Group {
		t.Errorf("from %s, group %t", p.From, p.Group)
	}
	found := FoundIn(Service, p)
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	f := found[0]
	if len(f.Labels) != 4 || f.Labels[0] != "axon-"+id.AgentID() || f.Port != 7100 || !slices.Equal(f.Addresses, []netip.Addr{at.Addr()}) || f.Gone {
		t.Errorf("found %+v", f)
	}
	if key, n := f.Attribute("PubKey"); n != 1 || key != id.PublicBase64() {
		t.Errorf("pubkey %q, %d times", key, n)
	}
	mark = b.Mark()
	if err := announcer.Goodbye(); err != nil {
		t.Fatal(err)
	}
	if p, _, err = b.Await(within(t), mark, Packet.Answers); err != nil {
		t.Fatal(err)
	}
	if f := FoundIn(Service, p)[0]; !f.Gone || !p.Mentions(f.Name) {
		t.Errorf("the goodbye is %+v", f)
	}
	if announcer.Err() != nil || announcer.Last().Before(announcer.First()) {
		t.Errorf("%v, %s, %s", announcer.Err(), announcer.First(), announcer.Last())
	}
}

func TestQuestionsAreAnsweredWhereTheyCameFrom(t *testing.T) {
	a, b := open(t), open(t)
	announcer, err := a.Announce(Honest(identity(t), netip.MustParseAddrPort("10.77.1.1:7100")), netip.Addr{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer announcer.Stop()
	asker, err := b.Asker()
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	for _, q := range []Question{{Name: "_AXON._Udp.LOCAL."}, {Name: announcer.Advert().Instance(), Type: dns.TypeTXT}} {
		mark := asker.Mark()
		if err := asker.Ask(q); err != nil {
			t.Fatal(err)
		}
		p, _, err := asker.Await(within(t), mark, Packet.Answers)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Message.Question) != 1 || p.Message.Question[0].Name != q.Name {
			t.Errorf("the answer repeats %v", p.Message.Question)
		}
	}
	mark := b.Mark()
	if err := b.Ask(Question{Name: Service}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Await(within(t), mark, Packet.Answers); err != nil {
		t.Fatal(err)
	}
	// Its own question is not among what it heard.
	for _, p := range b.Since(mark) {
		if !p.Answers() {
			t.Errorf("heard %v", p.Message)
		}
	}
}

func TestQuestionInAnothersName(t *testing.T) {
	a, b := open(t), open(t)
	mark := a.Mark()
	source := netip.MustParseAddrPort("203.0.113.7:5353")
	if err := b.AskAs(source, Question{Name: Service}); err != nil {
		t.Fatal(err)
	}
	p, _, err := a.Await(within(t), mark, func(p Packet) bool { return p.From == source })
	if err != nil {
		t.Fatal(err)
	}
	if p.Message == nil || p.Message.Question[0].Name != Service {
		t.Errorf("heard %v", p.Message)
	}
}

func TestWhatIsNoMessageIsHeardToo(t *testing.T) {
	a, b := open(t), open(t)
	mark := a.Mark()
	if err := b.Send([]byte("no DNS at all"), netip.Addr{}); err != nil {
		t.Fatal(err)
	}
	p, _, err := a.Await(within(t), mark, func(Packet) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if p.Message != nil || string(p.Data) != "no DNS at all" {
		t.Errorf("heard %q, %v", p.Data, p.Message)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var e ear
	e.init()
	defer e.end()
	for range 3 * maxHeard {
		e.hear([]byte("x"), netip.AddrPort{}, true)
	}
	if n := len(e.Since(0)); n > maxHeard || e.Mark() != 3*maxHeard {
		t.Errorf("%d packets are kept, the mark is %d", n, e.Mark())
	}
}

func TestInterfaceThatCannotBeUsed(t *testing.T) {
	needNetwork(t)
	for name, want := range map[string]string{"nowhere0": "there are: ", "lo": "carries no multicast"} {
		_, err := Open(name)
		if !errors.Is(err, ErrInterface) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, label := range []string{"axon-ed25519.0123", `a\b`, "sp ace", "\x00\xff", "plain", `"`} {
		if got := unescape(Escape(label)); got != label {
			t.Errorf("%q became %q", label, got)
		}
	}
}
