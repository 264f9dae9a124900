package discovery

import "log/slog"

// health says once that discovery does not work, and after that only when it
// works again: a machine without a network is no reason to fill a log.
type health struct {
	logger *slog.Logger
	down   bool
	warned bool
}

// report takes in how many links worked just now and what stood in the way of
// the others, if anything.
func (h *health) report(working int, err error) {
	switch {
	case working > 0:
		if h.down {
			h.down = false
			h.logger.Info("discovery works now", "interfaces", working)
		}
	case h.down:
	case h.warned:
		h.down = true
		h.logger.Debug("discovery stopped working", "error", err)
	default:
		h.down, h.warned = true, true
		h.logger.Warn("other daemons cannot be discovered; static and known peers still work, and discovery tries again", "error", err)
	}
}
