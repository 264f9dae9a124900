// Package schemas holds the shape of every JSON thing that AXON programs
// exchange, as JSON Schema 2020-12, and checks documents against it.
//
//	wire/envelope        what a sender may put on the wire
//	wire/default-error   the reply to a request that nobody handles
//	wire/error-payload   the conventional payload of an error
//	report/report        the report of axon-conformance
//
// A schema is stricter than what a receiver accepts, and says nothing about
// values that depend on each other across documents. Requirements served: the
// ENV, REF, DEFERR and ERRPAY areas, and AXON-LEARN-005.
//
// The package imports jsonschema alone, reads nothing but what is embedded in
// it, and is safe for concurrent use. It may be imported by everybody.
package schemas
