package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/cli/internal/play"
	"github.com/axonproto/axon/impl/cli/internal/screen"
)

func newExamples(p *app) *cobra.Command {
	var asJSON, run bool
	var setup string
	cmd := &cobra.Command{
		Use:   "examples",
		Short: "Explain the protocol by examples, or play them",
		Long: paragraphs(
			"Print annotated exchanges: what an agent does, the command that does it, and the envelopes that travel between the daemons for it.",
			"With --run, two throw-away daemons are started that nobody else can reach, and exchanges are played between them: a request that is answered, one that nobody handles, a message, and a kind of envelope that this version does not know. What goes over each wire is printed beside it.",
			"With --setup, two state roots are made in a folder, alice and bob, that know each other and are reached on this machine only: a start for trying things out."),
		Example: lines("axon examples", "axon examples --run", "axon examples --setup ."),
		Args:    wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			switch {
			case run && setup != "":
				return usagef("--run and --setup exclude each other; run one after the other")
			case run:
				command, err := p.self()
				if err != nil {
					return err
				}
				return play.Run(cmd.Context(), play.Options{Command: command, Out: out, JSON: asJSON})
			case setup != "":
				return setUp(cmd, setup, asJSON)
			case asJSON:
				return printJSON(out, lessonJSON())
			}
			_, err := fmt.Fprint(out, lessonText(screen.Coloured(out)))
			return err
		},
	}
	flags := cmd.Flags()
	jsonFlag(cmd, &asJSON)
	flags.BoolVar(&run, "run", false, "play exchanges between two throw-away daemons")
	flags.StringVar(&setup, "setup", "", "make the state roots alice and bob in this folder")
	_ = cmd.MarkFlagDirname("setup")
	return cmd
}

// self is how to start this program again: its file, and those arguments that
// came before the ones of the command line, where axon is a part of another
// program.
func (p *app) self() ([]string, error) {
	file, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w; start it by its full path", err)
	}
	command := []string{file}
	if before := len(os.Args) - len(p.args); before > 1 && slices.Equal(os.Args[before:], p.args) {
		command = append(command, os.Args[1:before]...)
	}
	return command, nil
}

func lessonText(colour bool) string {
	var b strings.Builder
	b.WriteString(paragraphs(
		"Between daemons travel JSON objects, the envelopes. There are four kinds: a request is answered by a response or an error, and a message is told without an answer. An envelope has an id of its own, its kind, a payload, which is any JSON object that the two agents agree on, and, where it refers to another envelope, that one's id as its ref.") + "\n")
	for i, x := range play.Lesson() {
		b.WriteString("\n" + screen.Paint(colour, screen.Bold, fmt.Sprintf("%d. %s", i+1, x.Title)) + "\n")
		b.WriteString(screen.Fold(x.Text, "", "", helpWidth) + "\n\n  $ " + x.Command + "\n")
		for _, e := range x.Envelopes {
			b.WriteString("\n" + screen.Fold(e.Text+" ("+e.Over+")", "  ", "  ", helpWidth) + "\n    " + string(e.Envelope) + "\n")
		}
	}
	b.WriteString("\n" + paragraphs("To see these between two real daemons on this machine, run `axon examples --run`.") + "\n")
	return b.String()
}

func lessonJSON() any {
	return struct {
		Examples []play.Exchange `json:"examples"`
	}{play.Lesson()}
}

func setUp(cmd *cobra.Command, dir string, asJSON bool) error {
	if err := play.Setup(dir); err != nil {
		return err
	}
	roots := make([]string, len(play.Names))
	for i, name := range play.Names {
		roots[i] = filepath.Join(dir, name)
	}
	out := cmd.OutOrStdout()
	if asJSON {
		return printJSON(out, struct {
			StateRoots []string `json:"state_roots"`
		}{roots})
	}
	alice, bob := quoteWord(roots[0]), quoteWord(roots[1])
	_, err := fmt.Fprintf(out, `made %s and %s, two agents that know each other

Now start both, alice with something that answers:
  axon daemon --state-root %[2]s --quiet &
  axon daemon --state-root %[1]s --echo
and let bob ask alice, in another terminal:
  axon request --state-root %[2]s alice "Hello, alice"
`, alice, bob)
	return err
}
