Feature: The local API: the command send

  @AXON-IPC-022 @drive
  Scenario: A request's answer has its id and the whole reply
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{"q":1}}
    Then the peer receives a request on a bidirectional stream
    When the peer writes {"id":"«other id»","kind":"response","payload":{"a":[1,2.50,"é"]},"ref":"«received id»"} back
    Then client A gets a positive answer
    And the line's "msg_id" is "«received id»"
    And the line's "response.id" is "«written id»"
    And the line's "response.kind" is "response"
    And the line's "response.payload" is {"a":[1,2.50,"é"]}
    And the line's "response.ref" is "«received id»"

  @AXON-IPC-022 @drive
  Scenario: A reply of 65,536 bytes is given whole
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{}}
    Then the peer receives a request on a bidirectional stream
    When the peer writes {"id":"«id»","kind":"response","payload":{"t":"«x to 65,536 bytes»"},"ref":"«received id»"} back
    Then client A gets a positive answer
    And the line's "response" holds the payload that the peer wrote

  @AXON-IPC-023 @drive
  Scenario: The reply is given with from and to
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{}}
    Then the peer receives a request on a bidirectional stream
    When the peer writes {"id":"«id»","kind":"response","payload":{},"ref":"«received id»","from":"somebody else","to":null} back
    Then client A gets a positive answer
    And the line's "response.from" is "«peer»"
    And the line's "response.to" is "«target»"

  @AXON-IPC-024 @drive
  Scenario: A message's answer has its id and waits for nothing more
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{"m":1}}
    Then client A gets a positive answer
    And the line has no "response"
    And the peer receives a message on a unidirectional stream
    And the line's "msg_id" is "«received id»"

  @AXON-IPC-025 @drive
  Scenario Outline: The payload stands on the wire with the same values: <what>
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"<kind>","payload":<payload>}
    Then the peer receives a <kind> on a <direction> stream
    And what it received has the payload <payload>

    Examples:
      | what              | kind    | direction      | payload |
      | nothing           | message | unidirectional | {} |
      | numbers           | message | unidirectional | {"n":[9007199254740993,1e400,-0,1.0,12345678901234567890.5]} |
      | repeated names    | message | unidirectional | {"":{"a":1,"a":2},"b":{}} |
      | escapes           | message | unidirectional | {"t":"\" \\\\ \/ \b \f \r \t \u0000 \ud800 é 😀 <&>\u2028"} |
      | names of commands | message | unidirectional | {"cmd":"status","to":7,"kind":null,"req_id":"x","payload":[]} |
      | 60,000 letters    | message | unidirectional | {"t":"«60000 times x»"} |
      | much white space  | message | unidirectional | {  "t" : [ 1 , 2 ]  } |
      | 100 levels        | message | unidirectional | {"a":«100 times [»«100 times ]»} |
      | in a request      | request | bidirectional  | {"n":[9007199254740993,1e400],"t":"\ud800 é","":{"a":1,"a":2}} |

  @AXON-IPC-026 @drive
  Scenario Outline: A ref stands on the wire of a <kind>
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"<kind>","payload":{},"ref":"5b1f0c3a-6a59-4e0d-9a52-0f8c1f6a7e11"}
    Then the peer receives a <kind> on a <direction> stream
    And what it received has the ref "5b1f0c3a-6a59-4e0d-9a52-0f8c1f6a7e11"

    Examples:
      | kind    | direction      |
      | message | unidirectional |
      | request | bidirectional  |

  @AXON-IPC-026 @drive
  Scenario Outline: With <what> nothing stands there
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"message","payload":{}<ref>}
    Then client A gets a positive answer
    And the peer receives a message on a unidirectional stream
    And what it received has no ref member

    Examples:
      | what        | ref         |
      | no ref      |             |
      | a null ref  | ,"ref":null |

  @AXON-IPC-027 @drive
  Scenario Outline: An error of the peer is a positive answer: <payload>
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{}}
    Then the peer receives a request on a bidirectional stream
    When the peer answers by an error with the payload <payload>
    Then client A gets a positive answer
    And the line's "response.kind" is "error"
    And the line's "response.payload" is <payload>
    And the line has no "error"

    Examples:
      | payload                                                 |
      | {"code":"no","message":"not today","retryable":true}    |
      | {"code":"timeout","message":"my own clock ran out"}     |
      | {}                                                      |

  @AXON-IPC-028 @drive
  Scenario Outline: A peer that is not known: <kind>
    When client A sends {"cmd":"send","to":"ed25519.00112233445566778899aabbccddeeff","kind":"<kind>","payload":{}}
    Then client A gets the error "peer_not_found"

    Examples:
      | kind    |
      | request |
      | message |

  @AXON-IPC-029 @drive
  Scenario Outline: The target itself: <kind>
    When client A sends {"cmd":"send","to":"«target»","kind":"<kind>","payload":{}}
    Then client A gets the error "self_send"

    Examples:
      | kind    |
      | request |
      | message |

  @AXON-IPC-030 @drive
  Scenario Outline: A peer that shows another key cannot be reached: <kind>
    Given a peer that the target knows, behind whose address another key listens
    When client A sends {"cmd":"send","to":"«peer»","kind":"<kind>","payload":{}}
    Then client A gets the error "peer_unreachable"

    Examples:
      | kind    |
      | request |
      | message |

  @AXON-IPC-030 @drive
  Scenario: A peer that refuses the target cannot be reached
    Given a peer that the target knows, which refuses the target
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":60}
    Then client A gets the error "peer_unreachable"

  @AXON-IPC-030 @drive
  Scenario: A peer that ends the connection before its reply
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":60}
    Then the peer receives a request on a bidirectional stream
    When the peer closes the connection
    Then client A gets the error "peer_unreachable"

  # Two requests run out of time together, so that a second is waited once.
  @AXON-IPC-031 @AXON-IPC-032 @drive
  Scenario: A request without a reply ends by its time-out, dialling included, and its stream is given up
    Given a peer that the target knows, at whose address nobody answers
    When client B sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":1}
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":1}
    Then the peer receives a request on a bidirectional stream
    And client A gets the error "timeout" no sooner than after 1 second
    And the target gives that stream up
    And client B gets the error "timeout" no sooner than after 1 second
    And it came to client B before 4 seconds had passed

  @AXON-IPC-033 @drive
  Scenario: When a client leaves, its requests are given up
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":60}
    Then the peer receives a request on a bidirectional stream
    When client A leaves
    Then the target gives that stream up

  @AXON-IPC-033 @drive
  Scenario: When a client leaves, its request that carries a req_id is given up
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":60,"req_id":"one"}
    Then the peer receives a request on a bidirectional stream
    When client A leaves
    Then the target gives that stream up

  @AXON-IPC-034 @drive
  Scenario Outline: A time-out of <value> beside a <kind> is refused
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"<kind>","payload":{},"timeout_secs":<value>}
    Then client A gets the error "invalid_command"
    And the peer has received nothing

    Examples:
      | kind    | value |
      | request | 0     |
      | request | -1    |
      | request | 3601  |
      | request | 1e99  |
      | request | 1.5   |
      | request | "5"   |
      | request | true  |
      | request | [5]   |
      | message | 5     |

  @AXON-IPC-034 @drive
  Scenario Outline: A time-out of <value> s is taken
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":<value>}
    Then the peer receives a request on a bidirectional stream
    When the peer answers by a response with the payload {}
    Then client A gets a positive answer

    Examples:
      | value |
      | 1     |
      | 3600  |

  @AXON-IPC-035 @drive
  Scenario Outline: What would be too large on the wire is refused: <kind>
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"<kind>","payload":{"t":"«65536 times x»"}}
    Then client A gets the error "message_too_large"
    And the peer has received nothing

    Examples:
      | kind    |
      | message |
      | request |

  @AXON-IPC-035 @drive
  Scenario: An envelope of exactly 65,536 bytes is sent, and one byte more is refused
    Given a peer that the target knows
    When client A asks for a message whose envelope has 65,537 bytes
    Then client A gets the error "message_too_large"
    When client A asks for a message whose envelope has 65,536 bytes
    Then client A gets a positive answer
    And the peer receives a message on a unidirectional stream
    And what it received has 65,536 bytes
    And the peer has received nothing more

  @AXON-IPC-036 @drive
  Scenario Outline: The kind <kind> cannot be sent
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":<kind>,"payload":{}}
    Then client A gets the error "invalid_command"
    And the peer has received nothing

    Examples:
      | kind       |
      | "response" |
      | "error"    |
      | "future"   |
      | "unknown"  |
      | "REQUEST"  |
      | ""         |
      | 7          |

  @AXON-IPC-037 @drive
  Scenario Outline: What is no reply is not given to the caller: <what>
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":1}
    Then the peer receives a request on a bidirectional stream
    When the peer writes <bytes> back
    Then client A gets an error and no response

    Examples:
      | what                    | bytes |
      | no ref                  | {"id":"«id»","kind":"response","payload":{}} |
      | a null ref              | {"id":"«id»","kind":"response","payload":{},"ref":null} |
      | another ref             | {"id":"«id»","kind":"response","payload":{},"ref":"«other id»"} |
      | its own id as its ref   | {"id":"«id»","kind":"response","payload":{},"ref":"«id»"} |
      | an error for another    | {"id":"«id»","kind":"error","payload":{"code":"x"},"ref":"«other id»"} |
      | the kind message        | {"id":"«id»","kind":"message","payload":{},"ref":"«received id»"} |
      | the kind request        | {"id":"«id»","kind":"request","payload":{},"ref":"«received id»"} |
      | an unknown kind         | {"id":"«id»","kind":"future","payload":{},"ref":"«received id»"} |
      | no payload              | {"id":"«id»","kind":"response","ref":"«received id»"} |
      | an array as its payload | {"id":"«id»","kind":"response","payload":[],"ref":"«received id»"} |
      | no id                   | {"kind":"response","payload":{},"ref":"«received id»"} |
      | half an envelope        | {"id":"«id»","kind":"resp |
      | two envelopes           | {"id":"«id»","kind":"response","payload":{},"ref":"«received id»"}{"id":"«id»","kind":"response","payload":{},"ref":"«received id»"} |
      | no JSON                 | hello |

  @AXON-IPC-037 @drive
  Scenario: A stream that ends without a reply is an error
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":1}
    Then the peer receives a request on a bidirectional stream
    When the peer finishes the stream without a reply
    Then client A gets an error and no response

  @AXON-IPC-037 @drive
  Scenario: A stream that is reset behind half a reply is an error
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer»","kind":"request","payload":{},"timeout_secs":1}
    Then the peer receives a request on a bidirectional stream
    When the peer resets the stream
    Then client A gets an error and no response

  @AXON-IPC-038 @drive
  Scenario: An Agent ID is understood in upper case, and given back in lower case
    Given a peer that the target knows
    When client A sends {"cmd":"send","to":"«peer in upper case»","kind":"request","payload":{}}
    Then the peer receives a request on a bidirectional stream
    When the peer answers by a response with the payload {}
    Then client A gets a positive answer
    And the line's "response.from" is "«peer»"
    When client A sends {"cmd":"remove_peer","agent_id":"«peer in upper case»"}
    Then client A gets a positive answer
    And the line's "agent_id" is "«peer»"
