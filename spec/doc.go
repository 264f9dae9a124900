// Package spec holds what must be true of an AXON peer, as text, and reads
// that text for the programs.
//
// The Markdown files of this folder are the only source of requirement ids,
// levels and sentences: messages.md (areas KIND, FWD, ENV, REF, STREAM,
// DEFERR, PAY, ERRPAY, LEARN) and transport.md (areas TLS, LIMIT). Later areas
// get a file of their own, see fileOrder. seed-lines.md says of every line of
// the seed text whether it binds anybody. editions/DATE.txt freezes which sentences
// of messages.md and transport.md an edition of the text consists of; a test keeps
// sentences from being added without an edition that holds them.
//
// A requirement has exactly this form; the parser takes nothing else:
//
//	## Kinds · kinds
//
//	### AXON-KIND-002 · MUST
//
//	One paragraph that says what must hold.
//
//	- seed: 32, 70, 76-78
//	- needs: wire; handle, observe
//	- why: what goes wrong for others when this does not hold.
//	- fix: what implementers usually got wrong, and the way out.
//
// A sentence that does not come from the seed has "- source: protocol v1" in
// place of the seed line. In needs a comma joins what is needed together, a
// semicolon separates alternatives: each alternative allows a part of the
// checks. A field may run on in lines that are indented by two spaces. A
// withdrawn requirement keeps its heading, with " · withdrawn" at the end, and
// a paragraph that says why; its fields may go.
//
// The package imports the standard library only, and is imported by
// conformance. It serves all requirements and checks none.
package spec
