Feature: Learnability
  An agent that has never met AXON learns the tool from its help, its errors and its
  examples.

  @AXON-LEARN-001 @cli
  Scenario Outline: The help names every command with what it does: <how>
    When `axon <how>` is run
    Then it exits with code 0
    And it names every command with what it does

    Examples:
      | how    |
      | --help |
      | help   |

  @AXON-LEARN-001 @AXON-LEARN-002 @cli
  Scenario: Each command can be learned from its own help
    When the help of every command is asked for
    Then each has a description, its arguments and an example
    And each names flags in whole words, and a long form for each letter

  @AXON-LEARN-002 @AXON-LEARN-006 @cli
  Scenario Outline: Members are whole words: <command>
    Given a running daemon
    And a peer that the target knows
    When `axon <command>` is run
    Then the members that it printed are whole words

    Examples:
      | command                               |
      | peers --json                          |
      | status --json                         |
      | whoami --json                         |
      | identity --json                       |
      | notify --json «peer» '{"a":1}'        |
      | doctor --json                         |
      | examples --json                       |

  @AXON-LEARN-003 @cli
  Scenario: Two daemons that know each other carry a request with no further step
    Given two daemons that know each other by their configuration
    When `axon request --json «second daemon» '{"question":"Is anybody there?"}'` is run
    Then it exits with code 2
    And standard error says "unhandled"
    And standard error says "no application handler registered"

  @AXON-LEARN-004 @cli
  Scenario Outline: An error says what went wrong and what to do next: <what>
    Given a running daemon
    When `axon <command>` is run
    Then it exits with code 2
    And standard error says what is wrong and what to do next

    Examples:
      | what             | command                                                   |
      | unknown command  | reqest                                                    |
      | unknown peer     | request ed25519.00112233445566778899aabbccddeeff Hello    |
      | unknown name     | notify nobody Hello                                       |
      | bad agent id     | request ed25519.zz Hello                                  |
      | bad agent id     | forget ed25519.0011                                       |
      | itself           | request «target» Hello                                    |

  @AXON-LEARN-005 @cli
  Scenario Outline: The examples are valid: <how>
    When `axon <how>` is run
    Then it exits with code 0
    And it shows a request with its response, and a message, each valid for the schemas

    Examples:
      | how            |
      | examples       |
      | examples --run |

  @AXON-LEARN-007 @cli
  Scenario: A request goes both ways on one stream, and a message one way
    Given a running daemon
    And a peer that the target knows
    When `axon request «peer» Hello` is run
    Then the peer gets a request with the payload {"message":"Hello"}
    When the peer answers by a response with the payload {"text":"Hello yourself"}
    Then it exits with code 0
    And the peer has received nothing
    When `axon notify «peer» Goodbye` is run
    Then the peer gets a message with the payload {"message":"Goodbye"}
    And it exits with code 0
    And the peer has received nothing
