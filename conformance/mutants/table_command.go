package mutants

import (
	"slices"
	"time"
)

// commandMutants are command lines with one fault each. The fault of a name is in
// cmd/axon-conformance/internal/faulty, since this package knows no command line.
func commandMutants() []Mutant {
	all := slices.Concat(
		commandDaemonMutants(), commandOutputMutants(), commandSendMutants(), commandServeMutants(),
		commandPeerMutants(), commandCareMutants(), commandLearnMutants(),
	)
	for i := range all {
		all[i].command = true
		if all[i].Ceiling == quick {
			all[i].Ceiling = commandQuick
		}
	}
	return all
}

// commandQuick is the ceiling for command lines that leave the suite waiting; processes
// have to start within it.
const commandQuick = 1500 * time.Millisecond

// commandDaemonMutants are daemons that start, end and keep their state in a wrong way.
func commandDaemonMutants() []Mutant {
	return []Mutant{
		{Name: "root-flag-read-by-daemon-alone", For: ids("CLI-001"), Fault: "--state-root counts for daemon alone", Reason: `axon whoami`},
		{Name: "root-environment-before-flag", For: ids("CLI-001"), Also: ids("LEARN-003"), Ceiling: quick, Fault: "AXON_ROOT is put before --state-root", Reason: `local API|no daemon|agent_id`},
		{Name: "root-environment-unread", For: ids("CLI-001"), Ceiling: quick, Fault: "AXON_ROOT is not read", Reason: `local API|agent_id|exited with code 1`},
		{Name: "root-not-in-home", For: ids("CLI-001"), Ceiling: quick, Fault: "without flag and variable the state is kept elsewhere than in the home folder", Reason: `local API`},
		{Name: "port-flag-behind-configuration", For: ids("CLI-002"), Fault: "the configured port is put before --port", Reason: `dial|admits|connect|timeout|no recent`},
		{Name: "daemon-ends-with-code-143", For: ids("CLI-003"), Also: ids("LEARN-005", "IPC-078", "CLI-030"), Fault: "a daemon that was asked to end exits with code 143", Reason: `exited with code 143`},
		{Name: "daemon-ends-with-code-1-when-terminated", For: ids("CLI-003"), Also: ids("LEARN-005", "IPC-078", "CLI-030"), Fault: "SIGTERM ends the daemon with code 1", Reason: `exited with code 1`},
		{Name: "daemon-leaves-socket", For: ids("CLI-003", "IPC-078"), Also: ids("CLI-030", "LEARN-005"), Fault: "a file stays where the socket was", Reason: `it is there`},
		{Name: "daemon-drops-connections", For: ids("CLI-003"), Also: ids("IPC-078"), Ceiling: quick, Fault: "a signal ends the daemon without a word to its peers", Reason: `it is open|it ended`},
		{Name: "daemon-drops-connections-interrupted", For: ids("CLI-003"), Also: ids("IPC-078"), Ceiling: quick, Fault: "SIGINT ends the daemon without a word to its peers", Reason: `it is open|it ended`},
		{Name: "daemon-dies-of-signal", For: ids("CLI-003", "IPC-078"), Also: ids("CLI-030"), Ceiling: quick, Fault: "a signal ends the daemon at once, with code 130", Reason: `it is open|it ended|exited with code 130|no bytes|nothing came|closed`},
		{Name: "key-overwritten", For: ids("CLI-004"), Also: ids("LEARN-004"), Ceiling: quick, Fault: "a key file that cannot be used is replaced", Reason: `it runs`},
		{Name: "key-empty-overwritten", For: ids("CLI-004"), Also: ids("LEARN-004"), Ceiling: quick, Fault: "an empty key file is replaced", Reason: `it runs`},
		{Name: "key-refused-and-cleared", For: ids("CLI-004"), Also: ids("LEARN-004"), Fault: "a key file that cannot be used is emptied", Reason: `it holds`},
		{Name: "key-refused-by-code-2", For: ids("CLI-004"), Also: ids("LEARN-004"), Fault: "a key file that cannot be used makes for code 2", Reason: `exited with code 2`},
		{Name: "key-refused-without-a-way-out", For: ids("CLI-004", "LEARN-004"), Fault: "a key file that cannot be used is not explained", Reason: `illegal base64`},
		{Name: "peers-forgotten-at-restart", For: ids("IPC-058"), Also: ids("CLI-030", "IPC-076", "IPC-079"), Fault: "peers that were added are gone after a restart", Reason: `refus|unknown|admits|peer_not_found|TLS alert`},
		{Name: "stale-socket-hinders", For: ids("IPC-076"), Also: ids("IPC-058"), Fault: "a socket that was left behind keeps the daemon from starting", Reason: `axon.sock exists`},
		{Name: "second-daemon-unnamed", For: ids("IPC-077"), Fault: "the pid of the daemon that runs is not told", Reason: `already uses`},
		{Name: "second-daemon-takes-socket", For: ids("IPC-077"), Fault: "a second daemon removes the socket of the first", Reason: `local API|axon.sock|connect`},
		{Name: "second-daemon-ends-with-code-0", For: ids("IPC-077"), Fault: "a second daemon ends as if all were well", Reason: `exited with code 0`},
		{Name: "known-peers-hinder", For: ids("IPC-079"), Fault: "known peers that cannot be read keep the daemon from starting", Reason: `cannot be read`},
		{Name: "known-peers-deleted", For: ids("IPC-079"), Fault: "known peers that cannot be read are deleted", Reason: `there are`},
		{Name: "known-peers-folder-hinders", For: ids("IPC-079"), Fault: "a folder in the place of the known peers keeps the daemon from starting", Reason: `is a directory`},
		{Name: "known-peers-set-aside-silently", For: ids("IPC-079"), Ceiling: quick, Fault: "known peers that cannot be read are set aside without a word", Reason: `standard error`},
		{Name: "handler-silent-other-code", For: ids("IPC-049"), Heavy: true, Fault: "a request that the handler leaves unanswered is ended by another code", Reason: `code is "no_answer"`},
		{Name: "handler-silent-not-retryable", For: ids("IPC-049"), Heavy: true, Fault: "a request that the handler leaves unanswered is ended by an error that is not retryable", Reason: `retryable`},
		{Name: "handler-silent-not-waited-for", For: ids("IPC-049"), Heavy: true, Fault: "a request that the handler does not answer at once is ended", Reason: `it took`},
	}
}

