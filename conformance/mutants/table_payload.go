package mutants

// payloadMutants write a wrong payload, or members that do not belong there.
func payloadMutants() []Mutant {
	whole := ids("DEFERR-003", "DEFERR-004", "DEFERR-005", "FWD-002")
	payload := func(raw string) change { return altering(func(_ *call, a *answer) { a.Payload = raw }) }
	extra := func(member string) change {
		return altering(func(_ *call, a *answer) { a.Extra = append(a.Extra, member) })
	}
	retryable := func(raw string) change { return inDefault(func(_ *call, a *answer) { a.Retryable = raw }) }
	message := func(name, fault, text string) Mutant {
		return Mutant{Name: name, For: ids("DEFERR-004", "FWD-002"), Fault: fault, Reason: `it is "`, change: wording(text)}
	}
	return []Mutant{
		// the code
		{Name: "code-no-handler", For: ids("DEFERR-003", "FWD-002"), Fault: "its default error has the code no_handler", Reason: `code is "no_handler"`, change: coding(`"no_handler"`)},
		{Name: "code-unhandled-request", For: ids("DEFERR-003", "FWD-002"), Fault: "its default error has the code unhandled_request", Reason: `code is "unhandled_request"`, change: coding(`"unhandled_request"`)},
		{Name: "code-upper-case", For: ids("DEFERR-003", "ERRPAY-002", "FWD-002"), Fault: "its default error has the code UNHANDLED", Reason: `code is "UNHANDLED"`, change: coding(`"UNHANDLED"`)},
		{Name: "code-capital", For: ids("DEFERR-003", "ERRPAY-002", "FWD-002"), Fault: "its default error has the code Unhandled", Reason: `code is "Unhandled"`, change: coding(`"Unhandled"`)},
		{Name: "code-with-space", For: ids("DEFERR-003", "ERRPAY-002", "FWD-002"), Fault: "a space stands behind the code", Reason: `code is "unhandled "`, change: coding(`"unhandled "`)},
		{Name: "code-empty", For: ids("DEFERR-003", "ERRPAY-002", "FWD-002"), Fault: "its default error has an empty code", Reason: `code is ""`, change: coding(`""`)},
		{Name: "code-number", For: ids("DEFERR-003", "FWD-002"), Also: ids("ERRPAY-001"), Fault: "its default error has the code 404", Reason: `code is 404`, change: coding("404")},
		{Name: "code-null", For: ids("DEFERR-003", "FWD-002"), Also: ids("ERRPAY-001"), Fault: "its default error has the code null", Reason: `code is null`, change: coding("null")},
		{Name: "code-missing", For: ids("DEFERR-003", "FWD-002"), Also: ids("ERRPAY-001"), Fault: "its default error has no code", Reason: `0 members`, change: coding("")},
		{Name: "code-beside-payload", For: append(ids("ENV-002"), whole...), Also: ids("ERRPAY-001"), Fault: "code and message stand beside an empty payload", Reason: `extra-member|0 members|\bit is\b`,
			change: altering(func(_ *call, a *answer) {
				a.Extra = append(a.Extra, pair("code", a.Code), pair("message", a.Message), pair("retryable", a.Retryable))
				a.Payload = "{}"
			})},
		{Name: "code-in-an-object", For: whole, Also: ids("ERRPAY-001"), Fault: "the error stands in an object inside of the payload", Reason: `0 members|\bit is\b`,
			change: altering(func(_ *call, a *answer) {
				a.Payload = object(`"error":` + object(pair("code", a.Code), pair("message", a.Message), pair("retryable", a.Retryable)))
			})},
		{Name: "code-twice", For: ids("DEFERR-003", "FWD-002"), Fault: "code stands twice in the payload", Reason: `2 members`,
			change: inDefault(func(_ *call, a *answer) { a.Retryable += `,"code":"unhandled"` })},
		{Name: "code-kebab-in-own-errors", For: ids("ERRPAY-002"), Fault: "errors other than the default one have codes with hyphens", Reason: `code is "invalid-envelope"`,
			change: inInvalid(func(a *answer) { a.Code = `"invalid-envelope"` })},
		{Name: "code-camel-in-own-errors", For: ids("ERRPAY-002"), Fault: "errors other than the default one have codes in camel case", Reason: `code is "invalidEnvelope"`,
			change: inInvalid(func(a *answer) { a.Code = `"invalidEnvelope"` })},
		{Name: "code-number-in-own-errors", For: ids("ERRPAY-001"), Fault: "errors other than the default one have numbers as codes", Reason: `code is 400`,
			change: inInvalid(func(a *answer) { a.Code = "400" })},
		{Name: "code-for-everything", For: ids("ENV-006"), Also: ids("ENV-010", "ENV-015"), Fault: "whatever it cannot take gets the default error's code", Reason: tookIt,
			change: inInvalid(func(a *answer) { a.Code = `"unhandled"` })},

		// the message
		message("message-without-id", "the default error's message does not name the request", "no application handler registered"),
		message("message-other-words", "the default error's message has its own words", "no handler is registered for request '%s'"),
		message("message-capital", "the default error's message begins with a capital letter", "No application handler registered for request '%s'"),
		message("message-full-stop", "the default error's message ends in a full stop", "no application handler registered for request '%s'."),
		message("message-double-quotes", "the id stands in double quotes", `no application handler registered for request "%s"`),
		message("message-no-quotes", "the id stands without quotes", "no application handler registered for request %s"),
		message("message-other-quotes", "the id stands in typographic quotes", "no application handler registered for request ‘%s’"),
		message("message-template", "the id was never put in", "no application handler registered for request '<request-id>'"),
		message("message-two-spaces", "two spaces stand in the message", "no application handler  registered for request '%s'"),
		message("message-line-feed", "a line feed stands behind the message", "no application handler registered for request '%s'\n"),
		message("message-and-more", "more stands behind the message", "no application handler registered for request '%s'; register one"),
		{Name: "message-empty", For: ids("DEFERR-004", "FWD-002", "ERRPAY-004"), Fault: "the default error's message is empty", Reason: `is ""`, change: wording("")},
		{Name: "message-code-again", For: ids("DEFERR-004", "FWD-002"), Also: ids("ERRPAY-004"), Fault: "the default error's message is its code", Reason: `it is "unhandled"`, change: wording("unhandled")},
		{Name: "message-of-reply", For: ids("DEFERR-004", "FWD-002"), Fault: "the message names the reply's id", Reason: `it is "`,
			change: inDefault(func(_ *call, a *answer) {
				a.Message = quote("no application handler registered for request '" + a.ID[1:len(a.ID)-1] + "'")
			})},
		{Name: "message-missing", For: ids("DEFERR-004", "FWD-002"), Also: ids("ERRPAY-001", "ERRPAY-004"), Fault: "the default error has no message", Reason: `it is `, change: inDefault(func(_ *call, a *answer) { a.Message = "" })},
		{Name: "message-null", For: ids("DEFERR-004", "FWD-002"), Also: ids("ERRPAY-001", "ERRPAY-004"), Fault: "the default error's message is null", Reason: `it is null`, change: inDefault(func(_ *call, a *answer) { a.Message = "null" })},
		{Name: "message-an-array", For: ids("DEFERR-004", "FWD-002"), Also: ids("ERRPAY-001", "ERRPAY-004"), Fault: "the default error's message is an array of lines", Reason: `it is \[`, change: inDefault(func(_ *call, a *answer) { a.Message = "[" + a.Message + "]" })},
		{Name: "message-a-word-in-own-errors", For: ids("ERRPAY-004"), Fault: "errors other than the default one say failed", Reason: `message is "failed"`, change: inInvalid(func(a *answer) { a.Message = `"failed"` })},
		{Name: "message-code-in-own-errors", For: ids("ERRPAY-004"), Fault: "errors other than the default one repeat their code", Reason: `message is "invalid envelope"`, change: inInvalid(func(a *answer) { a.Message = `"invalid envelope"` })},
		{Name: "message-missing-in-own-errors", For: ids("ERRPAY-001"), Also: ids("ERRPAY-004"), Fault: "errors other than the default one have no message", Reason: `message is missing`, change: inInvalid(func(a *answer) { a.Message = "" })},

		// retryable
		{Name: "retryable-true", For: ids("DEFERR-005", "FWD-002"), Fault: "the default error is retryable", Reason: `retryable is true`, change: retryable("true")},
		{Name: "retryable-text", For: ids("DEFERR-005", "FWD-002"), Also: ids("ERRPAY-001"), Fault: "retryable is the text false", Reason: `retryable is "false"`, change: retryable(`"false"`)},
		{Name: "retryable-zero", For: ids("DEFERR-005", "FWD-002"), Also: ids("ERRPAY-001"), Fault: "retryable is 0", Reason: `retryable is 0`, change: retryable("0")},
		{Name: "retryable-null", For: ids("DEFERR-005", "FWD-002"), Also: ids("ERRPAY-001"), Fault: "retryable is null", Reason: `retryable is null`, change: retryable("null")},
		{Name: "retryable-missing", For: ids("DEFERR-005", "FWD-002"), Also: ids("ERRPAY-001"), Fault: "retryable is left out", Reason: `0 members`, change: retryable("")},
		{Name: "retryable-misspelt", For: ids("DEFERR-005", "FWD-002"), Also: ids("ERRPAY-001"), Fault: "retryable is written retriable", Reason: `0 members`, change: inDefault(func(_ *call, a *answer) { a.Retryable = ""; a.Message += `,"retriable":false` })},
		{Name: "retryable-by-load", For: ids("DEFERR-005"), Also: ids("FWD-002"), Fault: "with more than 8 streams open the default error is retryable", Reason: `retryable is true`,
			change: inDefault(func(c *call, a *answer) {
				if c.link.inFlight.Load() > 8 {
					a.Retryable = "true"
				}
			})},
		{Name: "retryable-missing-in-own-errors", For: ids("ERRPAY-001"), Fault: "errors other than the default one lack retryable", Reason: `retryable is missing`, change: inInvalid(func(a *answer) { a.Retryable = "" })},

		// the payload as a whole
		{Name: "payload-text", For: ids("ENV-008"), Also: append(ids("ERRPAY-001", "ERRPAY-004"), whole...), Fault: "the payload of its replies is a text that holds the object", Reason: `payload-not-object: string`, change: payload(quote(`{"code":"unhandled","message":"nobody is here","retryable":false}`))},
		{Name: "payload-null", For: ids("ENV-008"), Also: append(ids("ERRPAY-001", "ERRPAY-004"), whole...), Fault: "the payload of its replies is null", Reason: `payload-not-object: null`, change: payload("null")},
		{Name: "payload-array", For: ids("ENV-008"), Also: append(ids("ERRPAY-001", "ERRPAY-004"), whole...), Fault: "the payload of its replies is an array with the object", Reason: `payload-not-object: array`, change: payload(`[{"code":"unhandled"}]`)},
		{Name: "payload-missing", For: ids("ENV-002"), Also: append(ids("ENV-008", "ERRPAY-001", "ERRPAY-004"), whole...), Fault: "its replies have no payload", Reason: `missing-payload`, change: payload(absent)},
		{Name: "payload-empty", For: whole, Also: ids("ERRPAY-001", "ERRPAY-004"), Fault: "the payload of its replies is empty", Reason: `0 members|\bit is\b`, change: payload("{}")},
		{Name: "payload-of-request", For: ids("DEFERR-003"), Also: append(ids("ERRPAY-001", "ERRPAY-002", "ERRPAY-004"), whole...), Fault: "the default error carries the request's payload back", Reason: `0 members|code is`,
			change: inDefault(func(c *call, a *answer) { a.Payload = string(c.env.Payload.Raw) })},

		// members
		{Name: "from-added", For: ids("ENV-002"), Fault: "its replies have a member from that is null", Reason: `extra-member: "from": null`, change: extra(`"from":null`)},
		{Name: "to-added", For: ids("ENV-002"), Fault: "its replies have a member to", Reason: `extra-member: "to"`, change: extra(`"to":"ed25519.00000000000000000000000000000000"`)},
		{Name: "version-added", For: ids("ENV-002"), Fault: "its replies have a member v", Reason: `extra-member: "v"`, change: extra(`"v":1`)},
		{Name: "time-added", For: ids("ENV-002"), Fault: "its replies have a member ts", Reason: `extra-member: "ts"`, change: extra(`"ts":1771200000`)},
		{Name: "status-added", For: ids("ENV-002"), Fault: "its replies have a member of its own", Reason: `extra-member: "ok"`, change: extra(`"ok":false`)},
		{Name: "from-added-in-own-errors", For: ids("ENV-002"), Fault: "errors other than the default one have a member from", Reason: `extra-member: "from"`, change: inInvalid(func(a *answer) { a.Extra = append(a.Extra, `"from":null`) })},
		{Name: "from-added-for-unknown-kind", For: ids("ENV-002"), Fault: "the reply to an unknown kind has a member from", Reason: `extra-member: "from"`, change: inUnknown(func(_ *call, a *answer) { a.Extra = append(a.Extra, `"from":null`) })},
		{Name: "id-twice", For: ids("ENV-002"), Fault: "its replies have the id twice", Reason: `duplicate-member: "id"`, change: altering(func(_ *call, a *answer) { a.Extra = append(a.Extra, `"id":`+a.ID) })},
		{Name: "names-capital", For: ids("ENV-002"), Also: append(ids("ENV-007", "ENV-011", "DEFERR-001", "DEFERR-002", "DEFERR-006", "ENV-005", "KIND-002", "STREAM-004", "DEFERR-008", "REF-005", "STREAM-006", "STREAM-008", "ERRPAY-001", "ERRPAY-004"), whole...), Fault: "the members of its replies begin with capital letters", Reason: `extra-member: "Id"|missing-id`,
			change: altering(func(_ *call, a *answer) {
				a.Extra = []string{`"Id":` + a.ID, `"Kind":` + a.Kind, `"Ref":` + a.Ref, `"Payload":` + object(pair("code", a.Code), pair("message", a.Message), pair("retryable", a.Retryable))}
				*a = answer{Extra: a.Extra, Payload: absent}
			})},
	}
}

// tookIt is how the suite says that the target took what it must not take.
const tookIt = `the stream carried an "error" with code "unhandled"`
