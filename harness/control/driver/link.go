package driver

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// link is the way to a driver: the pipes of a process, or a connection.
type link interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
	// lastWords are what the driver wrote beside the protocol, the oldest first.
	lastWords() []string
	// ending says how the driver ended, once Read has returned an error.
	ending() string
	// close ends the driver, if it was started here, and lets Read and Write
	// return.
	close()
}

// Forms of an address are shown with every mistake in one.
const connectForms = "write unix:PATH or tcp:HOST:PORT"

// ParseAddress reads where a driver listens: unix:PATH or tcp:HOST:PORT.
func ParseAddress(where string) (network, address string, err error) {
	network, address, found := strings.Cut(where, ":")
	switch {
	case !found || network != "unix" && network != "tcp":
		return "", "", fmt.Errorf("%q names no driver; %s", where, connectForms)
	case address == "":
		return "", "", fmt.Errorf("%q lacks what follows %s:; %s", where, network, connectForms)
	case network == "tcp":
		host, port, err := net.SplitHostPort(address)
		if err != nil || host == "" || port == "" {
			return "", "", fmt.Errorf("%q is not HOST:PORT; %s", address, connectForms)
		}
	}
	return network, address, nil
}

// attached is a driver that was running already.
type attached struct{ net.Conn }

func dial(ctx context.Context, where string) (link, error) {
	network, address, err := ParseAddress(where)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("connect to the driver at %s: %w; start it, and let it listen there", where, err)
	}
	return attached{c}, nil
}

func (a attached) lastWords() []string { return nil }
func (a attached) ending() string      { return "the driver closed the connection" }

func (a attached) close() {
	// Whatever was not yet taken is not worth waiting for.
	_ = a.SetDeadline(time.Unix(1, 0))
	_ = a.Conn.Close()
}