// commandOutputMutants print and end in a wrong way.
func commandOutputMutants() []Mutant {
	return []Mutant{
		{Name: "no-daemon-code-2", For: ids("CLI-005"), Also: ids("LEARN-004"), Fault: "no daemon makes for code 2", Reason: `exited with code 2`},
		{Name: "no-daemon-on-standard-output", For: ids("CLI-005"), Also: ids("LEARN-004"), Fault: "that there is no daemon is told on standard output", Reason: `standard output is "axon`},
		{Name: "no-daemon-bare", For: ids("CLI-005", "LEARN-004"), Fault: "that there is no daemon is told by the error of the socket", Reason: `no such file`},
		{Name: "no-daemon-bare-in-listen", For: ids("CLI-005", "LEARN-004"), Fault: "serve and listen tell the error of the socket", Reason: `no such file`},
		{Name: "usage-code-1", For: ids("CLI-006"), Also: ids("LEARN-004", "CLI-040", "CLI-017"), Fault: "wrong usage makes for code 1", Reason: `exited with code 1`},
		{Name: "usage-on-standard-output", For: ids("CLI-006"), Also: ids("LEARN-004"), Fault: "the usage is printed on standard output", Reason: `Usage:`},
		{Name: "usage-joins-arguments", For: ids("CLI-006"), Also: ids("LEARN-004"), Ceiling: quick, Fault: "arguments too many are joined and sent", Reason: `it runs|exited with code [03]`},
		{Name: "usage-takes-timeout-0", For: ids("CLI-006"), Also: ids("LEARN-004"), Fault: "--timeout 0 is taken", Reason: `it runs|exited with code 3`},
		{Name: "usage-takes-timeout-3601", For: ids("CLI-006"), Also: ids("LEARN-004"), Fault: "--timeout 3601 is taken", Reason: `it runs|exited with code 3`},
		{Name: "usage-wraps-payloads", For: ids("CLI-006"), Also: ids("LEARN-004"), Ceiling: quick, Fault: "a payload that is no object is wrapped and sent", Reason: `it runs|exited with code [03]`},
		{Name: "usage-missing-text-is-empty", For: ids("CLI-006"), Also: ids("LEARN-004"), Ceiling: quick, Fault: "a text that is missing is sent as an empty one", Reason: `it runs|exited with code [03]`},
		{Name: "usage-unknown-flag-ignored", For: ids("CLI-006"), Also: ids("LEARN-004"), Ceiling: quick, Fault: "a flag that is not known is ignored", Reason: `it runs`},
		{Name: "usage-unknown-command-helps", For: ids("CLI-006"), Also: ids("LEARN-004", "CLI-040"), Fault: "a command that is not known prints help, with code 0", Reason: `exited with code 0`},
		{Name: "refusal-code-1", For: ids("CLI-007"), Also: ids("LEARN-004"), Fault: "a refusal makes for code 1", Reason: `exited with code 1`},
		{Name: "refusal-in-own-words", For: ids("CLI-007"), Fault: "the reason of a refusal is replaced", Reason: `the daemon refused`},
		{Name: "refused-handler-in-own-words", For: ids("CLI-007"), Fault: "the reason for which a handler is refused is replaced", Reason: `cannot serve`},
		{Name: "remote-error-code-0", For: ids("CLI-008"), Also: ids("CLI-009", "CLI-011", "CLI-019", "LEARN-003", "LEARN-004", "LEARN-006"), Fault: "an error from the peer makes for code 0", Reason: `exited with code 0`},
		{Name: "remote-error-printed-as-answer", For: ids("CLI-008"), Also: ids("LEARN-004", "CLI-019", "LEARN-006"), Fault: "an error from the peer is printed like an answer", Reason: `standard output is "\{`},
		{Name: "remote-error-without-code", For: ids("CLI-008"), Also: ids("LEARN-004"), Fault: "the code of an error from the peer is not told", Reason: `standard error`},
		{Name: "remote-error-without-message", For: ids("CLI-008"), Also: ids("LEARN-004"), Fault: "the message of an error from the peer is not told", Reason: `standard error`},
		{Name: "timeout-code-2", For: ids("CLI-009"), Also: ids("CLI-018", "LEARN-004"), Fault: "a time-out makes for code 2", Reason: `exited with code 2`},
		{Name: "timeout-code-1", For: ids("CLI-009"), Also: ids("CLI-018", "LEARN-004"), Fault: "a time-out makes for code 1", Reason: `exited with code 1`},
		{Name: "unreachable-is-timeout", For: ids("CLI-009"), Fault: "a peer that cannot be reached makes for code 3", Reason: `exited with code 3`},
		{Name: "remote-timeout-is-timeout", For: ids("CLI-009"), Fault: "an error from the peer whose code is timeout makes for code 3", Reason: `exited with code 3`},
		{Name: "json-with-progress", For: ids("CLI-010"), Also: ids("LEARN-002", "LEARN-006"), Fault: "progress stands before the JSON", Reason: `asking the daemon`},
		{Name: "json-on-several-lines", For: ids("CLI-010"), Also: ids("LEARN-002", "LEARN-006"), Fault: "JSON is printed on several lines", Reason: `is none`},
		{Name: "json-not-for-version", For: ids("CLI-010"), Fault: "version ignores --json", Reason: `is none`},
		{Name: "json-not-for-forget", For: ids("CLI-010"), Fault: "forget ignores --json", Reason: `is none`},
		{Name: "json-unknown-for-doctor", For: ids("CLI-010"), Also: ids("LEARN-002", "LEARN-006"), Fault: "doctor does not know --json", Reason: `exited with code 2`},
		{Name: "escape-reaches-terminal", For: ids("CLI-011"), Fault: "escape of a peer is printed as it is", Reason: `there is`},
		{Name: "c1-reaches-terminal", For: ids("CLI-011"), Fault: "a control character of U+0080 to U+009F of a peer is printed as it is", Reason: `there is`},
		{Name: "bidi-reaches-terminal", For: ids("CLI-011"), Fault: "a character that changes the direction of text of a peer is printed as it is", Reason: `there is`},
		{Name: "delete-reaches-terminal", For: ids("CLI-011"), Fault: "delete of a peer is printed as it is", Reason: `there is`},
		{Name: "bell-reaches-terminal", For: ids("CLI-011"), Fault: "bell and null of a peer is printed as it is", Reason: `there is`},
		{Name: "return-reaches-terminal", For: ids("CLI-011"), Fault: "a carriage return of a peer is printed as it is", Reason: `there is`},
		{Name: "backspace-reaches-terminal", For: ids("CLI-011"), Fault: "backspace of a peer is printed as it is", Reason: `there is`},
		{Name: "coloured-always", For: ids("CLI-012"), Also: ids("CLI-010", "CLI-027", "CLI-028", "CLI-001", "CLI-029", "LEARN-002", "LEARN-006"), Fault: "peers, status and whoami are coloured whatever standard output is", Reason: `there is`},
		{Name: "coloured-help", For: ids("CLI-012"), Also: ids("LEARN-001"), Fault: "help is coloured whatever standard output is", Reason: `there is`},
		{Name: "coloured-errors", For: ids("CLI-012"), Also: ids("CLI-011"), Fault: "errors are coloured whatever standard output is", Reason: `there is`},
		{Name: "coloured-unless-no-color-set", For: ids("CLI-012"), Also: ids("CLI-010", "LEARN-002", "LEARN-006"), Fault: "the doctor colours", Reason: `there is`},
		{Name: "nothing-suggested", For: ids("CLI-040"), Fault: "no near name is told", Reason: `standard error`},
		{Name: "peers-not-suggested", For: ids("CLI-040"), Fault: "no near peer is told", Reason: `standard error`},
		{Name: "anything-suggested", For: ids("CLI-040"), Fault: "some command is told for one that is near to nothing", Reason: `xyzzyx`},
		{Name: "any-peer-suggested", For: ids("CLI-040"), Fault: "some peer is told for one that is near to nothing", Reason: `somebody`},
		{Name: "flags-not-suggested", For: ids("CLI-040"), Fault: "no near flag is told", Reason: `standard error`},
	}
}
