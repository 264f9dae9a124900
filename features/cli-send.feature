Feature: The command line: request and notify

  @AXON-CLI-013 @cli
  Scenario Outline: A request is sent and the response's payload printed: <what>
    Given a running daemon
    And a peer that the target knows
    When `axon request «peer» 'Hello, peer'` is run
    Then the peer gets a request with the payload {"message":"Hello, peer"}
    When the peer answers by a response with the payload <payload>
    Then it exits with code 0
    And standard output is the JSON <payload>
    And the peer has received nothing

    Examples:
      | what             | payload                                          |
      | text             | {"text":"Fine, thanks"}                          |
      | nothing          | {}                                               |
      | large numbers    | {"n":12345678901234567890,"huge":1e400,"x":0.1000000000000000055} |
      | other languages  | {"text":"¿qué? 日本 \ud83d\ude00"}               |
      | like an error    | {"code":"unhandled","message":"no error","retryable":false} |

  @AXON-CLI-014 @cli
  Scenario: A message is sent, and nothing waited for
    Given a running daemon
    And a peer that the target knows
    When `axon notify «peer» 'Dinner is ready'` is run
    Then the peer gets a message with the payload {"message":"Dinner is ready"}
    And it exits with code 0
    And it took between 0 and 4 seconds
    When `axon notify «peer» 'It gets cold'` is run
    Then the peer gets a message with the payload {"message":"It gets cold"}
    And the peer has received nothing

  @AXON-CLI-015 @cli
  Scenario Outline: With --json, <command> sends what it was given
    Given a running daemon
    And a peer that the target knows
    When `axon <command> --json «peer» '{"domain":"a.b","n":12345678901234567890,"e":1e400,"deep":[{"x":null}],"message":7}'` is run
    Then the peer gets a <kind> with the payload {"domain":"a.b","n":12345678901234567890,"e":1e400,"deep":[{"x":null}],"message":7}

    Examples:
      | command | kind    |
      | request | request |
      | notify  | message |

  @AXON-CLI-016 @cli
  Scenario Outline: With -, <command> reads standard input to its end
    Given a running daemon
    And a peer that the target knows
    When `axon <command> «peer» -` is run with the input "line one\nline two\nline three"
    Then the peer gets a <kind> with the payload {"message":"line one\nline two\nline three"}

    Examples:
      | command | kind    |
      | request | request |
      | notify  | message |

  @AXON-CLI-016 @cli
  Scenario Outline: With - and --json, <command> reads a JSON object from standard input
    Given a running daemon
    And a peer that the target knows
    When `axon <command> --json «peer» -` is run with the input:
      """
      {
        "a": [1,
              2]
      }
      """
    Then the peer gets a <kind> with the payload {"a":[1,2]}

    Examples:
      | command | kind    |
      | request | request |
      | notify  | message |

  @AXON-CLI-017 @cli
  Scenario Outline: PEER may be <what>
    Given a peer on this machine
    And a running daemon of its own with the configuration:
      """
      peers:
        - {name: alice, agent_id: «peer», pubkey: "«peer key»", addr: "«peer address»"}
      """
    When `axon notify <peer> Hello` is run
    Then the peer gets a message with the payload {"message":"Hello"}
    And it exits with code 0

    Examples:
      | what                      | peer                  |
      | an Agent ID               | «peer»                |
      | an Agent ID in any case   | «peer in upper case»  |
      | the beginning of one      | «beginning of peer»   |
      | a name                    | alice                 |

  @AXON-CLI-017 @cli
  Scenario Outline: The beginning of several is refused by <command>
    Given a running daemon
    And two peers that the target knows, whose Agent IDs begin alike
    When `axon <command> «beginning of both» Hello` is run
    Then it exits with code 2
    And standard output is empty
    And neither of the two peers has received anything

    Examples:
      | command |
      | request |
      | notify  |

  @AXON-CLI-019 @AXON-LEARN-006 @cli
  Scenario Outline: With --envelope, the whole envelope of <what> is printed
    Given a running daemon
    And a peer that the target knows
    When `axon request --envelope «peer» Hello` is run
    Then the peer gets a request with the payload {"message":"Hello"}
    When the peer writes {"id":"«other id»","kind":"<kind>","payload":<payload>,"ref":"«received id»"} back
    Then it exits with code <code>
    And standard output is the reply's envelope
    And the members that it printed are whole words

    Examples:
      | what       | kind     | payload                                            | code |
      | a response | response | {"text":"Fine"}                                    | 0    |
      | an error   | error    | {"code":"some_code","message":"it went wrong","retryable":true} | 2    |
