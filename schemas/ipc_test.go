package schemas

import (
	"strings"
	"testing"
)

const (
	agent1 = `"ed25519.0123456789abcdef0123456789abcdef"`
	key1   = `"ksifVTmgTdsPuKaIPL/ZAdw5NMoDbx77od8M1EPNloI="`
	uuid1  = `"0b7e6a52-3c1d-4f7a-9b1e-5a2f8c3d4e6f"`
	shown  = `{"id":` + uuid1 + `,"kind":"KIND","from":` + agent1 + `,"to":` + agent1 + `,"payload":{"a":1,"a":2},"ref":` + uuid1 + `}`
)

func TestLocalAPI(t *testing.T) {
	of := func(kind string) string { return strings.Replace(shown, "KIND", kind, 1) }
	for _, c := range []struct {
		schema    string
		good, bad []string
	}{
		{Command, []string{
			`{"cmd":"send","to":` + agent1 + `,"kind":"request","payload":{"a":1,"a":2},"timeout_secs":3600,"ref":null}`,
			`{"cmd":"send","to":` + strings.ToUpper(agent1) + `,"kind":"message","payload":{},"ref":` + uuid1 + `,"req_id":"é"}`,
			`{"cmd":"serve"}`, `{"cmd":"peers","req_id":""}`, `{"cmd":"status"}`, `{"cmd":"whoami"}`,
			`{"cmd":"reply","request_id":` + uuid1 + `,"kind":"error","payload":{},"peer":` + agent1 + `}`,
			`{"cmd":"decline","request_id":` + uuid1 + `}`,
			`{"cmd":"add_peer","token":"axon://ksifVTmgTdsPuKaIPL_ZAdw5NMoDbx77od8M1EPNloI@host:1"}`,
			`{"cmd":"add_peer","pubkey":` + key1 + `,"addr":"[::1]:7100"}`, `{"cmd":"add_peer","agent_id":` + agent1 + `}`,
			`{"cmd":"remove_peer","agent_id":` + agent1 + `}`,
		}, []string{
			`{}`, `[]`, `{"cmd":"statu"}`, `{"cmd":"status","x":1}`, `{"cmd":"status","req_id":1}`,
			`{"cmd":"send","to":` + agent1 + `,"kind":"response","payload":{}}`,
			`{"cmd":"send","to":` + agent1 + `,"kind":"request"}`,
			`{"cmd":"send","to":` + agent1 + `,"kind":"message","payload":{},"timeout_secs":3}`,
			`{"cmd":"send","to":` + agent1 + `,"kind":"request","payload":{},"timeout_secs":0}`,
			`{"cmd":"send","to":` + agent1 + `,"kind":"request","payload":[]}`,
			`{"cmd":"reply","request_id":` + uuid1 + `,"kind":"message","payload":{}}`,
			`{"cmd":"add_peer"}`, `{"cmd":"add_peer","pubkey":` + key1 + `}`,
			`{"cmd":"add_peer","agent_id":` + agent1 + `,"addr":"h:1"}`, `{"cmd":"remove_peer","agent_id":"x"}`,
		}},
		{Event, []string{
			`{"event":"inbound","from":` + agent1 + `,"envelope":` + of("future") + `}`,
			`{"event":"request","request_id":` + uuid1 + `,"from":` + agent1 + `,"envelope":` + of("request") + `}`,
			`{"event":"request_cancelled","request_id":` + uuid1 + `,"from":` + agent1 + `}`,
			`{"event":"peer_candidate","agent_id":` + agent1 + `,"public_key":` + key1 + `,"addr":"192.0.2.1:7100","source":"mdns"}`,
		}, []string{
			`{"event":"inbound","from":` + agent1 + `,"envelope":` + of("request") + `}`,
			`{"event":"inbound","ok":true,"from":` + agent1 + `,"envelope":` + of("message") + `}`,
			`{"event":"request","request_id":` + uuid1 + `,"from":` + agent1 + `,"envelope":` + of("message") + `}`,
			`{"event":"other"}`, `{"ok":true}`,
		}},
		{AnswerError, []string{`{"ok":false,"error":"timeout","message":"m","req_id":"x"}`},
			[]string{`{"ok":true,"error":"timeout","message":"m"}`, `{"ok":false,"error":"other","message":"m"}`, `{"ok":false,"error":"timeout"}`}},
		{AnswerSend, []string{`{"ok":true,"msg_id":` + uuid1 + `}`, `{"ok":true,"msg_id":` + uuid1 + `,"response":` + of("error") + `}`},
			[]string{`{"ok":true}`, `{"ok":true,"msg_id":` + uuid1 + `,"response":` + of("message") + `}`}},
		{AnswerServe, []string{`{"ok":true,"serving":true}`}, []string{`{"ok":true}`, `{"ok":true,"serving":false}`}},
		{AnswerRequest, []string{`{"ok":true,"request_id":` + uuid1 + `}`}, []string{`{"ok":true}`}},
		{AnswerPeers, []string{`{"ok":true,"peers":[]}`,
			`{"ok":true,"peers":[{"agent_id":` + agent1 + `,"public_key":` + key1 + `,"addr":"","status":"connected","source":"static","trust":"trusted","rtt_ms":0.21}],"omitted":3}`},
			[]string{`{"ok":true}`, `{"ok":true,"peers":[{"agent_id":` + agent1 + `}]}`}},
		{AnswerPeer, []string{`{"ok":true,"agent_id":` + agent1 + `}`}, []string{`{"ok":true,"agent_id":` + strings.ToUpper(agent1) + `}`}},
		{AnswerStatus, []string{`{"ok":true,"uptime_secs":1,"peers_connected":0,"messages_sent":0,"messages_received":9}`},
			[]string{`{"ok":true,"uptime_secs":1.5,"peers_connected":0,"messages_sent":0,"messages_received":9}`, `{"ok":true}`}},
		{AnswerWhoAmI, []string{`{"ok":true,"agent_id":` + agent1 + `,"public_key":` + key1 + `,"version":"1","uptime_secs":0,"name":"n"}`},
			[]string{`{"ok":true,"agent_id":` + agent1 + `,"public_key":` + key1 + `,"version":"1","uptime_secs":0,"name":""}`}},
	} {
		s := MustCompile(c.schema)
		for _, doc := range c.good {
			if err := s.Validate([]byte(doc)); err != nil {
				t.Errorf("%s refuses %s: %v", c.schema, doc, err)
			}
		}
		for _, doc := range c.bad {
			if err := s.Validate([]byte(doc)); err == nil {
				t.Errorf("%s accepts %s", c.schema, doc)
			}
		}
	}
}
