package mutants

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"time"
	"unicode/utf16"

	"github.com/axonproto/axon/harness/wire"
)

// bytesMutants write replies whose bytes are no envelope, or end their streams
// badly.
func bytesMutants() []Mutant {
	before := func(head string) change {
		return bytesOf(func(b []byte) []byte { return append([]byte(head), b...) })
	}
	behind := func(tail string) change {
		return bytesOf(func(b []byte) []byte { return append(bytes.Clone(b), tail...) })
	}
	replacing := func(old, new string) change {
		return bytesOf(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(new)) })
	}
	twice := func(f func(b []byte) []byte) Mutant {
		return Mutant{For: ids("KIND-002", "STREAM-003"), Also: ids("ENV-001", "STREAM-002", "ENV-005"), Reason: `\d JSON values`, change: bytesOf(f)}
	}
	named := func(name, fault string, m Mutant) Mutant {
		m.Name, m.Fault = name, fault
		return m
	}
	// unreadable bytes break whatever speaks of a reply.
	unreadable := ids("KIND-002", "DEFERR-001", "DEFERR-002", "DEFERR-003", "DEFERR-004", "DEFERR-005", "DEFERR-006", "DEFERR-008", "FWD-002", "STREAM-004", "STREAM-006", "STREAM-008", "ENV-011", "REF-005")
	return []Mutant{
		named("reply-twice", "each reply stands twice on its stream", twice(func(b []byte) []byte { return append(bytes.Clone(b), b...) })),
		named("reply-twice-by-lines", "two replies stand on a stream, a line each", twice(func(b []byte) []byte { return append(append(bytes.Clone(b), '\n'), b...) })),
		named("two-replies", "two different replies stand on a stream", twice(func(b []byte) []byte {
			return append(bytes.Clone(b), wire.Outgoing{ID: wire.NewID(), Kind: "response", Payload: `{}`}.Bytes()...)
		})),
		named("receipt-first", "a receipt of kind message stands before the reply", Mutant{
			For: ids("KIND-002", "STREAM-003", "STREAM-004"), Also: append(ids("STREAM-002", "ENV-011"), unreadable...), Reason: `\d JSON values|"message"`,
			change: bytesOf(func(b []byte) []byte {
				return append(wire.Outgoing{ID: wire.NewID(), Kind: "message", Payload: `{"received":true}`}.Bytes(), b...)
			}),
		}),
		{Name: "reply-again-later", For: ids("KIND-002", "STREAM-003"), Also: ids("STREAM-002", "ENV-005"), Fault: "the reply is sent once more 30 ms later", Reason: `2 JSON values`,
			change: writing(func(c *call, b []byte) {
				_ = c.stream.Write(c.peer.ctx, b)
				c.peer.pause(30 * time.Millisecond)
				_ = c.stream.Send(c.peer.ctx, b)
			})},
		{Name: "nul-behind", For: ids("STREAM-002"), Also: ids("ENV-001"), Fault: "a NUL stands behind each reply", Reason: `trailing-data|follows it`, change: behind("\x00")},
		{Name: "text-behind", For: ids("STREAM-002"), Also: ids("ENV-001"), Fault: "a word stands behind each reply", Reason: `trailing-data|follows it`, change: behind("\r\nOK")},
		{Name: "brace-behind", For: ids("STREAM-002"), Also: ids("ENV-001"), Fault: "a brace too many stands behind each reply", Reason: `trailing-data|follows it`, change: behind("}")},
		{Name: "number-behind", For: ids("STREAM-002"), Also: ids("STREAM-003", "KIND-002"), Fault: "a check sum stands behind each reply", Reason: `trailing-data|follows it`, change: behind(" 12345")},
		{Name: "form-feed-behind", For: ids("STREAM-002"), Also: ids("ENV-001"), Fault: "a form feed stands behind each reply", Reason: `trailing-data|follows it`, change: behind("\f")},
		{Name: "bom-before", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "a byte order mark stands before each reply", Reason: `bom`, change: before("\xEF\xBB\xBF")},
		{Name: "length-before", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "four bytes of length stand before each reply", Reason: `not-json|not-utf8`,
			change: bytesOf(func(b []byte) []byte {
				return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
			})},
		{Name: "length-line-before", Lost: true, For: ids("ENV-001"), Also: append(ids("STREAM-002", "STREAM-003"), unreadable...), Fault: "a line with the length stands before each reply", Reason: `not-object`,
			change: bytesOf(func(b []byte) []byte { return append(fmt.Appendf(nil, "%d\n", len(b)), b...) })},
		{Name: "event-stream", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "its replies are written as server-sent events", Reason: `not-json`,
			change: bytesOf(func(b []byte) []byte { return append(append([]byte("data: "), b...), "\n\n"...) })},
		{Name: "utf-16", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "its replies are in UTF-16", Reason: `not-utf8|not-json`,
			change: bytesOf(func(b []byte) []byte {
				var out []byte
				for _, u := range utf16.Encode([]rune("\ufeff" + string(b))) {
					out = append(out, byte(u), byte(u>>8))
				}
				return out
			})},
		{Name: "compressed", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "its replies are compressed", Reason: `not-utf8|not-json`,
			change: bytesOf(func(b []byte) []byte {
				var out bytes.Buffer
				w := gzip.NewWriter(&out)
				_, _ = w.Write(b)
				_ = w.Close()
				return out.Bytes()
			})},
		{Name: "invalid-utf-8", Lost: true, For: ids("ENV-001"), Also: append(ids("DEFERR-004"), unreadable...), Fault: "the message of its errors is in Latin-1", Reason: `not-utf8`, change: replacing("no application", "n\xf3 application")},
		{Name: "single-quotes", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "its replies are written in single quotes", Reason: `not-json`,
			change: bytesOf(func(b []byte) []byte {
				return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("'"), nil), []byte(`"`), []byte("'"))
			})},
		{Name: "trailing-comma", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "a comma stands before the last brace of each reply", Reason: `not-json`, change: replacing("}}", "},}")},
		{Name: "false-capital", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "retryable is written False", Reason: `not-json`, change: replacing(":false", ":False")},
		{Name: "cut-short", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "the last byte of each reply is lost", Reason: `not-json`, change: bytesOf(func(b []byte) []byte { return b[:len(b)-1] })},
		{Name: "quotes-unescaped", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "quotation marks in texts are not escaped", Reason: `not-json`, change: replacing("'", `"`)},
		{Name: "reply-in-an-array", Lost: true, For: ids("ENV-001"), Also: append(ids("ENV-002", "ENV-011", "REF-005"), unreadable...), Fault: "each reply stands in an array", Reason: `not-object: array`,
			change: bytesOf(func(b []byte) []byte { return append(append([]byte("["), b...), ']') })},
		{Name: "reply-as-text", Lost: true, For: ids("ENV-001"), Also: append(ids("ENV-002", "ENV-011", "REF-005"), unreadable...), Fault: "each reply is encoded twice, as a text", Reason: `not-object: string`,
			change: bytesOf(func(b []byte) []byte { return []byte(quote(string(b))) })},
		{Name: "reply-as-array-of-values", Lost: true, For: ids("ENV-001"), Also: append(ids("ENV-002", "ENV-011", "REF-005"), unreadable...), Fault: "each reply is an array of its members' values", Reason: `not-object: array`,
			change: bytesOf(func([]byte) []byte { return []byte(`["` + wire.NewID() + `","error",{},null]`) })},

		// how the stream ends
		{Name: "no-fin", For: ids("STREAM-002"), Ceiling: quick, Lost: true, Fault: "the stream of a reply is never finished", Reason: `still open`, Also: ids("STREAM-008", "DEFERR-008", "STREAM-006", "REF-005", "ENV-005"),
			change: writing(func(c *call, b []byte) { _ = c.stream.Write(c.peer.ctx, b) })},
		{Name: "no-fin-for-unknown-kind", For: ids("STREAM-002"), Ceiling: quick, Also: ids("FWD-002"), Fault: "the stream of the reply to an unknown kind is never finished", Reason: `still open`,
			change: writing(func(c *call, b []byte) {
				_ = c.stream.Write(c.peer.ctx, b)
				if known(c.env.Kind) {
					_ = c.stream.Finish()
				}
			})},
		{Name: "reset-behind", For: ids("STREAM-002"), Also: ids("KIND-002", "DEFERR-001"), Anywhere: true, Fault: "the stream of a reply is reset after 5 ms in place of its FIN", Reason: `a reset with code 0`,
			change: writing(func(c *call, b []byte) {
				_ = c.stream.Write(c.peer.ctx, b)
				c.peer.pause(5 * time.Millisecond)
				c.stream.Reset(0)
			})},
		{Name: "reset-at-once", For: ids("KIND-002"), Anywhere: true, Lost: true, Fault: "the stream of a reply is reset as soon as it is written", Reason: `a reset with code 0`,
			change: writing(func(c *call, b []byte) {
				_ = c.stream.Write(c.peer.ctx, b)
				c.stream.Reset(0)
			})},
		{Name: "reset-in-the-middle", For: ids("KIND-002"), Also: append(ids("STREAM-002", "ENV-001"), unreadable...), Lost: true, Fault: "a reply is broken off by a reset after half of it", Reason: `a reset with code 9`,
			change: writing(func(c *call, b []byte) {
				_ = c.stream.Write(c.peer.ctx, b[:len(b)/2])
				c.peer.pause(5 * time.Millisecond)
				c.stream.Reset(9)
			})},
		{Name: "half-then-fin", Lost: true, For: ids("ENV-001"), Also: unreadable, Fault: "half of a reply is followed by FIN", Reason: `not-json`, change: bytesOf(func(b []byte) []byte { return b[:len(b)/2] })},
		{Name: "fin-alone", For: ids("KIND-002", "DEFERR-001", "DEFERR-008"), Also: unreadable, Lost: true, Fault: "each request gets nothing but FIN", Reason: `no bytes, then FIN`, change: bytesOf(func([]byte) []byte { return nil })},
		{Name: "reset-alone", For: ids("KIND-002", "DEFERR-001", "DEFERR-008"), Also: unreadable, Lost: true, Fault: "each request is reset", Reason: `no bytes, then a reset`, change: writing(func(c *call, _ []byte) { c.drop(4) })},
		{Name: "never-answers", For: ids("KIND-002"), Also: unreadable, Ceiling: quick, Anywhere: true, Lost: true, Fault: "no request is answered", Reason: `no bytes, and the stream is still open`, change: writing(func(*call, []byte) {})},
		{Name: "closes-after-reply", For: ids("STREAM-008"), Anywhere: true, Lost: true, Heavy: true, Fault: "the connection is closed after each reply", Reason: `application code 0`,
			change: writing(func(c *call, b []byte) {
				_ = c.stream.Send(c.peer.ctx, b)
				c.peer.pause(20 * time.Millisecond)
				c.link.hangUp(0, "done")
			})},
	}
}
