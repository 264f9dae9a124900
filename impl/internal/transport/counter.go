package transport

import "sync"

// counter counts what is under way and tells when nothing is.
type counter struct {
	mu   sync.Mutex // guards both
	n    int
	zero []chan struct{} // closed when n next becomes 0
}

func (c *counter) add() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (c *counter) done() {
	c.mu.Lock()
	c.n--
	if c.n == 0 && c.zero != nil {
		for _, ch := range c.zero {
			close(ch)
		}
		c.zero = nil
	}
	c.mu.Unlock()
}

// idle returns a channel that is closed once the count has been 0 after the call.
func (c *counter) idle() <-chan struct{} {
	ch := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == 0 {
		close(ch)
	} else {
		c.zero = append(c.zero, ch)
	}
	return ch
}

func (c *counter) isZero() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n == 0
}
