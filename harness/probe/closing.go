package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/quic-go/quic-go"
)

// TLS alerts travel in QUIC as transport error codes from this one on (RFC 9001, 4.8).
const (
	firstAlertCode = 0x100
	lastAlertCode  = 0x1ff
)

// Closing tells how a connection ended.
type Closing struct {
	Remote         bool   // the target ended it; false: the probe did, or nobody in particular
	Application    bool   // an application close; Code is the application's
	Transport      bool   // a transport close; Code is a QUIC transport error code
	TLSAlert       bool   // a transport close that carries a TLS alert; Code is 0x100 plus the alert
	IdleTimeout    bool   // nothing was heard from the target for too long
	StatelessReset bool   // the target no longer knew the connection
	Vanished       bool   // the probe stopped talking, see Conn.Vanish
	Code           uint64 // of an application or transport close
	Reason         string // the reason given, or what is known about the cause
}

// Alert returns the TLS alert, when there is one.
func (c *Closing) Alert() (alert uint8, ok bool) {
	if c == nil || !c.TLSAlert {
		return 0, false
	}
	return uint8(c.Code - firstAlertCode), true
}

// String says in one line who ended the connection and how.
func (c *Closing) String() string {
	if c == nil {
		return "still open"
	}
	who := "by the probe"
	if c.Remote {
		who = "by the target"
	}
	text := ""
	switch {
	case c.Vanished:
		return "the probe stopped talking"
	case c.IdleTimeout:
		text = "timed out"
	case c.StatelessReset:
		text = "stateless reset by the target"
	case c.TLSAlert:
		text = fmt.Sprintf("TLS alert %d (%v) %s", c.Code-firstAlertCode, tls.AlertError(c.Code-firstAlertCode), who)
	case c.Transport:
		text = fmt.Sprintf("transport close %#x %s", c.Code, who)
	case c.Application:
		text = fmt.Sprintf("application close %d %s", c.Code, who)
	default:
		text = "ended"
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

func (c *Closing) refusal() *Refusal {
	if c == nil || !c.Application && !c.Transport {
		return nil
	}
	alert, _ := c.Alert()
	return &Refusal{TLSAlert: c.TLSAlert, Alert: alert, Code: c.Code, Remote: c.Remote, Application: c.Application, Reason: c.Reason}
}

// closingOf turns an error of quic-go that ended a connection into a Closing.
func closingOf(err error) *Closing {
	var (
		application *quic.ApplicationError
		transport   *quic.TransportError
		idle        *quic.IdleTimeoutError
		handshake   *quic.HandshakeTimeoutError
		reset       *quic.StatelessResetError
	)
	switch {
	case err == nil:
		return &Closing{Reason: "no cause is known"}
	case errors.As(err, &application):
		return &Closing{Remote: application.Remote, Application: true, Code: uint64(application.ErrorCode), Reason: application.ErrorMessage}
	case errors.As(err, &transport):
		c := &Closing{Remote: transport.Remote, Transport: true, Code: uint64(transport.ErrorCode), Reason: transport.ErrorMessage}
		c.TLSAlert = c.Code >= firstAlertCode && c.Code <= lastAlertCode
		if c.Reason == "" && !c.Remote {
			c.Reason = transport.Error()
		}
		return c
	case errors.As(err, &handshake):
		return &Closing{IdleTimeout: true, Reason: "the handshake did not complete in time"}
	case errors.As(err, &idle):
		return &Closing{IdleTimeout: true, Reason: "no packet came within the idle time-out"}
	case errors.As(err, &reset):
		return &Closing{Remote: true, StatelessReset: true}
	default:
		return &Closing{Reason: err.Error()}
	}
}

// endsConnection tells an error that ended a connection from a caller's own time-out.
func endsConnection(err error) bool {
	return err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}
