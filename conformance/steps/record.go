package steps

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/trace"
	"github.com/axonproto/axon/harness/wire"
)

// Record keeps, for a whole run, how often each sentence about what a target sends
// was looked at and the first time that it was broken. It is safe for concurrent
// use. Its memory is bounded by maxIDs.
type Record struct {
	mu     sync.Mutex
	looked map[string]int
	broken map[string]violation
	ids    map[string]bool
	ours   map[string]bool
}

// maxIDs bounds the ids that are remembered for AXON-ENV-005, and those of what the
// suite itself sent.
const maxIDs = 1 << 20

type violation struct {
	failure  *verdict.Failure
	evidence []trace.Event
	qlog     *probe.QLog
	count    int
}

// NewRecord makes an empty one.
func NewRecord() *Record {
	return &Record{looked: map[string]int{}, broken: map[string]violation{}, ids: map[string]bool{}, ours: map[string]bool{}}
}

// sent keeps the id of something that the suite sent and that a target may deliver.
func (r *Record) sent(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ours) < maxIDs {
		r.ours[strings.ToLower(id)] = true
	}
}

// isOurs tells whether the suite sent something with that id which may be delivered,
// in this scenario or in another.
func (r *Record) isOurs(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ours[strings.ToLower(id)]
}

// look counts one look at a sentence, and keeps what broke it unless that is nil.
func (r *Record) look(s *Scenario, x *exchange, id, expected, problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked[id]++
	if problem == "" {
		return
	}
	v := r.broken[id]
	v.count++
	if v.failure == nil {
		f := fail(x, expected, "%s", problem).(*verdict.Failure)
		v.failure, v.evidence, v.qlog = f, s.log.Of(f.Connection, f.Stream), s.qlog
	}
	r.broken[id] = v
}

