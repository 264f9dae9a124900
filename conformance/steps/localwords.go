package steps

import (
	"encoding/base64"
	"strings"

	"github.com/axonproto/axon/harness/credential"
)

// localPlaceholder knows the names that only make sense with a local API.
func (s *Scenario) localPlaceholder(name string) (string, bool) {
	switch name {
	case "target":
		return s.Target.AgentID, true
	case "target key":
		return base64.StdEncoding.EncodeToString(s.Target.Key), true
	case "fresh key":
		id, err := credential.New()
		return id.PublicBase64(), err == nil
	case "request id", "sent id":
		if s.last == nil {
			return "", false
		}
		return s.last.id, true
	}
	if len(s.peers) == 0 {
		return "", false
	}
	p := s.peer()
	switch name {
	case "written id":
		return s.written.ID, s.written.ID != ""
	case "received id":
		if len(p.received) == 0 {
			return "", false
		}
		return s.received().read().envelope.ID, true
	case "peer":
		return p.identity.AgentID(), true
	case "peer in upper case":
		return strings.ToUpper(p.identity.AgentID()), true
	case "peer key":
		return p.identity.PublicBase64(), true
	case "peer address":
		return p.endpoint.Addr().String(), true
	case "peer token":
		return p.identity.Token(p.endpoint.Addr().String()), true
	}
	return "", false
}
