Feature: The command line: daemon and state root
  Two agents on one machine are told apart by their state roots alone.

  @AXON-CLI-001 @cli
  Scenario Outline: The state root is the one that <which> names
    Given the variable AXON_ROOT <environment>
    When `axon daemon <flag> --port «free port» --disable-mdns` is running
    Then a daemon serves the state root "<root>"
    When `axon whoami <flag> --json` is run
    Then it exits with code 0
    And its "agent_id", "public_key" are as in the answer that client A gets to {"cmd":"whoami"}

    Examples:
      | which                | environment             | flag                          | root                 |
      | the flag             | is "«folder»/variable"  | --state-root «folder»/flag    | «folder»/flag        |
      | the environment      | is "«folder»/variable"  |                               | «folder»/variable    |
      | nobody: in home      | is not set              |                               | «folder»/.axon       |

  @AXON-CLI-002 @cli
  Scenario: The flag for the port counts, whatever the configuration says
    Given a peer on this machine
    And the configuration:
      """
      port: «free port»
      peers:
        - agent_id: «peer»
          pubkey: «peer key»
      """
    When a daemon is started with what is there
    Then the peer dials the target and is served
    When `axon status` is run
    Then it exits with code 0

  @AXON-CLI-003 @cli
  Scenario Outline: A daemon that is <how> ends in good order
    Given a running daemon of its own
    And a connection to the target
    When the probe sends a request
    Then it is accepted
    When the daemon is <how>
    Then the target closes the connection with code 0 and a reason
    And the daemon exits with code 0
    And there is no "axon.sock" in the state root

    Examples:
      | how         |
      | interrupted |
      | terminated  |

  @AXON-CLI-004 @AXON-LEARN-004 @cli
  Scenario Outline: A key file that holds no key is left as it is: <what>
    Given "identity.key" in the state root holds "<content>"
    When `axon daemon --port «free port» --disable-mdns` is run
    Then it exits with code 1
    And standard error says what is wrong and what to do next
    And standard error says "identity.key"
    And "identity.key" in the state root is "<content>" still

    Examples:
      | what               | content                                      |
      | text               | this is no key                               |
      | nothing            |                                              |
      | too short a key    | AAAAAAAAAAAAAAAAAAAAAA==                     |
      | a key in hex       | 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f |
