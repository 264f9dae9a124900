// Package play shows AXON at work: Lesson explains the exchanges, Run plays them
// between two throw-away daemons, and Setup makes two state roots to try things
// out with.
//
// It imports impl/client and of impl/internal identity, config, envelope and
// transport. It serves AXON-LEARN-005.
package play

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/axonproto/axon/impl/cli/internal/screen"
	"github.com/axonproto/axon/impl/client"
)

// ceiling bounds a play as a whole.
const ceiling = 30 * time.Second

// Options of Run.
type Options struct {
	// Command starts this program: its path, and arguments that precede those of
	// the command line. Required.
	Command []string
	Out     io.Writer // required
	// JSON prints each line that was carried as a JSON document, in place of the
	// text for people.
	JSON bool
}

// Run starts two daemons that nobody else can reach, lets programs of theirs
// talk, and prints what goes over each wire. Nothing is left of them afterwards.
func Run(ctx context.Context, o Options) (err error) {
	if len(o.Command) == 0 || o.Out == nil {
		return errors.New("play: Options.Command and Out are required; set both")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, ceiling, fmt.Errorf("the examples did not end within %s; try again when the machine is less busy", ceiling))
	defer cancel()
	// When nobody reads any longer the write fails, in place of a signal that
	// would leave the daemons behind.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	dir, err := os.MkdirTemp("", "axon-examples-")
	if err != nil {
		return fmt.Errorf("make a folder for the examples: %w; set TMPDIR to one that can be written", err)
	}
	defer os.RemoveAll(dir)
	s, err := build(ctx, o.Command, dir)
	if s != nil {
		defer s.close()
	}
	if err != nil {
		return err
	}
	p := &play{stage: s, out: o.Out, json: o.JSON, colour: screen.Coloured(o.Out)}
	p.text("Two daemons run on this machine for the length of this play: alice (%s) and bob (%s). What goes over the local sockets is shown as it was recorded, and the envelopes between the daemons as both ends were given them.", s.alice.id.ID, s.bob.id.ID)
	for n, scene := range []struct {
		title string
		play  func(context.Context) error
	}{
		{"A request that a program answers", p.answered},
		{"A request that nobody handles", p.unhandled},
		{"A message", p.message},
		{"An envelope of a kind that this version does not know", p.unknownKind},
	} {
		if p.err != nil {
			return p.err
		}
		p.scene = n + 1
		p.heading(scene.title)
		if err := scene.play(ctx); err != nil {
			if p.err != nil {
				return p.err
			}
			return fmt.Errorf("%s: %w", strings.ToLower(scene.title[:1])+scene.title[1:], err)
		}
	}
	return p.err
}

// play prints.
type play struct {
	*stage
	out    io.Writer
	json   bool
	colour bool
	scene  int
	err    error // of the first print that failed
}

func (p *play) print(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format, args...); err != nil && p.err == nil {
		p.err = fmt.Errorf("write output: %w", err)
	}
}

func (p *play) heading(title string) {
	if !p.json {
		p.print("\n%s\n", screen.Paint(p.colour, screen.Bold, fmt.Sprintf("%d. %s", p.scene, title)))
	}
}

func (p *play) text(format string, args ...any) {
	if !p.json {
		p.print("%s\n", screen.Fold(fmt.Sprintf(format, args...), "", "", 80))
	}
}

// The ways by which lines are carried.
const (
	overSocket = "local socket"
	overBidi   = "bidirectional stream"
	overSame   = "same stream"
	overUni    = "unidirectional stream"
)

// carried shows one line.
func (p *play) carried(from, to, over string, line []byte) {
	if !p.json {
		p.print("  %s\n    %s\n", screen.Paint(p.colour, screen.Faint, fmt.Sprintf("%s → %s, %s", from, to, over)), screen.JSON(line))
		return
	}
	p.print("%s\n", encode(struct {
		Scene int             `json:"scene"`
		From  string          `json:"from"`
		To    string          `json:"to"`
		Over  string          `json:"over"`
		Line  json.RawMessage `json:"line"`
	}{p.scene, from, to, over, line}))
}

// encode returns v as JSON, with the characters of its texts as they are. It is
// used for what came as JSON, and cannot fail then.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return bytes.TrimSpace(b.Bytes())
}

// tape keeps what a program sent and received, to be shown in order.
type tape struct {
	mu    sync.Mutex // guards lines
	lines []taped
}

type taped struct {
	way  client.Direction
	line []byte
}

func (t *tape) record(way client.Direction, line []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, taped{way, append([]byte(nil), line...)})
}

// find returns the last line of that way in which member has the value, or has
// any value when that is "".
func (t *tape) find(way client.Direction, member, value string) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.lines) - 1; i >= 0; i-- {
		var members map[string]json.RawMessage
		if t.lines[i].way != way || json.Unmarshal(t.lines[i].line, &members) != nil || members[member] == nil {
			continue
		}
		var text string
		if value == "" || json.Unmarshal(members[member], &text) == nil && text == value {
			return t.lines[i].line
		}
	}
	return []byte(`{}`)
}
