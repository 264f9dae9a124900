package suite

import (
	"io"

	"github.com/cucumber/godog"
	"github.com/cucumber/godog/formatters"
	messages "github.com/cucumber/messages/go/v34"
)

// silentFormat is the name of a godog formatter that prints nothing: results are
// taken in the hooks.
const silentFormat = "axon-silent"

func init() {
	godog.Format(silentFormat, "prints nothing", func(string, io.Writer) formatters.Formatter { return silent{} })
}

type silent struct{}

func (silent) TestRunStarted()                                                                     {}
func (silent) Feature(*messages.GherkinDocument, string, []byte)                                   {}
func (silent) Pickle(*messages.Pickle)                                                             {}
func (silent) Defined(*messages.Pickle, *messages.PickleStep, *formatters.StepDefinition)          {}
func (silent) Passed(*messages.Pickle, *messages.PickleStep, *formatters.StepDefinition)           {}
func (silent) Skipped(*messages.Pickle, *messages.PickleStep, *formatters.StepDefinition)          {}
func (silent) Undefined(*messages.Pickle, *messages.PickleStep, *formatters.StepDefinition)        {}
func (silent) Pending(*messages.Pickle, *messages.PickleStep, *formatters.StepDefinition)          {}
func (silent) Ambiguous(*messages.Pickle, *messages.PickleStep, *formatters.StepDefinition, error) {}
func (silent) Failed(*messages.Pickle, *messages.PickleStep, *formatters.StepDefinition, error)    {}
func (silent) Summary()                                                                            {}
