package steps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/trace"
	"github.com/axonproto/axon/harness/wire"
)

// Scenario is the state of one scenario while it runs: its probe, its connections
// and what was sent on them. It is used by one goroutine, godog's.
type Scenario struct {
	// Target is shared by all scenarios of a run.
	Target *Target
	// IDs are the requirement ids that the scenario is tagged with.
	IDs []string
	// Skip makes every step do nothing: the scenario is not selected.
	Skip bool
	// Err is what ended the scenario, nil so far.
	Err error
	// Observed is what an ADVISORY scenario saw.
	Observed string
	// Moved, where it is set, is told of each sign of life in a check of many
	// exchanges, whose ceiling bounds the time between two of them.
	Moved func()
	// Lost: what ended the scenario was an answer that never came or a connection
	// that broke, so the target itself may be gone.
	Lost bool
	// Evidence is the transcript of a failure seen earlier in the run, when the
	// failure is not this scenario's own.
	Evidence []trace.Event

	log *trace.Log
	// qlog keeps what its own probes see; evidenceLog is that of the scenario which
	// Evidence comes from. Both are nil unless the target asks for qlogs.
	qlog, evidenceLog *probe.QLog

	endpoint *probe.Endpoint
	conn     *probe.Conn
	conns    []*probe.Conn
	// seen is the number of streams that the target had opened on conn when the
	// last stimulus was sent.
	seen int
	last *exchange
	// barred: the barrier has been passed after all that was sent.
	barred bool
	// unasked: a new connection is not tried by a request of its own.
	unasked   bool
	exchanges []*exchange
	// peers are further probes that the target was told of.
	peers []*peer
	// calls are the times that the target was asked to send, in order.
	calls  []*call
	asking sync.WaitGroup
	// answered is the payload of the peer's last reply.
	answered []byte
	handler  control.Handler
	// locals are the local clients by name, line is what one of them got last.
	locals map[string]*local
	line   control.Line
	// speaker is the local client that said something last.
	speaker *local
	// crowd are local clients without names, deaf is one that does not read.
	crowd []*control.Session
	deaf  *control.Session
	// waiting are requests that the handler has been given and has not answered.
	waiting []*exchange
	// silent is a socket that answers nothing.
	silent net.PacketConn
	// written is what a peer wrote back last, as it was spelled out.
	written wire.Envelope
	// flooded are the numbered messages that were sent.
	flooded flood
	// counters are the target's, when they were noted.
	counters map[string]int64
	// handled: a handler was registered at some time, so an error may be its own.
	handled  bool
	observer control.Observer
	// handed is the request that the handler was given last, held one that it
	// keeps for later, with the exchange that it belongs to.
	handed, held control.Request
	heldExchange *exchange
	// scene is what the scenario does on a network; nil while it does nothing there.
	scene *scene
	// terminal is what the scenario does at the target's command line; nil while it
	// does nothing there.
	terminal *terminal
	// dialed is the outcome of the last dial of a TLS step.
	dialed      *dialOutcome
	inspectOnce sync.Once
}

// New makes the state of a scenario.
func New(t *Target, ids []string) *Scenario {
	s := &Scenario{Target: t, IDs: ids, log: trace.New(0)}
	if t.QLog {
		s.qlog = probe.NewQLog()
	}
	return s
}

// QLog returns the qlog of the connection on which the scenario failed, the newest
// for number 0; nil when there is none. Call it once the scenario is closed.
func (s *Scenario) QLog(ctx context.Context, number int) []byte {
	switch {
	case s.evidenceLog != nil:
		return s.evidenceLog.Connection(ctx, number)
	case s.qlog != nil && s.Evidence == nil:
		return s.qlog.Connection(ctx, number)
	}
	return nil
}

// Log is the trace of the scenario.
func (s *Scenario) Log() *trace.Log { return s.log }

