package schemas

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Names of the schemas, for Compile.
const (
	Envelope     = "wire/envelope"
	DefaultError = "wire/default-error"
	ErrorPayload = "wire/error-payload"
	Report       = "report/report"
	Baseline     = "baseline/baseline"

	// The local API: an envelope as clients see it, a line that a client sends,
	// an event, an error answer, and the positive answer to each command.
	IPCEnvelope   = "ipc/envelope"
	Command       = "ipc/command"
	Event         = "ipc/event"
	AnswerError   = "ipc/answer-error"
	AnswerSend    = "ipc/answer-send"
	AnswerServe   = "ipc/answer-serve"
	AnswerRequest = "ipc/answer-request" // of reply and decline
	AnswerPeers   = "ipc/answer-peers"
	AnswerPeer    = "ipc/answer-peer" // of add_peer and remove_peer
	AnswerStatus  = "ipc/answer-status"
	AnswerWhoAmI  = "ipc/answer-whoami"

	// The protocol of drivers: a line from the suite, and the two sorts of line
	// from a driver.
	DriverCommand = "driver/command"
	DriverAnswer  = "driver/answer"
	DriverEvent   = "driver/event"
)

// ErrUnknownSchema is wrapped by Compile's error for a name that Names does not
// list.
var ErrUnknownSchema = errors.New("unknown schema")

const (
	base   = "https://github.com/axonproto/axon/schemas/"
	suffix = ".schema.json"
)

//go:embed wire/*.schema.json ipc/*.schema.json driver/*.schema.json report/*.schema.json baseline/*.schema.json bench/*.schema.json fuzz/*.schema.json
var files embed.FS

// freeMember names the top-level member below which a name may stand twice,
// because what is in it belongs to the applications.
var freeMember = map[string]string{
	Envelope: "payload", DefaultError: "payload",
	IPCEnvelope: "payload", Command: "payload", Event: "envelope", AnswerSend: "response",
	DriverCommand: "payload", DriverAnswer: "response", DriverEvent: "envelope",
}

// Schema is one compiled schema.
type Schema struct {
	name     string
	free     string
	compiled *jsonschema.Schema
}

// Name returns the name that the schema was compiled by.
func (s *Schema) Name() string { return s.name }

// Names returns the names of all schemas, sorted.
func Names() []string {
	var names []string
	// Walking an embedded file system cannot fail.
	_ = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimSuffix(path, suffix))
		}
		return err
	})
	slices.Sort(names)
	return names
}

// Text returns the schema document itself, for those who want to publish or
// print it.
func Text(name string) ([]byte, error) {
	text, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil, fmt.Errorf("%w %q; use one of %s", ErrUnknownSchema, name, strings.Join(Names(), ", "))
	}
	return text, nil
}

var cache struct {
	sync.Mutex // guards compiled
	compiled   map[string]*Schema
}

// Compile returns the schema of that name. Each is compiled once; the result is
// shared and safe for concurrent use.
func Compile(name string) (*Schema, error) {
	cache.Lock()
	defer cache.Unlock()
	if s, ok := cache.compiled[name]; ok {
		return s, nil
	}
	if _, err := Text(name); err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.Draft = jsonschema.Draft2020
	compiler.AssertFormat = true
	compiler.LoadURL = loadEmbedded
	compiled, err := compiler.Compile(base + name + suffix)
	if err != nil {
		return nil, fmt.Errorf("compiling the schema %s; correct schemas/%s%s: %w", name, name, suffix, err)
	}
	s := &Schema{name: name, free: freeMember[name], compiled: compiled}
	if cache.compiled == nil {
		cache.compiled = map[string]*Schema{}
	}
	cache.compiled[name] = s
	return s, nil
}

// MustCompile is Compile for names that are constants; it panics on an error.
func MustCompile(name string) *Schema {
	s, err := Compile(name)
	if err != nil {
		panic("schemas: " + err.Error())
	}
	return s
}

// loadEmbedded is the only way for a schema to reach another one: nothing is
// read from disk or from a network.
func loadEmbedded(url string) (io.ReadCloser, error) {
	path, ours := strings.CutPrefix(url, base)
	if !ours {
		return nil, fmt.Errorf("%s is not embedded; refer to schemas below %s only", url, base)
	}
	text, err := files.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s is not embedded; add the file or correct the reference: %w", url, err)
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}
