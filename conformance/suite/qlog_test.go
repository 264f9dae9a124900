package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/features"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
)

// TestQLogOfEachFailure runs a few checks against a peer whose answers are no
// envelopes: what fails in a check, and what fails over the whole run, has a qlog.
func TestQLogOfEachFailure(t *testing.T) {
	own, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	peer, err := probe.New(probe.Options{Identity: own})
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	listener, err := peer.Listen(probe.ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var accepting sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer accepting.Wait()
	defer stop()
	accepting.Go(func() {
		for {
			c, err := listener.Accept(ctx)
			if err != nil {
				return
			}
			c.OnIncoming(func(s *probe.Stream) {
				if _, err := s.Wait(ctx); err == nil && s.Bidi() {
					_ = s.Send(ctx, []byte("{}"))
				}
			})
		}
	})
	me, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	dir, secrets := t.TempDir(), &bytes.Buffer{}
	r, err := Run(t.Context(), Options{
		Address: peer.Addr().String(), Identity: me, Features: features.FS(), Timeout: 5 * time.Second,
		Select: Selection{Requirements: []string{"AXON-ENV-002"}}, QLogDir: dir, KeyLog: secrets,
	})
	if err != nil {
		t.Fatal(err)
	}
	failed, wholeRun := 0, 0
	for _, s := range r.Requirements[0].Scenarios {
		if s.Verdict != verdict.Fail {
			continue
		}
		failed++
		if s.WholeRun {
			wholeRun++
		}
		if want := filepath.Join(dir, strings.ReplaceAll(s.Location, ":", "-")+".sqlog"); s.QLog != want {
			t.Errorf("%s: the qlog is %q, want %q", s.Location, s.QLog, want)
			continue
		}
		text, err := os.ReadFile(s.QLog)
		if err != nil {
			t.Error(err)
		}
		for i, record := range strings.Split(strings.TrimPrefix(string(text), "\x1e"), "\x1e") {
			if !json.Valid([]byte(record)) {
				t.Errorf("%s: record %d is no JSON: %s", s.QLog, i, record)
			}
		}
	}
	if failed < 2 || wholeRun == 0 {
		t.Errorf("%d checks failed, %d of them over the whole run: %+v", failed, wholeRun, r.Requirements[0])
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != failed {
		t.Errorf("%d files for %d failures, %v", len(files), failed, err)
	}
	if !strings.Contains(secrets.String(), "CLIENT_TRAFFIC_SECRET_0 ") {
		t.Error("no TLS secrets were kept")
	}
}
