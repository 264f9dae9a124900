package mutants

// commandPeerMutants tell wrong things of peers and identities.
func commandPeerMutants() []Mutant {
	return []Mutant{
		{Name: "peers-lack-key", For: ids("CLI-027"), Fault: "peers --json leaves public_key out", Reason: `standard output`},
		{Name: "peers-lack-status", For: ids("CLI-027"), Fault: "peers --json leaves status out", Reason: `standard output`},
		{Name: "peers-lack-source", For: ids("CLI-027"), Fault: "peers --json leaves source out", Reason: `standard output`},
		{Name: "peers-lack-trust", For: ids("CLI-027"), Fault: "peers --json leaves trust out", Reason: `standard output`},
		{Name: "peers-lack-address", For: ids("CLI-027"), Fault: "peers --json leaves addr out", Reason: `standard output`},
		{Name: "peers-first-missing", For: ids("CLI-027"), Fault: "peers --json leaves the first peer out", Reason: `standard output`},
		{Name: "peers-without-the-unconnected", For: ids("CLI-027"), Fault: "peers --json leaves peers without a connection out", Reason: `standard output`},
		{Name: "peers-all-connected", For: ids("CLI-027"), Fault: "peers --json shows all as connected", Reason: `standard output`},
		{Name: "peers-bare-list", For: ids("CLI-027"), Also: ids("CLI-010", "LEARN-002", "LEARN-006"), Fault: "peers --json prints an array", Reason: `standard output`},
		{Name: "status-lacks-uptime", For: ids("CLI-028"), Fault: "status --json leaves the uptime out", Reason: `stands there`},
		{Name: "status-counts-wrong", For: ids("CLI-028"), Fault: "status --json tells of no messages", Reason: `standard output`},
		{Name: "status-no-peers", For: ids("CLI-028"), Fault: "status --json tells of no peers", Reason: `standard output`},
		{Name: "whoami-lacks-version", For: ids("CLI-028"), Fault: "whoami --json leaves the version out", Reason: `stands there`},
		{Name: "whoami-lacks-uptime", For: ids("CLI-028"), Fault: "whoami --json leaves the uptime out", Reason: `stands there`},
		{Name: "whoami-key-in-url-base64", For: ids("CLI-028"), Also: ids("CLI-001"), Fault: "whoami --json tells the key in another base64", Reason: `standard output`},
		{Name: "token-in-standard-base64", For: ids("CLI-029"), Also: ids("CLI-036"), Fault: "the token holds the key in standard base64", Reason: `token|public_key`},
		{Name: "token-ignores-address", For: ids("CLI-029"), Also: ids("CLI-036"), Fault: "the token holds another address", Reason: `token`},
		{Name: "identity-lacks-token", For: ids("CLI-029"), Also: ids("CLI-036"), Fault: "identity --json leaves the token out", Reason: `address`},
		{Name: "identity-agent-id-short", For: ids("CLI-029"), Also: ids("CLI-036"), Fault: "the Agent ID lacks its last digit", Reason: `agent_id`},
		{Name: "identity-new-each-time", For: ids("CLI-029"), Also: ids("CLI-034", "CLI-035", "CLI-036"), Fault: "the identity is another one each time", Reason: `the line is|standard output`},
		{Name: "identity-needs-daemon", For: ids("CLI-029"), Also: ids("CLI-034", "CLI-035", "CLI-036"), Fault: "identity needs a daemon", Reason: `no daemon`},
		{Name: "connect-not-kept", For: ids("CLI-030"), Also: ids("CLI-010"), Fault: "a peer that was connected is gone after a restart", Reason: `refus|unknown|admits|bad certificate|TLS alert|nothing came`},
		{Name: "connect-does-nothing", For: ids("CLI-030"), Also: ids("CLI-010", "CLI-005", "LEARN-004"), Fault: "connect does nothing", Reason: `refus|unknown|admits|bad certificate|TLS alert`},
		{Name: "connect-code-1", For: ids("CLI-030"), Also: ids("CLI-010", "CLI-031"), Fault: "connect makes for code 1", Reason: `exited with code 1`},
		{Name: "connect-drops-candidates", For: ids("CLI-031"), Fault: "a candidate is not admitted", Reason: `admitted|refus|unknown|TLS alert`},
		{Name: "forget-comes-back", For: ids("CLI-032"), Also: ids("CLI-010"), Ceiling: quick, Fault: "a peer that was forgotten is admitted all the same", Reason: `it took|it is open`},
		{Name: "forget-does-nothing", For: ids("CLI-032"), Also: ids("CLI-005", "CLI-010", "LEARN-004"), Ceiling: quick, Fault: "forget does nothing", Reason: `it is open`},
	}
}

