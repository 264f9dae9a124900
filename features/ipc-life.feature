Feature: The local API: life of the daemon
  Restarts are daily business and lose nothing.

  @AXON-IPC-058 @AXON-IPC-076 @cli
  Scenario: A peer that was added is known after the daemon was killed and started again
    Given a running daemon of its own
    And a peer on this machine
    When client A sends {"cmd":"add_peer","token":"«peer token»"}
    Then client A gets a positive answer
    When the daemon is killed
    And the daemon is started again
    And client B sends {"cmd":"peers"}
    Then client B gets a positive answer
    And the peer dials the target and is served
    When client B sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client B gets a positive answer

  @AXON-IPC-077 @cli
  Scenario: A state root has one daemon
    Given a running daemon of its own
    And the state root is noted
    When `axon daemon --port «free port» --disable-mdns` is run
    Then it exits with a code other than 0
    And standard error says "«daemon pid»"
    And standard error says what is wrong and what to do next
    And the daemon is still there and served as before
    And the state root is as it was

  @AXON-IPC-078 @cli
  Scenario Outline: A request under way is still answered when the daemon is <how>
    Given a running daemon of its own
    And client A takes the lease
    When the probe sends a request
    Then client A is shown the event "request"
    When the daemon is <how>
    And client A sends {"cmd":"reply","request_id":"«request id»","kind":"response","payload":{"in":"time"}}
    Then the reply is a response with the payload {"in":"time"}
    And the target closes the connection with code 0 and a reason
    And client A's connection is closed by the target
    And the daemon exits with code 0
    And there is no "axon.sock" in the state root

    Examples:
      | how         |
      | interrupted |
      | terminated  |

  @AXON-IPC-079 @cli
  Scenario Outline: What is only remembered does not stop the daemon: <what>
    Given "known_peers.json" in the state root holds "<content>"
    And the state root is noted
    When a daemon is started with what is there
    Then what "known_peers.json" held is kept under a name with the time
    And the daemon's log names "known_peers.json"

    Examples:
      | what      | content                 |
      | damaged   | {"version":1,"peers":[  |
      | no JSON   | hello                   |
      | a number  | 7                       |
      | empty     |                         |

  @AXON-IPC-079 @cli
  Scenario: A folder in the place of the known peers does not stop the daemon
    Given "known_peers.json" in the state root is a folder
    And the state root is noted
    When a daemon is started with what is there
    Then what "known_peers.json" held is kept under a name with the time
    And the daemon's log names "known_peers.json"
