package dispatch

import (
	"context"
	"log/slog"
	"unicode/utf8"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// previewSize is how much of a payload the log shows, in bytes.
const previewSize = 256

// trace logs an envelope for those who ask for it with --verbose.
func (d *Dispatcher) trace(from identity.AgentID, e *envelope.Envelope) {
	if !d.logger.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	d.logger.LogAttrs(context.Background(), slog.LevelDebug, "received", slog.String("peer", string(from)),
		slog.String("id", e.ID.String()), slog.String("kind", preview([]byte(e.Kind))), slog.String("payload", preview(e.Payload)))
}

// preview cuts text between two characters, never inside one.
func preview(text []byte) string {
	if len(text) <= previewSize {
		return string(text)
	}
	cut := previewSize
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut]) + "…"
}