// firstUse tells whether an id was not seen before in this run.
func (r *Record) firstUse(id string) bool {
	id = strings.ToLower(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids[id] {
		return false
	}
	if len(r.ids) < maxIDs {
		r.ids[id] = true
	}
	return true
}

// envelopeRules maps each problem of an envelope to the sentence it breaks.
var envelopeRules = map[wire.ProblemCode]string{
	wire.BOM: "AXON-ENV-001", wire.NotUTF8: "AXON-ENV-001", wire.NotJSON: "AXON-ENV-001", wire.NotObject: "AXON-ENV-001",
	wire.DuplicateMember: "AXON-ENV-002", wire.ExtraMember: "AXON-ENV-002",
	wire.MissingID: "AXON-ENV-002", wire.MissingKind: "AXON-ENV-002", wire.MissingPayload: "AXON-ENV-002",
	wire.IDNotString: "AXON-ENV-003", wire.IDNotUUID: "AXON-ENV-003", wire.IDNotV4: "AXON-ENV-003", wire.IDNotRFCVariant: "AXON-ENV-003",
	wire.IDNil:         "AXON-ENV-004",
	wire.KindNotString: "AXON-ENV-007", wire.KindUnknown: "AXON-ENV-007",
	wire.PayloadNotObject: "AXON-ENV-008",
	wire.TrailingData:     "AXON-STREAM-002",
	wire.RefNotString:     "AXON-ENV-011", wire.RefNotUUID: "AXON-ENV-011",
}

// shape are the sentences that each envelope of a target is held against.
var shape = []struct{ id, expected string }{
	{"AXON-ENV-001", "one JSON object in UTF-8"},
	{"AXON-ENV-002", "the members id, kind, payload and, where due, ref, each once, and no other"},
	{"AXON-ENV-003", "an id that is a hyphenated UUID of version 4 and RFC variant"},
	{"AXON-ENV-004", "an id other than the nil UUID"},
	{"AXON-ENV-007", "one of the four kinds in lower case"},
	{"AXON-ENV-008", "a payload that is an object"},
}

// inspect holds all that the target sent in the scenario against the sentences
// about what a sender may send.
func (s *Scenario) inspect() {
	// A FIN may be on its way; all that are missing have one ceiling to come.
	ctx, cancel := context.WithTimeout(context.Background(), s.Target.Ceiling)
	defer cancel()
	for _, x := range s.exchanges {
		if x.stream != nil && x.stream.Bidi() {
			s.inspectReply(ctx, x)
		}
	}
	conns := s.conns
	for _, p := range s.peers {
		conns = append(conns, p.connections()...)
	}
	for _, c := range conns {
		for _, in := range c.Incoming() {
			s.inspectOpened(&exchange{conn: c, stream: in})
		}
	}
	if !s.Target.HasHandler && !s.handled && s.Target.Control == nil {
		for _, c := range s.conns {
			s.inspectSilence(c)
		}
	}
}

// inspectSilence looks at a connection of a quiet target on which nothing was sent
// that it could have answered by a stream of its own.
func (s *Scenario) inspectSilence(c *probe.Conn) {
	for _, x := range s.exchanges {
		if x.conn == c && (x.stream == nil || !x.stream.Bidi() || !x.due) {
			return
		}
	}
	incoming := c.Incoming()
	on, problem := &exchange{conn: c}, ""
	if len(incoming) > 0 {
		on.stream = incoming[0]
		r := on.read()
		if r.values > 0 && r.names(s.exchanges) {
			return // a reply in the wrong place
		}
		problem = fmt.Sprintf("the target opened stream %d with %s", on.stream.ID(), r.describe())
	}
	s.Target.Record.look(s, on, "AXON-STREAM-007", "the target opens no stream of its own accord", problem)
}

// inspectReply looks at what came on a stream that the probe opened. A reply that
// is still coming is left alone.
func (s *Scenario) inspectReply(ctx context.Context, x *exchange) {
	rec := s.Target.Record
	r := x.read()
	owed := x.due && x.fin
	if r.values > 0 && !r.ended && owed && s.Target.Usual.ending != "" {
		r, _ = x.awaitEnd(ctx)
	}
	if len(r.data) == 0 {
		if x.ordinary() && r.ended && (r.ending.How == probe.Finished || r.ending.How == probe.WasReset) {
			rec.look(s, x, "AXON-KIND-002", "exactly one reply", "the stream carried "+r.describe())
		}
		return
	}
	if !r.ended && r.values == 0 {
		return
	}
	whole := r.ended && r.ending.How == probe.Finished
	if r.values == 0 && !whole {
		// Cut off by a reset or a closed connection: no envelope to speak of.
		if x.due && r.ended && r.ending.How == probe.WasReset {
			rec.look(s, x, "AXON-STREAM-002", "the body, then FIN", r.describe())
		}
		return
	}
	s.inspectShape(x, r)
	kind := r.envelope.Kind
	rec.look(s, x, "AXON-STREAM-004", "a reply of kind response or error", unless(kind == "response" || kind == "error", "the reply's kind is %q", kind))
	rec.look(s, x, "AXON-STREAM-003", "one reply on a stream", unless(r.values <= 1, "the stream carried %d JSON values", r.values))
	if x.due {
		rec.look(s, x, "AXON-KIND-002", "exactly one reply", unless(r.values == 1, "the stream carried %d JSON values", r.values))
		ref := "none"
		if r.envelope.Ref != nil {
			ref = *r.envelope.Ref
		}
		rec.look(s, x, "AXON-ENV-011", "a ref equal to the request's id "+x.id, unless(wire.SameUUID(ref, x.id), "the reply's ref is %s", ref))
		if !r.ended && owed || r.ended && r.ending.How != probe.ConnectionClosed {
			rec.look(s, x, "AXON-STREAM-002", "the body, then FIN", unless(whole, "the stream carried %s", r.describe()))
		}
	}
	if x.id != "" {
		rec.look(s, x, "AXON-ENV-005", "an id that no message had before", unless(!wire.SameUUID(r.envelope.ID, x.id), "the reply's id is the request's own"))
	}
	if code, _ := errorCode(r.envelope); kind == "error" && (!s.handled && !s.Target.HasHandler || code == "unhandled") {
		s.inspectErrorPayload(x, r)
	}
	if !s.handled && !s.Target.HasHandler && x.ordinary() {
		s.inspectDefault(x, r)
	}
}

// inspectDefault holds the reply to an ordinary request, to which no handler was
// registered, against the sentences about the default error.
func (s *Scenario) inspectDefault(x *exchange, r reply) {
	rec := s.Target.Record
	rec.look(s, x, "AXON-DEFERR-001", "an error", unless(r.envelope.Kind == "error", "the stream carried %s", r.describe()))
	for _, m := range []struct{ id, name, want string }{
		{"AXON-DEFERR-003", "code", `"unhandled"`}, {"AXON-DEFERR-005", "retryable", "false"},
	} {
		problem := ""
		if f, ok := memberProblem(r, m.name, m.want); ok {
			problem = f
		}
		rec.look(s, x, m.id, "a payload with "+m.name+" "+m.want, problem)
	}
	want, got, same := defaultText(x, r)
	rec.look(s, x, "AXON-DEFERR-004", "the message "+strQuote(want), unless(same, "it is %s", got))
}

// inspectShape looks at what holds for each envelope that a target sends.
func (s *Scenario) inspectShape(x *exchange, r reply) {
	rec := s.Target.Record
	found := map[string]string{}
	for _, p := range r.problems {
		id := envelopeRules[p.Code]
		if _, known := found[id]; !known {
			found[id] = fmt.Sprintf("%s: %s", p.Code, p.Detail)
		}
	}
	for _, rule := range shape {
		rec.look(s, x, rule.id, rule.expected, found[rule.id])
	}
	if problem, ok := found["AXON-STREAM-002"]; ok && r.values < 2 {
		rec.look(s, x, "AXON-STREAM-002", "nothing but JSON white space after the object", problem)
	}
	if problem, ok := found["AXON-ENV-011"]; ok && !x.due {
		rec.look(s, x, "AXON-ENV-011", "a ref that is a UUID", problem)
	}
	if id := r.envelope.ID; id != "" && found["AXON-ENV-003"] == "" && found["AXON-ENV-004"] == "" {
		rec.look(s, x, "AXON-ENV-005", "an id that no message had before", unless(rec.firstUse(id), "the id %s was used before in this run", id))
	}
}

// inspectOpened looks at a stream that the target opened.
func (s *Scenario) inspectOpened(x *exchange) {
	r := x.read()
	if r.values == 0 && (len(r.data) == 0 || !r.ended || r.ending.How != probe.Finished) {
		return
	}
	s.inspectShape(x, r)
	rec, kind := s.Target.Record, r.envelope.Kind
	rec.look(s, x, "AXON-KIND-003", "no stream that the target opens carries a response", unless(kind != "response", "stream %d carries one", x.stream.ID()))
	if kind == "request" {
		rec.look(s, x, "AXON-KIND-001", "a request opens a bidirectional stream", unless(x.stream.Bidi(), "it came on unidirectional stream %d", x.stream.ID()))
	}
	if kind == "message" {
		rec.look(s, x, "AXON-KIND-004", "a message opens a unidirectional stream", unless(!x.stream.Bidi(), "it came on bidirectional stream %d", x.stream.ID()))
	}
	rec.look(s, x, "AXON-REF-001", "no ref member where there is nothing to refer to", unless(!r.envelope.RefNull, "ref is there, as null"))
}

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// inspectErrorPayload looks at an error that the target made itself.
func (s *Scenario) inspectErrorPayload(x *exchange, r reply) {
	if r.envelope.Payload.Kind != wire.Object {
		return
	}
	rec := s.Target.Record
	rec.look(s, x, "AXON-ERRPAY-001", "code and message as strings and retryable as a boolean", conventionProblem(r.envelope.Payload))
	if code, ok := errorCode(r.envelope); ok {
		rec.look(s, x, "AXON-ERRPAY-002", "a code in snake_case", unless(snakeCase.MatchString(code), "the code is %q", code))
		message, _ := r.envelope.Payload.Get("message")
		if message.Kind == wire.String {
			rec.look(s, x, "AXON-ERRPAY-004", "a message that explains: several words, not the code again", unless(explains(message.String, code), "the message is %q", message.String))
		}
	}
}

// conventionProblem says where an error payload leaves the convention.
func conventionProblem(payload wire.Value) string {
	for _, m := range []struct {
		name string
		kind wire.Kind
		want string
	}{{"code", wire.String, "a string"}, {"message", wire.String, "a string"}, {"retryable", wire.Bool, "a boolean"}} {
		v, n := payload.Get(m.name)
		if n == 0 {
			return m.name + " is missing"
		}
		if v.Kind != m.kind {
			return fmt.Sprintf("%s is %s, not %s", m.name, v.Raw, m.want)
		}
	}
	return ""
}

// explains: more than a word, and not just the code in other clothes.
func explains(message, code string) bool {
	words := strings.Fields(message)
	plainText := strings.ToLower(strings.Join(words, "_"))
	return len(words) >= 3 && plainText != strings.ToLower(code)
}

// unless is the problem to report, or none when all is well.
func unless(well bool, problem string, args ...any) string {
	if well {
		return ""
	}
	return fmt.Sprintf(problem, args...)
}

// brokenIDs are the sentences that were broken, in their order.
func (r *Record) brokenIDs() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for id, v := range r.broken {
		if v.failure != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// qlogOf is the log of the scenario in which a sentence was broken first.
func (r *Record) qlogOf(id string) *probe.QLog {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken[id].qlog
}

// Verdict says whether a sentence held over the whole run: the failure with its
// evidence, and how often it was looked at.
func (r *Record) Verdict(id string) (f *verdict.Failure, evidence []trace.Event, looked int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.broken[id]
	if v.failure != nil {
		copied := *v.failure
		copied.Actual += fmt.Sprintf(" (in %d of the %d times that it was looked at in this run)", v.count, r.looked[id])
		return &copied, v.evidence, r.looked[id]
	}
	return nil, nil, r.looked[id]
}
