// Package driver makes a target act through a driver: a program of the
// implementer's, in any language, that takes commands and gives answers and events
// as JSON lines (docs/driver.md, schemas/driver/). The suite starts it, or attaches
// to one that runs.
//
// A driver is not trusted. Each of its lines is held against the schemas, what does
// not keep to them is remembered and shown, and every call that fails because of
// the driver ends in a *control.Fault, never in something that could be taken for
// the target's doing. Memory is bounded whatever the driver writes.
//
// It imports harness/control, harness/wire, harness/credential and schemas. It
// serves the needs drive, handle and observe.
package driver
