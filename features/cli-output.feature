Feature: The command line: exit codes and output
  Results go to standard output, and everything else to standard error. A script goes
  by the exit code: 0 success, 1 a local failure, 2 wrong usage, a refusal or an error
  from the peer, 3 time-out.

  @AXON-CLI-005 @AXON-LEARN-004 @cli
  Scenario Outline: With no daemon, <command> says how to start one
    When `axon <command>` is run
    Then it exits with code 1
    And standard output is empty
    And standard error says how to start a daemon
    And standard error says what is wrong and what to do next

    Examples:
      | command                                           |
      | request ed25519.00112233445566778899aabbccddeeff Hello |
      | notify ed25519.00112233445566778899aabbccddeeff Hello  |
      | serve --echo                                      |
      | listen                                            |
      | peers                                             |
      | status --json                                     |
      | whoami                                            |
      | connect axon://AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA@127.0.0.1:7100 |
      | forget ed25519.00112233445566778899aabbccddeeff   |

  @AXON-CLI-006 @AXON-LEARN-004 @cli
  Scenario Outline: Wrong usage changes nothing: <command>
    Given a running daemon
    And a peer that the target knows
    When `axon <command>` is run
    Then it exits with code 2
    And standard output is empty
    And standard error says what is wrong and what to do next
    And the peer has received nothing
    And the peer is known as before

    Examples:
      | command                              |
      | reqest «peer» Hello                  |
      | request --tmeout 5 «peer» Hello      |
      | request «peer»                       |
      | request                              |
      | request «peer» Hello there           |
      | request --timeout 0 «peer» Hello     |
      | request --timeout 3601 «peer» Hello  |
      | request --timeout soon «peer» Hello  |
      | request --json «peer» '[1]'          |
      | request --json «peer» '{"a":}'       |
      | request --json «peer» Hello          |
      | notify --json «peer» 7               |
      | notify «peer»                        |
      | notify «peer» Hello there            |
      | peers everywhere                     |
      | listen --count x                     |
      | serve                                |
      | connect axon://nonsense              |
      | connect nonsense                     |
      | connect                              |
      | forget                               |
      | daemon --port 65536                  |
      | daemon --port many                   |
      | identity --addr nonsense             |
      | completion                           |

  @AXON-CLI-007 @cli
  Scenario Outline: A refusal by the daemon is told in the daemon's words: <command>
    Given a running daemon
    And client A sends {"cmd":"send","to":"«target»","kind":"<kind>","payload":{"message":"Hello"}}
    And client A gets the error "self_send"
    When `axon <command> «target» Hello` is run
    Then it exits with code 2
    And standard output is empty
    And standard error tells the daemon's reason

    Examples:
      | command | kind    |
      | request | request |
      | notify  | message |

  @AXON-CLI-007 @cli
  Scenario: A refused handler is told the daemon's reason
    Given a running daemon of its own
    And client A takes the lease
    And client B sends {"cmd":"serve"}
    And client B gets the error "handler_busy"
    When `axon serve --echo` is run
    Then it exits with code 2
    And standard error tells the daemon's reason

  @AXON-CLI-008 @AXON-LEARN-004 @cli
  Scenario: An error from the peer is no answer
    Given a running daemon
    And a peer that the target knows
    When `axon request «peer» Hello` is run
    Then the peer gets a request with the payload {"message":"Hello"}
    When the peer answers by an error with the payload {"code":"timetable_unavailable","message":"the timetable could not be read; ask again later","retryable":true}
    Then it exits with code 2
    And standard output is empty
    And standard error says "timetable_unavailable"
    And standard error says "the timetable could not be read; ask again later"
    And standard error says what is wrong and what to do next

  @AXON-CLI-009 @AXON-CLI-018 @AXON-LEARN-004 @cli
  Scenario: Time that is over has a code of its own, and --timeout bounds the whole exchange
    Given a running daemon
    And a peer that the target knows, at whose address nobody answers
    When `axon request --timeout 1 «peer» Hello` is run
    Given a peer that the target knows
    When `axon request --timeout 1 «peer» Hello` is run
    Then the peer gets a request with the payload {"message":"Hello"}
    And the first command exits with code 3
    And the first command took between 1 and 4 seconds
    And it exits with code 3
    And it took between 1 and 4 seconds
    And standard output is empty
    And standard error says what is wrong and what to do next

  @AXON-CLI-009 @cli
  Scenario Outline: What fails for another reason is no time-out: a peer <which>
    Given a running daemon
    And a peer that the target knows, <which>
    When `axon request --timeout 5 «peer» Hello` is run
    Then it exits with a code other than 3
    And standard output is empty

    Examples:
      | which                                   |
      | which refuses the target                |
      | behind whose address another key listens |

  @AXON-CLI-009 @cli
  Scenario: A peer's own error with the code timeout is an error
    Given a running daemon
    And a peer that the target knows
    When `axon request «peer» Hello` is run
    Then the peer gets a request with the payload {"message":"Hello"}
    When the peer answers by an error with the payload {"code":"timeout","message":"the handler did not answer in time","retryable":true}
    Then it exits with code 2

  @AXON-CLI-010 @cli
  Scenario Outline: With --json, <command> prints JSON and nothing else
    Given a running daemon
    And a peer that the target knows
    When `axon <command>` is run
    Then it exits with code 0
    And standard output is JSON, one document on a line

    Examples:
      | command                            |
      | peers --json                       |
      | status --json                      |
      | whoami --json                      |
      | identity --addr 192.0.2.7:7100 --json |
      | notify --json «peer» '{"a":1}'     |
      | connect --json «peer token»        |
      | forget --json «peer»               |
      | config --list --json               |
      | version --json                     |
      | examples --json                    |
      | doctor --json                      |

  @AXON-CLI-010 @cli
  Scenario: With --json, request prints JSON and nothing else
    Given a running daemon
    And a peer that the target knows
    When `axon request --json «peer» '{"a":1}'` is run
    Then the peer gets a request with the payload {"a":1}
    When the peer answers by a response with the payload {"text":"one\ntwo"}
    Then it exits with code 0
    And standard output is JSON, one document on a line

  @AXON-CLI-011 @cli
  Scenario Outline: What a peer says does nothing to the terminal: <what>
    Given a running daemon
    And a peer that the target knows
    When `axon request «peer» Hello` is run
    Then the peer gets a request with the payload {"message":"Hello"}
    When the peer answers by an error with the payload {"code":"a<text>b","message":"one<text>two","retryable":false}
    Then it exits with code 2
    And nothing that it printed acts on a terminal

    Examples:
      | what             | text           |
      | escape           | \u001b[2J      |
      | one-byte escape  | \u009b2J       |
      | carriage return  | \r             |
      | backspace        | \b\b\b         |
      | bell and null    | \u0007\u0000   |
      | right to left    | \u202e\u2066   |
      | delete           | \u007f         |

  @AXON-CLI-011 @cli
  Scenario: Neither does a response
    Given a running daemon
    And a peer that the target knows
    When `axon request «peer» Hello` is run
    Then the peer gets a request with the payload {"message":"Hello"}
    When the peer answers by a response with the payload {"text":"\u001b]0;title\u0007\u009b2J\u202e\u007f"}
    Then it exits with code 0
    And nothing that it printed acts on a terminal

  @AXON-CLI-011 @cli
  Scenario: Neither does a message that comes in
    Given a running daemon of its own
    And a peer that the target knows
    And `axon listen --count 2` is running
    When the probe sends a message with the payload {"text":"\u001b[2J\u009b2J\u202e\u0007"}
    And the probe sends an envelope of kind "\u001b[2J\u009b2J\u202e" on a unidirectional stream
    Then it exits with code 0
    And nothing that it printed acts on a terminal

  @AXON-CLI-012 @cli
  Scenario Outline: No colour where standard output is no terminal: <command>
    Given a running daemon
    And a peer that the target knows
    And the variable TERM is "xterm-256color"
    And the variable NO_COLOR is "<no colour>"
    When `axon <command>` is run
    Then all that was started ends
    And nothing that it printed acts on a terminal

    Examples:
      | command                   | no colour |
      | peers                     |           |
      | status                    | 1         |
      | whoami                    |           |
      | doctor                    | 1         |
      | doctor                    |           |
      | examples                  |           |
      | --help                    |           |
      | request nobody Hello      |           |
