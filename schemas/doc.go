// Package schemas holds the shape of every JSON thing that AXON programs
// exchange, as JSON Schema 2020-12, and checks documents against it.
//
//	wire/envelope        what a sender may put on the wire
//	wire/default-error   the reply to a request that nobody handles
//	wire/error-payload   the conventional payload of an error
//	ipc/envelope         an envelope as local clients see it
//	ipc/command          a line that a local client sends
//	ipc/answer-*         what it is answered, by command
//	ipc/event            what it is told unasked
//	driver/command       a line from the suite to a driver
//	driver/answer        a line from a driver that answers one
//	driver/event         a line from a driver that was not asked for
//	report/report        the report of axon-conformance
//	baseline/baseline    a list of expected failures, which is written in YAML
//
// A schema is stricter than what a receiver accepts, and says nothing about
// values that depend on each other across documents. Requirements served: the
// ENV, REF, DEFERR, ERRPAY and IPC areas, and AXON-LEARN-005.
//
// The package imports jsonschema alone, reads nothing but what is embedded in
// it, and is safe for concurrent use. It may be imported by everybody.
package schemas
