package ipc

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/envelope"
)

// seeds are lines to send as they are, to bend and to break.
var seeds = []string{
	`{"cmd":"send","to":"PEER","kind":"request","payload":{"a":[1,2,{"b":null}]},"timeout_secs":2}`,
	`{"cmd":"send","to":"PEER","kind":"message","payload":{},"ref":"UUID"}`,
	`{"cmd":"send","to":"SELF","kind":"message","payload":{"é":"\ud800"}}`,
	`{"cmd":"serve"}`, `{"cmd":"peers"}`, `{"cmd":"status"}`, `{"cmd":"whoami"}`,
	`{"cmd":"reply","request_id":"UUID","kind":"response","payload":{}}`,
	`{"cmd":"decline","request_id":"UUID","peer":"PEER"}`,
	`{"cmd":"add_peer","token":"TOKEN"}`, `{"cmd":"add_peer","pubkey":"KEY","addr":"h:1"}`,
	`{"cmd":"add_peer","agent_id":"PEER"}`, `{"cmd":"remove_peer","agent_id":"PEER"}`,
	"", "null", "[]", "{}", "\x00\xff\xfe", `{"cmd":`, `{"a":{"a":{"a":{"a":{}}}}}`, strings.Repeat("[", 12000),
}

// bend returns a random line without a newline in it.
func bend(r *rand.Rand, f *fixture) string {
	line := f.fill(seeds[r.IntN(len(seeds))])
	if r.IntN(2) == 0 && strings.HasSuffix(line, "}") && len(line) > 2 {
		line = strings.TrimSuffix(line, "}") + fmt.Sprintf(`,"req_id":"%d"}`, r.IntN(100))
	}
	b := []byte(line)
	for range r.IntN(4) {
		if len(b) == 0 {
			break
		}
		switch i := r.IntN(len(b)); r.IntN(4) {
		case 0:
			b[i] = byte(r.IntN(256))
		case 1:
			b = append(b[:i], b[i+1:]...)
		case 2:
			b = append(b[:i:i], append([]byte(`"x":1,`), b[i:]...)...)
		case 3:
			b = b[:i]
		}
	}
	for i, c := range b {
		if c == '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}

// TestRandomLines sends 10,000 lines from 64 clients at once, while peers ask
// and notify. Those that read get one answer for each line; some leave at a
// random moment, some never read.
func TestRandomLines(t *testing.T) {
	f := newFixture(t, nil)
	const perClient = 10000/MaxClients + 1
	all := f.attached(MaxClients)
	stop := make(chan struct{})
	var noise sync.WaitGroup
	noise.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-f.request(t.Context(), f.peer.ID, uuid.MustParse(someID), `{}`):
			}
		}
	})
	noise.Go(func() {
		for range 500 {
			f.uni(envelope.New(envelope.Message, []byte(`{}`)))
		}
	})
	var clients sync.WaitGroup
	for i, c := range all {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		clients.Go(func() {
			defer c.conn.Close()
			switch i % 8 {
			case 7: // never reads
				for range perClient {
					if _, err := io.WriteString(c.conn, bend(r, f)+"\n"); err != nil {
						return
					}
				}
				return
			case 6: // leaves early, in the middle of a line
				for range r.IntN(perClient) {
					c.send(bend(r, f))
				}
				_, _ = io.WriteString(c.conn, `{"cmd":"sta`)
				return
			}
			read := make(chan struct{})
			go func() {
				defer close(read)
				for answers := 0; answers < perClient; {
					line, err := c.r.ReadBytes('\n')
					if err != nil {
						t.Errorf("client %d: %v after %d answers", i, err, answers)
						return
					}
					var p parsed
					if err := json.Unmarshal(line, &p); err != nil {
						t.Errorf("%s: %v", line, err)
					}
					if p.OK != nil {
						answers++
					} else if p.Event == "" {
						t.Errorf("neither answer nor event: %s", line)
					}
				}
			}()
			for range perClient {
				c.send(bend(r, f))
			}
			<-read
		})
	}
	clients.Wait()
	close(stop)
	// The one that holds the lease, if any, is gone, so that the last request
	// ends.
	noise.Wait()
	for f.client().ask(`{"cmd":"serve"}`) != `{"ok":true,"serving":true}` {
		continue // until the last session has ended
	}
}
