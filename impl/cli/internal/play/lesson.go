package play

import "encoding/json"

// Exchange is one thing that an agent does, with what travels between the
// daemons for it.
type Exchange struct {
	Title     string     `json:"title"`
	Text      string     `json:"text"`
	Command   string     `json:"command"` // that does it
	Envelopes []Envelope `json:"envelopes"`
}

// Envelope is one envelope of an exchange, as it is on the wire.
type Envelope struct {
	Over     string          `json:"over"` // the stream that carries it
	Text     string          `json:"text"`
	Envelope json.RawMessage `json:"envelope"`
}

// Lesson returns the exchanges that explain the protocol.
func Lesson() []Exchange {
	return []Exchange{
		{
			"Ask and be answered",
			"A request goes on a bidirectional stream of its own. The peer's handler answers on the same stream with a response whose ref is the id of the request. The caller waits for it.",
			"axon request --json alice '" + question + "'",
			[]Envelope{
				{overBidi, "The request. Its id is new, a UUID of version 4; its payload is any JSON object.",
					json.RawMessage(`{"id":"0b7e6a52-3c1d-4f7a-9b1e-5a2f8c3d4e6f","kind":"request","payload":` + question + `}`)},
				{overSame, "The response: an id of its own, and the request's id as its ref.",
					json.RawMessage(`{"id":"6f1c2d3e-8a4b-4c5d-9e6f-7a8b9c0d1e2f","kind":"response","payload":` + answer + `,"ref":"0b7e6a52-3c1d-4f7a-9b1e-5a2f8c3d4e6f"}`)},
			},
		},
		{
			"Ask when nobody handles it",
			"Every request is answered. Where no program has registered as the handler (`axon serve`), or the handler declines, the daemon itself sends the default error.",
			`axon request alice "Is anybody there?"`,
			[]Envelope{
				{overBidi, "The request. Plain text on the command line becomes the member message of the payload.",
					json.RawMessage(`{"id":"3d2c1b0a-9f8e-4d7c-8b6a-5f4e3d2c1b0a","kind":"request","payload":{"message":"Is anybody there?"}}`)},
				{overSame, "The default error. Errors have a code for programs, a message for people, and say whether trying again may help.",
					json.RawMessage(`{"id":"c4b5a697-8879-4a6b-9c5d-4e3f2a1b0c9d","kind":"error","payload":{"code":"unhandled","message":"no application handler registered for request '3d2c1b0a-9f8e-4d7c-8b6a-5f4e3d2c1b0a'","retryable":false},"ref":"3d2c1b0a-9f8e-4d7c-8b6a-5f4e3d2c1b0a"}`)},
			},
		},
		{
			"Ask for something that goes wrong",
			"A handler may answer with an error of its own. A good one says what went wrong and what to try.",
			"axon request --json alice '{\"domain\":\"logistics.travel\",\"train\":\"ICE 71\"}'",
			[]Envelope{
				{overBidi, "The request.",
					json.RawMessage(`{"id":"8e7d6c5b-4a39-4827-9615-0f1e2d3c4b5a","kind":"request","payload":{"domain":"logistics.travel","train":"ICE 71"}}`)},
				{overSame, "The handler's error.",
					json.RawMessage(`{"id":"1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d","kind":"error","payload":{"code":"timetable_unavailable","message":"the timetable could not be read; ask again in a few minutes","retryable":true},"ref":"8e7d6c5b-4a39-4827-9615-0f1e2d3c4b5a"}`)},
			},
		},
		{
			"Tell without waiting",
			"A message goes on a unidirectional stream of its own, and nothing comes back. The peer's programs see it (`axon listen`).",
			"axon notify --json alice '" + notice + "'",
			[]Envelope{
				{overUni, "The message. It refers to nothing, so it has no ref.",
					json.RawMessage(`{"id":"5c4d3e2f-1a0b-4c9d-8e7f-6a5b4c3d2e1f","kind":"message","payload":` + notice + `}`)},
			},
		},
		{
			"Tell of something that went wrong",
			"An error that answers no request may be sent on a unidirectional stream. With a ref it says which earlier envelope it is about.",
			"axon listen --kind error",
			[]Envelope{
				{overUni, "An unsolicited error.",
					json.RawMessage(`{"id":"7b8a9c0d-1e2f-4a3b-9c4d-5e6f7a8b9c0d","kind":"error","payload":{"code":"calendar_lost","message":"the calendar that you were told of is gone; ask for the new one","retryable":false},"ref":"5c4d3e2f-1a0b-4c9d-8e7f-6a5b4c3d2e1f"}`)},
			},
		},
	}
}
