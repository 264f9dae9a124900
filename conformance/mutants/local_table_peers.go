package mutants

import (
	"encoding/hex"
	"strings"

	"github.com/axonproto/axon/harness/credential"
)

// peersMutants are wrong about peers, status and whoami.
func peersMutants() []Mutant {
	listed := []string{"IPC-055", "IPC-057", "IPC-060", "IPC-061"}
	entry := func(name, fault string, f func(d *localDaemon, k *pinned, e *record) *record) Mutant {
		return Mutant{Name: name, For: ids(listed[0]), Also: ids(append([]string{"IPC-056", "IPC-065"}, listed[1:]...)...), Lost: true, Ceiling: quick, Reason: `entry|is none of|it stands|is missing|standard base64|number`, Fault: fault, local: listing(f)}
	}
	setting := func(member, value string) func(d *localDaemon, k *pinned, e *record) *record {
		return func(_ *localDaemon, _ *pinned, e *record) *record { return e.set(member, value) }
	}
	return []Mutant{
		entry("peers-status-own", "a peer without a connection has a status of its own", func(_ *localDaemon, _ *pinned, e *record) *record {
			if e.get("status") != quote("connected") {
				e.set("status", quote("offline"))
			}
			return e
		}),
		entry("peers-source-own", "the source of a peer is manual", setting("source", quote("manual"))),
		entry("peers-source-static", "the source of each peer is static", setting("source", quote("static"))),
		entry("peers-trust-flag", "trust is a boolean", setting("trust", "true")),
		entry("peers-key-hex", "keys are in hexadecimal", func(_ *localDaemon, k *pinned, e *record) *record {
			return e.set("public_key", quote(hex.EncodeToString(k.key)))
		}),
		entry("peers-key-url", "keys are in base64 for URLs", func(_ *localDaemon, _ *pinned, e *record) *record {
			return e.set("public_key", strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(e.get("public_key")), `="`)+`"`)
		}),
		entry("peers-no-addr", "addresses are left out", setting("addr", "")),
		entry("peers-rtt-text", "rtt_ms is a text", func(_ *localDaemon, _ *pinned, e *record) *record {
			if e.get("rtt_ms") != "" {
				e.set("rtt_ms", quote("0.2 ms"))
			}
			return e
		}),
		entry("peers-connected-only", "peers without a connection are not listed", func(_ *localDaemon, _ *pinned, e *record) *record {
			if e.get("status") != quote("connected") {
				return nil
			}
			return e
		}),
		{Name: "peers-status-dialled", For: ids("IPC-056"), Also: ids("IPC-065"), Ceiling: quick, Lost: true, Reason: `its entry is`, Fault: "a peer that dialled is not shown as connected", local: lacking("peers that dialled are connected")},
		{Name: "peers-status-stale", For: ids("IPC-056"), Also: ids("IPC-065"), Ceiling: quick, Lost: true, Reason: `its entry is`, Fault: "a peer that has gone is still shown as connected", local: lacking("status follows the connections")},
		{Name: "peers-not-admitted", For: ids("IPC-057"), Also: ids("IPC-056", "IPC-051", "IPC-052"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `admits|it was not|refus`, Fault: "a peer that is added is not admitted when it dials", local: func(m *localManner) {
			m.met = func(d *localDaemon, l *link) {
				if k := d.lookup(l.from()); k != nil && k.source == "enrolled" && !k.dialled.Load() {
					l.hangUp(0, "not admitted")
				}
			}
		}},
		{Name: "peers-not-dialled", For: ids("IPC-057"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `peer_unreachable|the local client was told`, Fault: "a peer that is added is not dialled", local: lacking("known peers are dialled")},
		{Name: "peers-answer-token", For: ids("IPC-057"), Also: ids("IPC-061"), Reason: `the line is`, Fault: "add_peer is answered without the Agent ID",
			local: saying("add_peer", func(_ *localClient, a *record) { a.set("agent_id", "") })},
		{Name: "peers-bad-address", For: ids("IPC-059"), Reason: `got \{"ok":true`, Fault: "any address is taken", local: lacking("an address can be used")},
		{Name: "peers-no-address", For: ids("IPC-059"), Reason: `got \{"ok":true`, Fault: "a key alone is taken", local: lacking("a key needs an address")},
		{Name: "peers-mixture", For: ids("IPC-059"), Reason: `got \{"ok":true`, Fault: "beside a token everything else is ignored", local: lacking("the forms of add_peer are not mixed")},
		{Name: "peers-refused-added", For: ids("IPC-059"), Reason: `got \{`, Ceiling: quick, Lost: true, Fault: "a peer whose address cannot be used is refused, and kept", local: lacking("what is refused is not added")},
		{Name: "peers-pin-replaced", For: ids("IPC-060"), Lost: true, Ceiling: quick, Reason: `got \{"ok":true`, Fault: "another key at a known address replaces the pin", local: lacking("a pin is never replaced")},
		{Name: "peers-pin-replaced-quietly", For: ids("IPC-060"), Lost: true, Ceiling: quick, Reason: `it stands 0 times|nobody|there is`, Fault: "a conflict is told, and the pin replaced all the same", local: lacking("a conflict changes nothing")},
		{Name: "peers-again-conflict", For: ids("IPC-061"), Reason: `peer_conflict`, Fault: "a peer that is known already is a conflict", local: lacking("adding again is no error")},
		{Name: "peers-again-twice", For: ids("IPC-061"), Also: ids("IPC-062", "IPC-063"), Reason: `it stands 2 times`, Fault: "a peer that is added again is listed twice", local: lacking("adding again changes nothing")},
		{Name: "peers-removed-connected", For: ids("IPC-062"), Lost: true, Ceiling: quick, Reason: `it is open|is taken`, Fault: "the connection of a peer that is removed lives on", local: lacking("removal closes the connection")},
		{Name: "peers-removed-admitted", For: ids("IPC-062"), Also: ids("IPC-057", "TLS-004"), Lost: true, Ceiling: quick, Reason: `it took the connection|it answered`, Fault: "whoever dials is admitted", local: lacking("strangers are refused")},
		{Name: "peers-remove-anything", For: ids("IPC-063"), Also: ids("IPC-012", "IPC-013", "IPC-014"), Reason: `got \{"ok":true`, Fault: "removing what is not known is answered by yes", local: lacking("what is removed is known")},
		{Name: "peers-unseen-candidate", For: ids("IPC-064"), Reason: `got \{"ok":true`, Fault: "an Agent ID that was never seen is admitted", local: lacking("a candidate has been seen")},
		{Name: "status-texts", For: ids("IPC-065"), Also: ids("IPC-066", "IPC-021"), Reason: `the line is|the answer is`, Fault: "the numbers of status are texts",
			local: saying("status", func(_ *localClient, a *record) { a.set("messages_sent", quote(a.get("messages_sent"))) })},
		{Name: "status-fraction", For: ids("IPC-065"), Also: ids("IPC-066"), Reason: `the line is|the answer is`, Fault: "uptime_secs has a fraction",
			local: saying("status", func(_ *localClient, a *record) { a.set("uptime_secs", a.get("uptime_secs")+".5") })},
		{Name: "status-missing", For: ids("IPC-065"), Also: ids("IPC-021", "IPC-066"), Reason: `the line is|the answer is`, Fault: "peers_connected is left out",
			local: saying("status", func(_ *localClient, a *record) { a.set("peers_connected", "") })},
		{Name: "status-connections", For: ids("IPC-065"), Ceiling: quick, Lost: true, Reason: `are listed so`, Fault: "connections are counted for peers", local: lacking("each peer counts once")},
		{Name: "status-sent-still", For: ids("IPC-066"), Ceiling: quick, Lost: true, Reason: `it is \d+ after`, Fault: "what is sent is not counted", local: lacking("what is sent is counted")},
		{Name: "status-sent-messages", For: ids("IPC-066"), Ceiling: quick, Lost: true, Reason: `it is \d+ after`, Fault: "requests that are sent are not counted", local: lacking("requests sent are counted")},
		{Name: "status-received-messages", For: ids("IPC-066"), Ceiling: quick, Lost: true, Reason: `it is \d+ after`, Fault: "messages alone are counted when they come in", local: lacking("each kind counts")},
		{Name: "status-falls", For: ids("IPC-066"), Ceiling: quick, Lost: true, Reason: `it fell|it is \d+ after`, Fault: "the counters begin anew with each look",
			local: saying("status", func(c *localClient, a *record) {
				c.d.mu.Lock()
				c.d.sent, c.d.received = 0, 0
				c.d.mu.Unlock()
			})},
		{Name: "whoami-key-hex", For: ids("IPC-067"), Reason: `public_key is`, Fault: "whoami has the key in hexadecimal",
			local: saying("whoami", func(c *localClient, a *record) {
				a.set("public_key", quote(hex.EncodeToString(c.d.peer.identity.Public())))
			})},
		{Name: "whoami-another-key", For: ids("IPC-067"), Reason: `public_key is|the line is`, Fault: "whoami tells of a key that the daemon does not use",
			local: saying("whoami", func(_ *localClient, a *record) {
				if id, err := credential.New(); err == nil {
					a.set("public_key", quote(id.PublicBase64()))
				}
			})},
		{Name: "whoami-another-id", For: ids("IPC-067"), Also: ids("IPC-021"), Reason: `agent_id is|the line is`, Fault: "whoami has an Agent ID that does not derive from the key",
			local: saying("whoami", func(_ *localClient, a *record) { a.set("agent_id", quote("ed25519.00112233445566778899aabbccddeeff")) })},
		{Name: "whoami-empty-name", For: ids("IPC-067"), Reason: `the line is`, Fault: "whoami has an empty name", local: saying("whoami", func(_ *localClient, a *record) { a.set("name", quote("")) })},
		{Name: "whoami-empty-version", For: ids("IPC-067"), Reason: `the line is`, Fault: "whoami has an empty version", local: saying("whoami", func(_ *localClient, a *record) { a.set("version", quote("")) })},
		{Name: "whoami-no-uptime", For: ids("IPC-067"), Reason: `the line is`, Fault: "whoami has no uptime", local: saying("whoami", func(_ *localClient, a *record) { a.set("uptime_secs", "") })},
	}
}
