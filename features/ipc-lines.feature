Feature: The local API: lines, answers and errors
  One JSON object a line, and one answer to each line.

  @AXON-IPC-007 @drive
  Scenario: Every line that the target writes is one JSON object
    When client A sends {"cmd":"whoami","req_id":"a\nb\u0001\u2028é😀"}
    Then client A gets a positive answer
    When client A sends {"cmd":"peers"}
    Then client A gets a positive answer
    When client A sends no JSON at all: \ "quoted" «hex 01 09 7f»
    Then client A gets the error "invalid_command"
    When client A sends {"cmd":"«hex ff fe»"}
    Then client A gets the error "invalid_command"
    And every line that client A got is one JSON object of at most 131,072 bytes

  @AXON-IPC-007 @observe
  Scenario: An event is one line, whatever the peer put between its members
    Given a connection to the target
    When client A is connected
    And the probe sends on a unidirectional stream:
      """
      {
        "id": "«id»",
        "kind": "message",
        "payload": {
          "a": [1,
                2]
        }
      }
      """
    Then client A is shown the event "inbound"
    And the line's "envelope.payload" is {"a":[1,2]}
    And every line that client A got is one JSON object of at most 131,072 bytes

  @AXON-IPC-008 @drive
  Scenario Outline: A line is answered by exactly one line: <line>
    When client A sends <line>
    Then client A was answered once

    Examples:
      | line                             |
      | {"cmd":"status"}                 |
      | {"cmd":"nothing of the kind"}    |
      | hello                            |
      | {                                |
      | []                               |
      | "status"                         |
      | null                             |
      | «3 spaces»                       |
      | «hex 00»                         |
      | «hex ff fe»                      |
      | «hex 0d»                         |
      | {"cmd":"status"}{"cmd":"status"} |

  @AXON-IPC-008 @drive
  Scenario: An empty line is answered, too
    When client A writes an empty line
    Then client A was answered once

  @AXON-IPC-008 @drive
  Scenario: Lines that come together are answered one by one
    When client A sends {"cmd":"status"}«hex 0a»hello«hex 0a 0a»{"cmd":"whoami"}
    Then client A was answered 4 times

  @AXON-IPC-008 @handle
  Scenario: The answer to serve is there before the first request
    Given a connection to the target
    When the probe sends 20 requests while client A takes the lease
    Then client A got the answer to serve before its first event "request"

  @AXON-IPC-009 @drive
  Scenario: A line of 131,072 bytes is accepted
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{},"req_id":"long"«spaces to 131,072 bytes»}
    Then client A gets a positive answer to "long"

  @AXON-IPC-009 @drive
  Scenario: An envelope of 65,536 bytes comes back in a line that is no longer than that
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{}}
    Then the peer receives a request on a bidirectional stream
    When the peer writes {"id":"«id»","kind":"response","payload":{"t":"«\u0001 to 65,536 bytes»"},"ref":"«received id»"} back
    Then client A gets a positive answer
    And every line that client A got is one JSON object of at most 131,072 bytes

  @AXON-IPC-010 @drive
  Scenario: A longer line is refused, and the connection closed
    When client B is connected
    And client A sends {"cmd":"whoami"«spaces to 131,073 bytes»}
    Then client A gets the error "command_too_large"
    And client A's connection is closed by the target
    And client B is still served

  @AXON-IPC-010 @drive
  Scenario: So is one of a megabyte without an end
    When client B is connected
    And client A writes «1000000 times x» without a newline
    Then client A gets the error "command_too_large"
    And client A's connection is closed by the target
    And client B is still served

  @AXON-IPC-011 @drive
  Scenario Outline: An answer has ok and is no event: <line>
    When client A sends <line>
    Then client A gets <answer>
    And the line has a "ok", boolean
    And the line has no "event"

    Examples:
      | line                                            | answer                      |
      | {"cmd":"status"}                                | a positive answer           |
      | {"cmd":"peers"}                                 | a positive answer           |
      | {"cmd":"whoami"}                                | a positive answer           |
      | {"cmd":"dance"}                                 | the error "invalid_command" |
      | {"cmd":"decline","request_id":"«other id»"} | the error "not_handler"     |

  @AXON-IPC-012 @AXON-IPC-013 @drive
  Scenario Outline: An error has a code and says what to do: <code> for <what>
    When client A sends <line>
    Then client A gets the error "<code>"
    And the message says what to do

    Examples:
      | code            | what               | line |
      | invalid_command | an unknown command | {"cmd":"dance"} |
      | invalid_command | no JSON            | not JSON |
      | invalid_command | missing members    | {"cmd":"send"} |
      | peer_not_found  | send               | {"cmd":"send","to":"ed25519.00000000000000000000000000000000","kind":"message","payload":{}} |
      | peer_not_found  | remove_peer        | {"cmd":"remove_peer","agent_id":"ed25519.00000000000000000000000000000000"} |
      | self_send       | send               | {"cmd":"send","to":"«target»","kind":"message","payload":{}} |
      | not_handler     | reply              | {"cmd":"reply","request_id":"«other id»","kind":"response","payload":{}} |

  @AXON-IPC-014 @drive
  Scenario Outline: The req_id is repeated in the answer: <what>
    When client A sends {"cmd":"<cmd>","req_id":<req_id>}
    Then client A gets <answer>
    And the line's "req_id" is <req_id>

    Examples:
      | what                | cmd    | req_id                                | answer                      |
      | a plain one         | status | "one"                                 | a positive answer           |
      | an empty one        | status | ""                                    | a positive answer           |
      | digits              | peers  | "0017"                                | a positive answer           |
      | quotes and escapes  | whoami | "\"\\\\\\n\u0000\/é😀<&>\u2028"       | a positive answer           |
      | in an error         | dance  | "seven"                               | the error "invalid_command" |
      | in a missing member | send   | "eight"                               | the error "invalid_command" |

  @AXON-IPC-014 @drive
  Scenario: The req_id is repeated in the errors of other kinds
    When client A sends {"req_id":"ten","cmd":"remove_peer","agent_id":"ed25519.00112233445566778899aabbccddeeff"}
    Then client A gets the error "peer_not_found" to "ten"
    When client A sends {"req_id":"eleven","cmd":"reply","request_id":"«other id»","kind":"response","payload":{}}
    Then client A gets the error "not_handler" to "eleven"
    When client A sends {"req_id":"twelve","payload":{}}
    Then client A gets the error "invalid_command" to "twelve"
    When client A sends {"cmd":"decline","request_id":["a"],"req_id":"thirteen"}
    Then client A gets the error "invalid_command" to "thirteen"

  @AXON-IPC-015 @drive
  Scenario: The answer to a command without req_id has none
    When client A sends {"cmd":"status","req_id":"before"}
    Then client A gets a positive answer to "before"
    When client A sends {"cmd":"status"}
    Then client A gets a positive answer
    And the line has no "req_id"
    When client A sends {"cmd":"dance"}
    Then client A gets the error "invalid_command"
    And the line has no "req_id"

  @AXON-IPC-016 @drive
  Scenario Outline: A req_id of 1,024 bytes is accepted: <what>
    When client A sends {"cmd":"status","req_id":"<text>"}
    Then client A gets a positive answer to "<text>"

    Examples:
      | what                | text            |
      | letters             | «1024 times r»  |
      | characters of two   | «512 times é»   |

  @AXON-IPC-016 @drive
  Scenario Outline: A req_id that is <what> is refused, and the command changes nothing
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{},"req_id":<req_id>}
    Then client A gets the error "invalid_command"
    And client A is still served
    And the peer has received nothing

    Examples:
      | what      | req_id           |
      | longer    | "«1025 times r»" |
      | a number  | 7                |
      | null      | null             |
      | true      | true             |
      | an object | {"a":"b"}        |

  @AXON-IPC-017 @drive
  Scenario Outline: What is no command is refused and the connection goes on: <line>
    When client A sends <line>
    Then client A gets the error "invalid_command"
    And client A is still served

    Examples:
      | line |
      | [] |
      | "status" |
      | 7 |
      | {} |
      | {"cmd":7} |
      | {"cmd":null} |
      | {"cmd":["status"]} |
      | {"cmd":{"status":null}} |
      | {"command":"status"} |
      | {"CMD":"status"} |
      | {"cmd":"STATUS"} |
      | {"cmd":""} |
      | ["status"] |
      | {"cmd":"send","kind":"message","payload":{}} |
      | {"cmd":"send","to":"«target»","payload":{}} |
      | {"cmd":"send","to":"«target»","kind":"message"} |
      | {"cmd":"send","to":7,"kind":"message","payload":{}} |
      | {"cmd":"send","to":"«target»","kind":"message","payload":[]} |
      | {"cmd":"send","to":"«target»","kind":"message","payload":"text"} |
      | {"cmd":"send","to":"«target»","kind":"message","payload":null} |
      | {"cmd":"send","to":"«target»","kind":"message","payload":{},"ref":"no uuid"} |
      | {"cmd":"send","to":"«target»","kind":"message","payload":{},"ref":7} |
      | {"cmd":"send","to":"nobody","kind":"message","payload":{}} |
      | {"cmd":"send","to":"","kind":"message","payload":{}} |
      | {"cmd":"reply"} |
      | {"cmd":"decline"} |
      | {"cmd":"decline","request_id":7} |
      | {"cmd":"add_peer"} |
      | {"cmd":"remove_peer"} |
      | {"cmd":"remove_peer","agent_id":7} |
      | {"cmd":"status"} trailing |
      | {"cmd":"status"«hex 00»} |
      | {"cmd":"status","req_id":"half |

  @AXON-IPC-017 @drive
  Scenario Outline: What lacks or mistakes a member changes nothing: <members>
    Given a peer that the target knows
    When client A sends {"cmd":"send",<members>}
    Then client A gets the error "invalid_command"
    And client A is still served
    And the peer has received nothing

    Examples:
      | members |
      | "kind":"message","payload":{} |
      | "to":"«peer»","payload":{} |
      | "to":"«peer»","kind":"message" |
      | "to":["«peer»"],"kind":"message","payload":{} |
      | "to":"«peer»","kind":["message"],"payload":{} |
      | "to":"«peer»","kind":"message","payload":[] |
      | "to":"«peer»","kind":"message","payload":"{}" |
      | "to":"«peer»","kind":"message","payload":null |
      | "to":"«peer»","kind":"message","payload":{},"ref":"«id without hyphens»x" |
      | "to":"«peer»","kind":"message","payload":{},"ref":{} |

  @AXON-IPC-018 @drive
  Scenario Outline: A member that the command does not know is refused, with the nearest name: <member>
    When client A sends <line>
    Then client A gets the error "invalid_command"
    And the message names "<nearest>"

    Examples:
      | member       | nearest      | line |
      | paylod       | payload      | {"cmd":"send","to":"«target»","kind":"message","payload":{},"paylod":{}} |
      | timeout_sec  | timeout_secs | {"cmd":"send","to":"«target»","kind":"request","payload":{},"timeout_sec":5} |
      | reqid        | req_id       | {"cmd":"status","reqid":"one"} |
      | agentid      | agent_id     | {"cmd":"remove_peer","agent_id":"«target»","agentid":"«target»"} |

  @AXON-IPC-019 @drive
  Scenario: A request that waits delays no other command of its client
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"req_id":"slow"}
    Then the peer receives a request on a bidirectional stream
    When client A adds {"cmd":"status","req_id":"quick"}
    Then client A gets a positive answer to "quick"
    When client A adds {"cmd":"send","to":"«peer»","kind":"message","payload":{"b":1},"req_id":"message"}
    Then client A gets a positive answer to "message"
    When the peer answers by a response with the payload {"done":true}
    Then client A gets a positive answer to "slow"

  @AXON-IPC-019 @drive
  Scenario: Thirty requests that wait delay no other command of their client
    Given a peer that the target knows
    When client A has 30 requests under way to the peer, each with a req_id
    Then the peer receives 30 requests and holds them
    When client A adds {"cmd":"status","req_id":"quick"}
    Then client A gets a positive answer to "quick"
    When the peer answers them all, the last one first
    Then client A is given each reply under its own req_id

  @AXON-IPC-020 @drive
  Scenario: A request that waits delays no other client
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{}}
    Then the peer receives a request on a bidirectional stream
    And client B is still served
    When client B sends {"cmd":"send","to":"«peer»","kind":"message","payload":{"b":1}}
    Then client B gets a positive answer
    When client B leaves
    And the peer answers the request that it holds by a response with the payload {}
    Then client A gets a positive answer

  @AXON-IPC-020 @drive
  Scenario: A peer that cannot be reached delays no other client
    Given a peer that the target knows, at whose address nobody answers
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":60}
    And client B sends {"cmd":"peers"}
    Then client B gets a positive answer
    Given a peer that the target knows
    When client B sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}}
    Then client B gets a positive answer
    And the peer receives a message on a unidirectional stream

  @AXON-IPC-021 @drive
  Scenario: Commands without req_id are answered in their order
    When client A sends {"cmd":"whoami"}
    And client A adds {"cmd":"status"}
    And client A adds {"cmd":"dance"}
    And client A adds {"cmd":"peers"}
    Then client A gets a positive answer
    And the line has a "agent_id", string
    And client A gets a positive answer
    And the line has a "peers_connected", whole number
    And client A gets the error "invalid_command"
    And client A gets a positive answer
    And the line has a "peers", array

  @AXON-IPC-021 @drive
  Scenario: A slow command without req_id is answered before the quick one behind it
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{}}
    And client A adds {"cmd":"status"}
    Then the peer receives a request on a bidirectional stream
    When the peer answers by a response with the payload {}
    Then client A gets a positive answer
    And the line has a "response", object
    And client A gets a positive answer
    And the line has a "peers_connected", whole number
