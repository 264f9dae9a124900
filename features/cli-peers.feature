Feature: The command line: peers and identity

  @AXON-CLI-027 @cli
  Scenario: The peers are those of the local API
    Given a running daemon of its own
    And a peer that the target knows
    And client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    And client A gets a positive answer
    And a peer that the target knows, at whose address nobody answers
    Then `axon peers --json` prints the peers as the local API tells them

  @AXON-CLI-028 @cli
  Scenario: The counters are those of the local API
    Given a running daemon of its own
    And a peer that the target knows
    And client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    And client A gets a positive answer
    When `axon status --json` is run
    Then it exits with code 0
    And standard output is one JSON object with "uptime_secs", "peers_connected", "messages_sent", "messages_received"
    And its "peers_connected", "messages_sent", "messages_received" are as in the answer that client B gets to {"cmd":"status"}

  @AXON-CLI-028 @cli
  Scenario: Who the daemon is, is told as by the local API
    Given a running daemon
    When `axon whoami --json` is run
    Then it exits with code 0
    And standard output is one JSON object with "agent_id", "public_key", "version", "uptime_secs"
    And its "agent_id", "public_key", "version" are as in the answer that client A gets to {"cmd":"whoami"}

  @AXON-CLI-029 @cli
  Scenario Outline: The identity can be told before a daemon was started, for the address <address>
    When `axon identity --addr <address> --json` is run
    Then it exits with code 0
    And its agent_id derives from its public_key, and its token holds that key and "<address>"
    When a daemon is started with what is there
    Then standard output's "agent_id" is "«target»"
    When `axon identity --addr <address> --json` is run
    Then its "agent_id", "public_key" are as in the answer that client A gets to {"cmd":"whoami"}

    Examples:
      | address                |
      | 192.0.2.7:7100         |
      | agent.example.org:7200 |

  @AXON-CLI-030 @cli
  Scenario: A peer that was connected is known for good
    Given a running daemon of its own
    And a peer on this machine
    When `axon connect «peer token»` is run
    Then it exits with code 0
    And the peer dials the target and is served
    When `axon notify «peer» Hello` is run
    Then the peer gets a message with the payload {"message":"Hello"}
    When the daemon is terminated
    Then the daemon exits with code 0
    When the daemon is started again
    Then the peer dials the target and is served
    When `axon notify «peer» Hello` is run
    Then the peer gets a message with the payload {"message":"Hello"}

  @AXON-CLI-031 @cli @lan
  Scenario: A candidate is admitted by its Agent ID
    Given a daemon of the target's kind on a network of its own, with trust by enrolment
    And a newcomer on the network
    When the newcomer advertises itself
    Then it becomes a candidate
    When `axon connect «newcomer»` is run there
    Then it exits with code 0
    And the newcomer is admitted when it dials, and a request of its is answered

  @AXON-CLI-032 @cli
  Scenario Outline: A peer that is forgotten by <which> is cut off at once
    Given a running daemon of its own
    And a peer that the target knows
    And client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    And client A gets a positive answer
    And the peer dials the target and is served
    When `axon forget <peer>` is run
    Then it exits with code 0
    And the peer's connection is closed by the target
    And the peer dials the target and is refused

    Examples:
      | which                    | peer                |
      | its Agent ID             | «peer»              |
      | the beginning of its own | «beginning of peer» |
