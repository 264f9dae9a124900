Feature: The local API: peers

  @AXON-IPC-055 @drive
  Scenario: A peer is listed with all that is known of it
    Given a peer that the target knows
    When client A sends {"cmd":"peers"}
    Then client A gets a positive answer
    And the peer is listed with its key, its address, trust "trusted" and source "enrolled"
    And every peer is listed with members of the right kinds

  @AXON-IPC-055 @drive
  Scenario: So is one with a connection
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client A gets a positive answer
    And the peer's status becomes "connected"
    And the peer is listed with its key, its address, trust "trusted" and source "enrolled"
    And every peer is listed with members of the right kinds

  @AXON-IPC-056 @drive
  Scenario: A peer is connected when the target has dialled it, and no longer when it has gone
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client A gets a positive answer
    And the peer's status becomes "connected"
    When the peer closes the connection and goes away
    Then the peer's status becomes other than "connected"

  @AXON-IPC-056 @drive
  Scenario: A peer is connected when it has dialled the target, too
    Given a peer that the target knows
    When the peer dials the target and is served
    Then the peer's status becomes "connected"

  @AXON-IPC-057 @drive
  Scenario Outline: A peer added by <form> is admitted, dialled and listed
    Given a peer that the target does not know
    When client A sends {"cmd":"add_peer",<members>}
    Then client A gets a positive answer
    And the line's "agent_id" is "«peer»"
    And the peer dials the target and is served
    When client A sends {"cmd":"peers"}
    Then client A gets a positive answer
    And the peer is listed with its key, its address, trust "trusted" and source "enrolled"

    Examples:
      | form            | members                                           |
      | token           | "token":"«peer token»"                          |
      | key and address | "pubkey":"«peer key»","addr":"«peer address»" |

  @AXON-IPC-057 @drive
  Scenario Outline: A peer added by <form> is dialled when something is sent to it
    Given a peer that the target does not know
    When client A sends {"cmd":"add_peer",<members>}
    Then client A gets a positive answer
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client A gets a positive answer
    And the peer receives a message on a unidirectional stream

    Examples:
      | form            | members                                           |
      | token           | "token":"«peer token»"                          |
      | key and address | "pubkey":"«peer key»","addr":"«peer address»" |

  @AXON-IPC-057 @drive
  Scenario: A peer that was not added is refused
    Given a peer that the target does not know
    Then the peer dials the target and is refused

  @AXON-IPC-059 @drive
  Scenario Outline: What cannot be added is refused: <what>
    Given a peer that the target does not know
    When client A sends {"cmd":"add_peer"<members>}
    Then client A gets the error "invalid_command"
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client A gets the error "peer_not_found"

    Examples:
      | what                | members |
      | nothing             |  |
      | no token            | ,"token":"hello" |
      | token without key   | ,"token":"axon://@127.0.0.1:7100" |
      | token, short key    | ,"token":"axon://AAAA@127.0.0.1:7100" |
      | token without port  | ,"token":"axon://AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA@127.0.0.1" |
      | another scheme      | ,"token":"http://AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA@127.0.0.1:7100" |
      | token no text       | ,"token":7 |
      | port 0              | ,"pubkey":"«peer key»","addr":"127.0.0.1:0" |
      | port 65536          | ,"pubkey":"«peer key»","addr":"127.0.0.1:65536" |
      | no port             | ,"pubkey":"«peer key»","addr":"127.0.0.1" |
      | no host             | ,"pubkey":"«peer key»","addr":":7100" |
      | an empty address    | ,"pubkey":"«peer key»","addr":"" |
      | a short key         | ,"pubkey":"AAAA","addr":"«peer address»" |
      | no base64           | ,"pubkey":"****","addr":"«peer address»" |
      | a key alone         | ,"pubkey":"«peer key»" |
      | an address alone    | ,"addr":"«peer address»" |
      | token and key       | ,"token":"«peer token»","pubkey":"«peer key»","addr":"«peer address»" |
      | token and Agent ID  | ,"token":"«peer token»","agent_id":"«peer»" |

  @AXON-IPC-060 @drive
  Scenario: A pin is never replaced
    Given a peer that the target knows
    When client A sends {"cmd":"add_peer","pubkey":"«fresh key»","addr":"«peer address»"}
    Then client A gets the error "peer_conflict"
    When client A sends {"cmd":"peers"}
    Then client A gets a positive answer
    And the peer is listed with its key, its address, trust "trusted" and source "enrolled"
    And nobody else is listed with its address
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client A gets a positive answer
    And the peer receives a message on a unidirectional stream

  @AXON-IPC-061 @drive
  Scenario Outline: Adding a peer again changes nothing: <form>
    Given a peer that the target knows
    When client A sends {"cmd":"add_peer",<members>}
    Then client A gets a positive answer
    And the line's "agent_id" is "«peer»"
    When client A sends {"cmd":"peers"}
    Then client A gets a positive answer
    And the peer is listed with its key, its address, trust "trusted" and source "enrolled"

    Examples:
      | form            | members                                           |
      | token           | "token":"«peer token»"                          |
      | key and address | "pubkey":"«peer key»","addr":"«peer address»" |

  @AXON-IPC-062 @drive
  Scenario: A peer that is removed is forgotten
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client A gets a positive answer
    And the peer receives a message on a unidirectional stream
    When client A sends {"cmd":"remove_peer","agent_id":"«peer»"}
    Then client A gets a positive answer
    And the line's "agent_id" is "«peer»"
    And the peer's connection is closed by the target
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client A gets the error "peer_not_found"
    When client A sends {"cmd":"peers"}
    Then client A gets a positive answer
    And the peer is not listed
    And the peer dials the target and is refused

  @AXON-IPC-063 @drive
  Scenario: A peer that is not known cannot be removed
    When client A sends {"cmd":"remove_peer","agent_id":"ed25519.00112233445566778899aabbccddeeff"}
    Then client A gets the error "peer_not_found"

  @AXON-IPC-063 @drive
  Scenario: A peer cannot be removed twice
    Given a peer that the target knows
    When client A sends {"cmd":"remove_peer","agent_id":"«peer»"}
    Then client A gets a positive answer
    When client A sends {"cmd":"remove_peer","agent_id":"«peer»"}
    Then client A gets the error "peer_not_found"

  @AXON-IPC-064 @drive
  Scenario: An Agent ID that was never seen cannot be added
    When client A sends {"cmd":"add_peer","agent_id":"ed25519.00112233445566778899aabbccddeeff"}
    Then client A gets the error "peer_not_found"
