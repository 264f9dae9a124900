package fuzz

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/axonproto/axon/conformance/mutants"
	"github.com/axonproto/axon/features"
	"github.com/axonproto/axon/harness/credential"
)

// stage plays a peer with a fault, again whenever it has died.
type stage struct {
	t     testing.TB
	fault string
	me    credential.Identity
	stop  func()
}

func play(t testing.TB, fault string) (*stage, Options) {
	t.Helper()
	me, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, fault: fault, me: me, stop: func() {}}
	t.Cleanup(func() { s.stop() })
	address, _, err := s.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, Options{Address: address, Identity: me, Features: features.FS(), Ceiling: time.Second, Restart: s.start}
}

func (s *stage) start(ctx context.Context) (address string, pid int, err error) {
	s.stop()
	id, err := credential.New()
	if err != nil {
		return "", 0, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- mutants.Play(ctx, mutants.PlayOptions{Identity: id, Admit: s.me.Public(), Fault: s.fault, Ready: func(a string) { ready <- a }})
	}()
	var once sync.Once
	s.stop = func() {
		once.Do(func() {
			cancel()
			<-done
		})
	}
	select {
	case address = <-ready:
		return address, 0, nil
	case err := <-done:
		done <- err
		return "", 0, err
	}
}
