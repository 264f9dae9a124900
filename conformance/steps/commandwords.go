package steps

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// commandPlaceholder knows the names that only make sense at a command line:
//
//	«folder»             the scenario's folder, which is the home folder of its commands
//	«state root»         the state root of its commands
//	«port»               the UDP port of its daemon
//	«free port»          a UDP port that nobody uses, the same each time
//	«daemon pid»         of its daemon
//	«my key»             the suite's public key
//	«second daemon»      the Agent ID of the second of two daemons
//	«beginning of peer»  the first characters of the latest peer's Agent ID
//	«beginning of both»  what the Agent IDs of two peers begin with
func (s *Scenario) commandPlaceholder(name string) (string, bool) {
	t := s.terminal
	if t == nil {
		return "", false
	}
	switch name {
	case "folder":
		return t.folder, true
	case "state root":
		return t.root, true
	case "port":
		if t.daemon == nil {
			return "", false
		}
		return strconv.Itoa(t.daemon.port), true
	case "daemon pid":
		if t.daemon == nil {
			return "", false
		}
		return strconv.Itoa(t.daemon.process.PID()), true
	case "my key":
		return s.Target.Identity.PublicBase64(), true
	case "second daemon":
		return t.second, t.second != ""
	case "free port":
		if t.freePort == 0 {
			var err error
			if t.freePort, err = freePort(); err != nil {
				return "", false
			}
		}
		return strconv.Itoa(t.freePort), true
	case "beginning of peer":
		if len(s.peers) == 0 {
			return "", false
		}
		return s.peer().identity.AgentID()[:len("ed25519.")+12], true
	case "beginning of both":
		return t.beginning, t.beginning != ""
	}
	return "", false
}

// inRoot is the path of a file in the state root.
func (t *terminal) inRoot(name string) string { return filepath.Join(t.root, filepath.FromSlash(name)) }

// word names one of the started commands: "it" is the last.
func (t *terminal) index(word string) (int, error) {
	n := len(t.started) - 1
	switch word {
	case "the first command":
		n = 0
	case "the second command":
		n = 1
	case "the third command":
		n = 2
	}
	if n < 0 || n >= len(t.started) {
		return 0, fmt.Errorf("%s: so many commands were not started", word)
	}
	return n, nil
}
