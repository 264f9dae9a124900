Feature: The local API: handlers
  One client at a time holds the lease and answers the requests of peers.

  @AXON-IPC-039 @AXON-IPC-040 @handle
  Scenario: The lease holder, and nobody else, is shown a request
    Given a connection to the target
    When client B is connected
    And client A takes the lease
    Then the line's "serving" is true
    When the probe sends a request with the payload {"q":[1,"é"]}
    Then client A is shown the event "request"
    And the line's "request_id" is "«request id»"
    And the line's "from" is "«my agent id»"
    And the line's "envelope.id" is "«request id»"
    And the line's "envelope.kind" is "request"
    And the line's "envelope.payload" is {"q":[1,"é"]}
    And the line's "envelope.from" is "«my agent id»"
    And the line's "envelope.to" is "«target»"
    And the line has no "envelope.ref"
    And client A is shown no event "inbound"
    And client B is shown no event "request"
    And client B is shown no event "inbound"

  @AXON-IPC-040 @handle
  Scenario: A request's ref is shown, and what the wire says of from and to is not
    Given a connection to the target
    When client A takes the lease
    And the probe sends {"id":"«id»","kind":"request","payload":{},"ref":"5b1f0c3a-6a59-4e0d-9a52-0f8c1f6a7e11","from":"somebody","to":"else"} as the bytes of a bidirectional stream
    Then client A is shown the event "request"
    And the line's "envelope.ref" is "5b1f0c3a-6a59-4e0d-9a52-0f8c1f6a7e11"
    And the line's "from" is "«my agent id»"
    And the line's "envelope.from" is "«my agent id»"
    And the line's "envelope.to" is "«target»"

  @AXON-IPC-041 @handle
  Scenario: There is one lease
    When client A takes the lease
    And client B sends {"cmd":"serve"}
    Then client B gets the error "handler_busy"
    And the message says what to do
    Given a connection to the target
    When the probe sends a request
    Then client A is shown the event "request"
    And client B is shown no event "request"

  @AXON-IPC-042 @handle
  Scenario: The lease ends with its holder
    When client A takes the lease
    And client B sends {"cmd":"serve"}
    Then client B gets the error "handler_busy"
    When client A leaves
    And client B takes the lease
    Then the line's "serving" is true
    Given a connection to the target
    When the probe sends a request
    Then client B is shown the event "request"

  @AXON-IPC-043 @handle
  Scenario Outline: The holder's <kind> reaches the requester
    Given a connection to the target
    When client A takes the lease
    And the probe sends a request
    Then client A is shown the event "request"
    When client A sends {"cmd":"reply","request_id":"«request id»","kind":"<kind>","payload":{"a":[1.50,"é"]}}
    Then client A gets a positive answer
    And the line's "request_id" is "«request id»"
    And the reply is <reply> with the payload {"a":[1.50,"é"]}
    And the reply's ref is the request's id
    And its own stream carries exactly one reply, a response or an error

    Examples:
      | kind     | reply      |
      | response | a response |
      | error    | an error   |

  @AXON-IPC-043 @handle
  Scenario: Replies are matched by id, not by order
    Given a connection to the target
    When client A takes the lease
    And 3 requests of the probe wait for client A
    And client A answers them all, the last one first, each by its number
    Then each requester gets its own number

  @AXON-IPC-044 @handle
  Scenario Outline: A request takes one answer: <first> and then <second>
    Given a connection to the target
    When client A takes the lease
    And the probe sends a request
    Then client A is shown the event "request"
    When client A sends {"cmd":<first command>}
    Then client A gets a positive answer
    When client A sends {"cmd":<second command>}
    Then client A gets the error "request_not_found"
    And its own stream carries exactly one reply, a response or an error

    Examples:
      | first   | second  | first command                                                           | second command |
      | reply   | reply   | "reply","request_id":"«request id»","kind":"response","payload":{} | "reply","request_id":"«request id»","kind":"response","payload":{"again":1} |
      | reply   | decline | "reply","request_id":"«request id»","kind":"response","payload":{} | "decline","request_id":"«request id»" |
      | decline | reply   | "decline","request_id":"«request id»"                              | "reply","request_id":"«request id»","kind":"response","payload":{} |

  @AXON-IPC-044 @handle
  Scenario: An id that no peer sent
    When client A takes the lease
    And client A sends {"cmd":"reply","request_id":"«other id»","kind":"response","payload":{}}
    Then client A gets the error "request_not_found"

  @AXON-IPC-045 @handle
  Scenario Outline: Who does not hold the lease cannot answer: <command>
    Given a connection to the target
    When client A takes the lease
    And the probe sends a request
    Then client A is shown the event "request"
    When client B sends {"cmd":"<command>","request_id":"«request id»"<members>}
    Then client B gets the error "not_handler"
    When client A sends {"cmd":"reply","request_id":"«request id»","kind":"response","payload":{"by":"A"}}
    Then client A gets a positive answer
    And the reply is a response with the payload {"by":"A"}

    Examples:
      | command | members                                    |
      | reply   | ,"kind":"response","payload":{"by":"B"}  |
      | decline |                                            |

  @AXON-IPC-046 @handle
  Scenario Outline: An answer that is refused leaves the request waiting: <code>, <what>
    Given a connection to the target
    When client A takes the lease
    And the probe sends a request
    Then client A is shown the event "request"
    When client A sends {"cmd":"reply","request_id":"«request id»",<rest>}
    Then client A gets the error "<code>"
    When client A sends {"cmd":"reply","request_id":"«request id»","kind":"response","payload":{"proper":true}}
    Then client A gets a positive answer
    And the reply is a response with the payload {"proper":true}
    And its own stream carries exactly one reply, a response or an error

    Examples:
      | code              | what            | rest |
      | invalid_command   | another kind    | "kind":"message","payload":{} |
      | invalid_command   | an unknown kind | "kind":"future","payload":{} |
      | invalid_command   | no kind         | "payload":{} |
      | invalid_command   | an array        | "kind":"response","payload":[] |
      | invalid_command   | a null payload  | "kind":"response","payload":null |
      | invalid_command   | no payload      | "kind":"response" |
      | message_too_large | size            | "kind":"response","payload":{"t":"«65536 times x»"} |

  @AXON-IPC-047 @handle
  Scenario: Declining leads to the default error
    Given a connection to the target
    When client A takes the lease
    And the probe sends a request
    Then client A is shown the event "request"
    When client A sends {"cmd":"decline","request_id":"«request id»"}
    Then client A gets a positive answer
    And the line's "request_id" is "«request id»"
    And the reply is the default error in every respect

  @AXON-IPC-048 @handle
  Scenario: When the holder disconnects each of its requests is ended by the default error
    Given a connection to the target
    When client A takes the lease
    And 5 requests of the probe wait for client A
    Then none of those that wait is touched
    When client A leaves
    Then each of those that waited gets the default error

  @AXON-IPC-049 @handle @slow
  Scenario: A request that the handler leaves unanswered is ended at the deadline
    Given a connection to the target
    When client A takes the lease
    And the probe sends a request
    Then client A is shown the event "request"
    And the reply is an error
    And the error's code is "timeout"
    And the error's retryable is the boolean true
    When client A sends {"cmd":"reply","request_id":"«request id»","kind":"response","payload":{}}
    Then client A gets the error "request_not_found"
    And its own stream carries exactly one reply, a response or an error

  @AXON-IPC-049 @cli @slow
  Scenario: A handler that does not answer is waited for 30 seconds
    Given a running daemon of its own
    And client A takes the lease
    And the time is noted
    When the probe sends a request
    Then client A is shown the event "request"
    And the error's code is "timeout"
    And the error's retryable is the boolean true
    And 30 to 40 seconds have passed
    When client A sends {"cmd":"reply","request_id":"«request id»","kind":"response","payload":{}}
    Then client A gets the error "request_not_found"

  @AXON-IPC-050 @handle @heavy
  Scenario: While 1,024 requests wait a further one is turned away, and those that wait are not touched
    Given a connection to the target
    When client A takes the lease
    And 1,024 requests of the probe wait for client A
    And the probe sends a request
    Then the reply is an error
    And the error's code is "overloaded"
    And the error's retryable is the boolean true
    And none of those that wait is touched
    And client A answers one of those that wait, and its requester gets the answer
    When client A leaves
    Then all of them are answered, each on its own stream

  @AXON-IPC-051 @handle
  Scenario Outline: Two peers use the same id, and each gets the reply to its own: the <first> first
    Given a peer that the target knows
    When client A takes the lease
    And the probe and the peer each send a request with the same id
    Then client A is shown both requests, each from its sender
    When client A sends {"cmd":"reply","request_id":"«request id»","peer":"<first id>","kind":"response","payload":{"for":"<first>"}}
    Then client A gets a positive answer
    When client A sends {"cmd":"reply","request_id":"«request id»","peer":"<second id>","kind":"response","payload":{"for":"<second>"}}
    Then client A gets a positive answer
    And the probe gets the response {"for":"probe"}
    And the peer gets the response {"for":"peer"}

    Examples:
      | first | second | first id        | second id       |
      | peer  | probe  | «peer»        | «my agent id» |
      | probe | peer   | «my agent id» | «peer»        |

  @AXON-IPC-051 @handle
  Scenario: The request of one peer is declined, and that of another with the same id is not
    Given a peer that the target knows
    When client A takes the lease
    And the probe and the peer each send a request with the same id
    Then client A is shown both requests, each from its sender
    When client A sends {"cmd":"decline","request_id":"«request id»","peer":"«peer»"}
    Then client A gets a positive answer
    And the reply is the default error in every respect
    When client A sends {"cmd":"reply","request_id":"«request id»","kind":"response","payload":{"for":"probe"}}
    Then client A gets a positive answer
    And the probe gets the response {"for":"probe"}

  @AXON-IPC-052 @handle
  Scenario Outline: Where several peers wait under one id, <command> has to name the peer
    Given a peer that the target knows
    When client A takes the lease
    And the probe and the peer each send a request with the same id
    Then client A is shown both requests, each from its sender
    When client A sends {"cmd":"<command>","request_id":"«request id»"<members>}
    Then client A gets the error "invalid_command"
    And neither of the two is answered yet

    Examples:
      | command | members                       |
      | reply   | ,"kind":"error","payload":{} |
      | decline |                               |

  @AXON-IPC-053 @handle
  Scenario: The holder is told of a requester that gave up
    Given a connection to the target
    When client A takes the lease
    And the probe sends a request
    Then client A is shown the event "request"
    When the probe gives up waiting for its reply
    Then client A is shown the event "request_cancelled"
    And the line's "request_id" is "«request id»"
    And the line's "from" is "«my agent id»"
    When client A sends {"cmd":"reply","request_id":"«request id»","kind":"response","payload":{}}
    Then client A gets the error "request_not_found"

  @AXON-IPC-054 @handle @heavy
  Scenario: A holder that does not read loses the lease, and its requests get the default error
    Given a connection to the target
    When a local client takes the lease and reads no more
    And 8 requests of the probe wait for it
    And messages are sent until the target lets go of it
    Then each of those that waited gets the default error
    When client B takes the lease
    Then the line's "serving" is true