// commandCareMutants care badly.
func commandCareMutants() []Mutant {
	return []Mutant{
		{Name: "config-loses-comments", For: ids("CLI-033"), Fault: "comments of the configuration are lost", Reason: `it is`},
		{Name: "config-loses-peers", For: ids("CLI-033"), Fault: "peers of the configuration are lost", Reason: `it is`},
		{Name: "config-loses-name", For: ids("CLI-033"), Fault: "other values of the configuration are lost", Reason: `it is|standard output`},
		{Name: "config-sets-nothing", For: ids("CLI-033"), Fault: "a value is not stored", Reason: `it is`},
		{Name: "config-unset-ignored", For: ids("CLI-033"), Fault: "--unset does nothing", Reason: `it is`},
		{Name: "config-shows-defaults", For: ids("CLI-033"), Fault: "the default is shown in place of the value", Reason: `standard output`},
		{Name: "config-takes-any-value", For: ids("CLI-033"), Fault: "a value that cannot be is stored", Reason: `exited with code 0`},
		{Name: "config-takes-port-0", For: ids("CLI-033"), Fault: "the port 0 is stored", Reason: `exited with code 0`},
		{Name: "config-takes-unknown-keys", For: ids("CLI-033"), Fault: "a key that is not known is stored", Reason: `exited with code 0`},
		{Name: "config-refuses-by-code-1", For: ids("CLI-033"), Fault: "a value that cannot be makes for code 1", Reason: `exited with code 1`},
		{Name: "config-lists-file-only", For: ids("CLI-033"), Fault: "--list shows what stands in the file", Reason: `standard output`},
		{Name: "doctor-repairs-on-the-way", For: ids("CLI-034"), Also: ids("CLI-035"), Fault: "the doctor repairs without being asked", Reason: `was|exited with code 0|a new`},
		{Name: "doctor-always-content", For: ids("CLI-034"), Also: ids("CLI-035", "CLI-036"), Fault: "the doctor makes for code 0 whatever is wrong", Reason: `exited with code 0`},
		{Name: "doctor-never-content", For: ids("CLI-034"), Also: ids("CLI-010", "CLI-035", "CLI-036"), Fault: "the doctor makes for code 1 whatever is well", Reason: `exited with code 1`},
		{Name: "doctor-names-nothing", For: ids("CLI-034"), Also: ids("CLI-010", "LEARN-002", "LEARN-006"), Fault: "the doctor does not name what is wrong", Reason: `there are problems`},
		{Name: "doctor-makes-notes", For: ids("CLI-034"), Also: ids("CLI-035", "CLI-036"), Fault: "the doctor leaves a file behind", Reason: `new doctor.log`},
		{Name: "doctor-blind-to-modes", For: ids("CLI-034"), Also: ids("CLI-035"), Fault: "the doctor does not look at modes", Reason: `exited with code 0`},
		{Name: "doctor-blind-to-known-peers", For: ids("CLI-034"), Fault: "damaged known peers are no problem", Reason: `exited with code 0`},
		{Name: "fix-deletes", For: ids("CLI-035"), Fault: "known peers that cannot be read are deleted", Reason: `there are`},
		{Name: "fix-leaves-modes", For: ids("CLI-035"), Also: ids("CLI-034"), Fault: "the mode of the key stays", Reason: `mode|exited with code 1`},
		{Name: "fix-leaves-folder-open", For: ids("CLI-035"), Also: ids("CLI-034"), Fault: "the mode of the state root stays", Reason: `mode|exited with code 1`},
		{Name: "fix-makes-a-new-key", For: ids("CLI-035"), Fault: "a repair makes a new key", Reason: `identity.key`},
		{Name: "rekey-keeps-no-old-key", For: ids("CLI-036"), Fault: "the old key is not kept", Reason: `there are`},
		{Name: "rekey-changes-nothing", For: ids("CLI-036"), Fault: "the key stays as it was", Reason: `it is`},
		{Name: "rekey-under-running-daemon", For: ids("CLI-036"), Fault: "the key is replaced under a daemon that runs", Reason: `exited with code 0`},
		{Name: "completion-for-bash-only", For: ids("CLI-037"), Fault: "each shell gets the script for bash", Reason: `standard output`},
		{Name: "completion-without-fish", For: ids("CLI-037"), Fault: "there is no script for fish", Reason: `exited with code 2`},
		{Name: "completion-offers-no-peers", For: ids("CLI-038"), Fault: "peers are not offered", Reason: `standard output`},
		{Name: "completion-offers-no-names", For: ids("CLI-038"), Fault: "names of peers are not offered", Reason: `standard output`},
		{Name: "completion-offers-no-agent-ids", For: ids("CLI-038"), Fault: "agent ids of peers are not offered", Reason: `standard output`},
		{Name: "version-by-hand", For: ids("CLI-039"), Also: ids("CLI-010"), Fault: "version tells a version that was set by hand", Reason: `0.0.1`},
		{Name: "version-code-1", For: ids("CLI-039"), Also: ids("CLI-010"), Fault: "version makes for code 1", Reason: `exited with code 1`},
	}
}

