package discovery

import "net/netip"

// medium is where datagrams come from and go to. Tests put a fake in its place.
type medium interface {
	// segments lists the interfaces to discover on.
	segments() ([]segment, error)
	// join starts to receive on an interface and to answer questions about
	// the records. receive is called by goroutines of the link until leave
	// has returned; it must not keep data.
	join(s segment, records *own, receive func(from netip.Addr, data []byte)) link
}

// link is one interface in use. Its methods are called by one goroutine.
type link interface {
	// round announces the records and asks for others. An error means that
	// nothing went out at all; the next round tries everything again.
	round() error
	// leave takes the announcement back and waits for the link's goroutines.
	leave()
}
