package daemon

import (
	"log/slog"
	"net"
	"os"
	"time"
)

// tell gives the service manager that started us a line about our state, when
// it has asked for that by NOTIFY_SOCKET: one datagram, as systemd defines it.
func tell(logger *slog.Logger, state string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	// A name that begins with @ is an abstract one; package net knows that form.
	conn, err := net.Dial("unixgram", name)
	if err == nil {
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_, err = conn.Write([]byte(state))
		_ = conn.Close()
	}
	if err != nil {
		logger.Warn("the service manager could not be told; check NOTIFY_SOCKET", "state", state, "error", err)
	}
}