// commandLearnMutants teach nothing.
func commandLearnMutants() []Mutant {
	return []Mutant{
		{Name: "help-lacks-a-command", For: ids("LEARN-001"), Fault: "a command is missing from the help", Reason: `forget|standard output`},
		{Name: "help-without-descriptions", For: ids("LEARN-001"), Fault: "the help does not say what some commands do", Reason: `standard output`},
		{Name: "help-without-examples", For: ids("LEARN-001"), Also: ids("LEARN-002"), Fault: "the help of commands has no examples", Reason: `no example`},
		{Name: "help-without-arguments", For: ids("LEARN-001"), Also: ids("LEARN-002"), Fault: "the help of commands does not explain arguments", Reason: `not explained`},
		{Name: "flag-abbreviated", For: ids("LEARN-002"), Also: ids("LEARN-001"), Fault: "a flag is an abbreviation", Reason: `abbreviation`},
		{Name: "letter-without-word", For: ids("LEARN-002"), Also: ids("LEARN-001"), Fault: "a flag of one letter has no long form", Reason: `no long form`},
		{Name: "members-abbreviated", For: ids("LEARN-002", "LEARN-006"), Also: ids("CLI-001", "CLI-028", "CLI-029"), Fault: "a member is an abbreviation", Reason: `abbreviation`},
		{Name: "member-names-shortened", For: ids("LEARN-002", "LEARN-006"), Also: ids("CLI-028"), Fault: "a counter has an abbreviated name", Reason: `abbreviation`},
		{Name: "error-bare", For: ids("LEARN-004"), Also: ids("CLI-006"), Fault: "an agent id that is none is told by a number", Reason: `error 22`},
		{Name: "examples-invalid", For: ids("LEARN-005"), Fault: "an example has an id that is no UUID", Reason: `not valid`},
		{Name: "examples-without-message", For: ids("LEARN-005"), Fault: "the examples show no message", Reason: `message: false`},
		{Name: "examples-no-json", For: ids("LEARN-005"), Also: ids("CLI-010", "LEARN-002", "LEARN-006"), Fault: "an example cannot be read as JSON", Reason: `cannot`},
		{Name: "examples-not-played", For: ids("LEARN-005"), Fault: "examples --run plays nothing", Reason: `message: false`},
		{Name: "envelope-names-shortened", For: ids("LEARN-006"), Also: ids("CLI-019", "CLI-010"), Fault: "envelopes are printed with other names", Reason: `stands there|standard output`},
	}
}