// probe returns the scenario's endpoint, opening it at first use.
func (s *Scenario) probe() (*probe.Endpoint, error) {
	if s.endpoint != nil {
		return s.endpoint, nil
	}
	e, err := probe.New(probe.Options{Identity: s.Target.Identity, Log: s.log, Listen: s.Target.listenAddress(), QLog: s.qlog, KeyLog: s.Target.KeyLog})
	if err != nil {
		return nil, fmt.Errorf("open a UDP socket for the probe: %w", err)
	}
	s.endpoint = e
	return e, nil
}

// dial connects as an admitted peer. That it cannot is a broken precondition.
func (s *Scenario) dial(ctx context.Context) (*probe.Conn, error) {
	if s.Target.Single && s.conn != nil {
		_ = s.conn.Close(0, "the target keeps one connection")
	}
	e, err := s.probe()
	if err != nil {
		return nil, err
	}
	c, err := e.Dial(ctx, s.Target.dialOptions())
	if err != nil {
		s.Lost = true
		return nil, &verdict.Blocked{Reason: "no connection to the target", Err: err}
	}
	s.conns = append(s.conns, c)
	if s.Target.Single && s.Target.Usual.form != "" && !s.unasked {
		if c, err = s.kept(ctx, e, c); err != nil {
			return nil, err
		}
	}
	s.conn, s.seen = c, 0
	return c, nil
}

// moved tells of a sign of life.
func (s *Scenario) moved() {
	if s.Moved != nil {
		s.Moved()
	}
}

// connection returns the current connection, dialling the first.
func (s *Scenario) connection(ctx context.Context) (*probe.Conn, error) {
	if s.conn != nil {
		return s.conn, nil
	}
	return s.dial(ctx)
}

// Close looks at all that the target sent, for the Record, and gives back what the
// scenario holds.
func (s *Scenario) Close() {
	s.inspectOnce.Do(s.inspect)
	s.Release()
	s.closeScene()
	if s.observer != nil {
		_ = s.observer.Close()
	}
	s.closeLocals()
	for _, p := range s.peers {
		p.close(s)
	}
	s.closeTerminal()
	if s.endpoint != nil {
		_ = s.endpoint.Close()
	}
	s.asking.Wait()
}

// fail makes a failure at a stream of the scenario.
func fail(x *exchange, expected, actual string, args ...any) error {
	f := &verdict.Failure{Expected: expected, Actual: fmt.Sprintf(actual, args...), Stream: -1}
	if x != nil && x.stream != nil {
		f.Connection, f.Stream = x.conn.Number(), x.stream.ID()
	} else if x != nil && x.conn != nil {
		f.Connection = x.conn.Number()
	}
	return f
}

// lose is fail for an answer that did not come; it marks the scenario, so that the
// suite looks whether the target still lives.
func (s *Scenario) lose(x *exchange, expected, actual string, args ...any) error {
	s.Lost = true
	return fail(x, expected, actual, args...)
}

// about narrows a failure to one of the scenario's sentences.
func about(err error, id string) error {
	if f, ok := err.(*verdict.Failure); ok {
		f.Requirements = []string{id}
	}
	return err
}

// together makes one failure of several that are about different sentences: the
// first one's place and words, with the others' words behind them.
func together(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	first, ok := errs[0].(*verdict.Failure)
	if !ok {
		return errs[0]
	}
	for _, err := range errs[1:] {
		f, ok := err.(*verdict.Failure)
		if !ok {
			return err
		}
		first.Requirements = append(first.Requirements, f.Requirements...)
		first.Expected += "; " + f.Expected
		first.Actual += "; " + f.Actual
	}
	return first
}

// timedOut tells an error of a context from others.
func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// ShutDown tells whether the target ended a connection of the scenario in good
// order, as one does that is being stopped.
func (s *Scenario) ShutDown() bool {
	for _, c := range s.conns {
		if end := c.End(); end != nil && end.Remote && end.Application && end.Code == 0 {
			return true
		}
	}
	return false
}
