package transport

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/internal/envelope"
)

func TestBodiesAndAborts(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	e, h := listen(t, own, pinned(peer), func(o *Options) { o.StreamTimeout = 300 * time.Millisecond })
	qc := newRemote(t).mustDial(ctx, e, peer)

	t.Run("largest body", func(t *testing.T) {
		body := bytes.Repeat([]byte("a"), envelope.MaxSize)
		got, err := ask(ctx, qc, body)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	t.Run("too large", func(t *testing.T) {
		s, err := qc.OpenStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		// No FIN: the refusal must not wait for one.
		_, _ = s.Write(bytes.Repeat([]byte("a"), envelope.MaxSize+1))
		_, err = io.ReadAll(s)
		wantReset(t, err, codeTooLarge)
		<-s.Context().Done()
		_, err = s.Write([]byte("a"))
		wantReset(t, err, codeTooLarge)
		alive(t, ctx, qc)
	})
	t.Run("too large on uni", func(t *testing.T) {
		s, err := qc.OpenUniStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.Write(bytes.Repeat([]byte("a"), envelope.MaxSize+1))
		<-s.Context().Done()
		_, err = s.Write([]byte("a"))
		wantReset(t, err, codeTooLarge)
		alive(t, ctx, qc)
	})
	t.Run("no FIN", func(t *testing.T) {
		s, err := qc.OpenStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.Write([]byte("hello"))
		alive(t, ctx, qc) // held back by no stalled stream
		_, err = io.ReadAll(s)
		wantReset(t, err, codeLate)
		<-s.Context().Done()
		_, err = s.Write([]byte("a"))
		wantReset(t, err, codeLate)
	})
	t.Run("no FIN on uni", func(t *testing.T) {
		s, err := qc.OpenUniStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.Write([]byte("hello"))
		<-s.Context().Done()
		_, err = s.Write([]byte("a"))
		wantReset(t, err, codeLate)
		alive(t, ctx, qc)
	})
	t.Run("refused by the handler", func(t *testing.T) {
		_, err := ask(ctx, qc, []byte("refuse"))
		wantReset(t, err, codeMalformed)
		alive(t, ctx, qc)
	})
	t.Run("reset before FIN", func(t *testing.T) {
		s, err := qc.OpenStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.Write([]byte("whole"))
		s.CancelWrite(7)
		_, err = io.ReadAll(s)
		wantReset(t, err, codeNone)
		alive(t, ctx, qc)
	})
	t.Run("uni", func(t *testing.T) {
		s, err := qc.OpenUniStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []string{"in ", "three ", "pieces"} {
			if _, err := s.Write([]byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
		_ = s.Close()
		if got := <-h.uni; got != "in three pieces" {
			t.Errorf("got %q", got)
		}
	})
}

func TestManyStreams(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	e, h := listen(t, own, pinned(peer), nil)
	r := newRemote(t)
	qc := r.mustDial(ctx, e, peer)

	var wg sync.WaitGroup
	for i := range 256 {
		wg.Go(func() {
			body := fmt.Sprintf("%d %s", i, strings.Repeat("x", 1000))
			if got, err := ask(ctx, qc, []byte(body)); err != nil || string(got) != body {
				t.Errorf("request %d: %.20q, %v", i, got, err)
			}
		})
	}
	wg.Wait()
	// More than the credit, one after the other: it is given back.
	for i := range maxStreams + 100 {
		if _, err := ask(ctx, qc, []byte("a")); err != nil {
			t.Fatalf("request %d in a row: %v", i, err)
		}
	}
	for i := range maxStreams + 100 {
		s, err := qc.OpenUniStreamSync(ctx)
		if err != nil {
			t.Fatalf("message %d in a row: %v", i, err)
		}
		_, _ = s.Write([]byte("m"))
		_ = s.Close()
		<-h.uni
	}

	// Several connections of one identity are all served.
	for range 4 {
		alive(t, ctx, r.mustDial(ctx, e, peer))
	}
	alive(t, ctx, qc)
}
