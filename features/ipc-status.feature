Feature: The local API: the commands status and whoami

  @AXON-IPC-065 @drive
  Scenario: status is in whole numbers
    When client A sends {"cmd":"status"}
    Then client A gets a positive answer
    And the line has a "uptime_secs", whole number
    And the line has a "peers_connected", whole number
    And the line has a "messages_sent", whole number
    And the line has a "messages_received", whole number

  @AXON-IPC-065 @drive @alone
  Scenario: peers_connected is the number of peers that peers shows as connected
    Given a peer that the target knows
    And a connection to the target
    And a connection to the target
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client A gets a positive answer
    And the peer's status becomes "connected"
    And peers_connected is the number of peers that are listed as connected

  @AXON-IPC-066 @drive @alone
  Scenario Outline: A <kind> that a client sends is counted
    Given a peer that the target knows
    When client A notes the counters
    And client A sends {"cmd":"send","to":"«peer»","kind":"<kind>","payload":{}}
    Then the peer receives a <kind> on a <direction> stream
    When the peer answers what waits for an answer
    Then client A gets a positive answer
    And "messages_sent" has risen by at least 1

    Examples:
      | kind    | direction      |
      | message | unidirectional |
      | request | bidirectional  |

  @AXON-IPC-066 @drive @alone
  Scenario Outline: Ten envelopes of kind <kind> that a peer sends are counted, though nobody takes them
    Given a connection to the target
    When client A notes the counters
    And the probe sends 10 envelopes of kind <kind>
    Then "messages_received" has risen by at least 10

    Examples:
      | kind    |
      | message |
      | request |
      | error   |
      | later   |

  @AXON-IPC-067 @drive
  Scenario: whoami says who the target is
    When client A sends {"cmd":"whoami"}
    Then client A gets a positive answer
    And the line's "agent_id" is "«target»"
    And the line's public_key is the key that the target proves, and its agent_id derives from it
    And the line has a non-empty "version", string
    And the line has a "uptime_secs", whole number
    And the line's name is a text that is not empty, or is left out
