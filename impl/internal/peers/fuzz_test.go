package peers

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

const (
	one  = `{"agent_id":"ed25519.66687aadf862bd776c8fc18b8e9f8e20","public_key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","addr":"192.0.2.1:7100","source":"enrolled"}`
	two  = `{"agent_id":"ED25519.72cd6e8422c407fb6d098690f1130b7d","public_key":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=","source":"cached"}`
	gone = `"ed25519.00000000000000000000000000000000"`
)

// FuzzDecode: a file that is taken holds only peers that the book may hold, each
// once, and is the same after the book has written it; one that is refused is
// refused whole.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"version":1,"peers":[` + one + `,` + two + `],"forgotten":[` + gone + `]}`, `{"version":1,"peers":[]}`, `{"version":1}`, `{"version":2}`,
		`{"version":1,"peers":[` + one + `,` + one + `]}`, `{"version":1,"forgotten":[` + gone + `,` + gone + `]}`,
		`{"version":1,"peers":[` + one + `],"forgotten":["ed25519.66687aadf862bd776c8fc18b8e9f8e20"]}`,
		`{"version":1,"peers":[` + string(bytes.Replace([]byte(one), []byte("192.0.2.1:7100"), []byte("\\u0000"), 1)) + `]}`,
		`{"version":1,"peers":[` + string(bytes.Replace([]byte(one), []byte("enrolled"), []byte("static"), 1)) + `]}`,
		`{"version":1,"peers":null,"forgotten":null}`, `{"version":1,"peers":[{}]}`, "", "null", "[]", `{"version":1}x`, `{"VERSION":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, forgotten, err := decode(text)
		if err != nil {
			if list != nil || forgotten != nil || len(err.Error()) > 10*len(text)+300 {
				t.Fatalf("%q: %v, %v, %v", text, list, forgotten, err)
			}
			return
		}
		b := &Book{peers: map[identity.AgentID]*entry{}, forgotten: forgotten}
		for _, p := range list {
			if p.ID != identity.DeriveAgentID(p.PublicKey) || p.Candidate || p.Source != Cached && p.Source != Enrolled || p.Addr != "" && config.CheckAddr(p.Addr) != nil {
				t.Fatalf("%q: taken: %+v", text, p)
			}
			if b.peers[p.ID] != nil || slices.Contains(forgotten, p.ID) {
				t.Fatalf("%q: %s stands twice", text, p.ID)
			}
			b.peers[p.ID] = &entry{Peer: p, pinned: true}
		}
		written, err := b.encode()
		if err != nil || len(written) > maxFileSize {
			t.Fatalf("%q: %d bytes written: %v", text, len(written), err)
		}
		again, forgottenAgain, err := decode(written)
		slices.SortFunc(list, func(a, b Peer) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) })
		if err != nil || !reflect.DeepEqual(list, again) || !slices.Equal(forgotten, forgottenAgain) {
			t.Fatalf("%q: %+v %v written and read as %+v %v, %v", text, list, forgotten, again, forgottenAgain, err)
		}
	})
}
