Feature: The envelope
  One JSON object with id, kind, payload and, where due, ref.

  # What the target sends

  @AXON-ENV-001 @AXON-ENV-002 @AXON-ENV-003 @AXON-ENV-004 @AXON-ENV-007 @AXON-ENV-008
  Scenario: The reply to a plain request is a well-formed envelope
    Given a connection to the target
    When the probe sends a request
    Then the target's reply is well formed in this respect

  @AXON-ENV-001 @AXON-ENV-002 @AXON-ENV-003 @AXON-ENV-004 @AXON-ENV-007 @AXON-ENV-008
  Scenario: The reply to a kind that nobody knows is a well-formed envelope
    Given a connection to the target
    When the probe sends an envelope of kind "future" on a bidirectional stream
    Then the target's reply is well formed in this respect

  @AXON-ENV-001 @whole-run
  Scenario: Everything that the target sent was one JSON object in UTF-8
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-ENV-002 @whole-run
  Scenario: Nothing that the target sent lacked a member or had one too many
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-ENV-003 @whole-run
  Scenario: Every id that the target made was a version 4 UUID
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-ENV-004 @whole-run
  Scenario: No id that the target made was nil
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-ENV-005
  Scenario: A hundred replies have a hundred ids, none of them a request's
    Given a connection to the target
    When 100 requests are sent one after another on one connection
    Then all of them are answered, each on its own stream
    And their ids are all different, and none is a request's

  @AXON-ENV-005
  Scenario: Replies on different connections have different ids
    When 4 connections are open at the same time, and on each 8 requests are sent
    Then their ids are all different, and none is a request's

  @AXON-ENV-005 @whole-run
  Scenario: No two replies of the run had the same id, and none that of its request
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-ENV-006
  Scenario: A request whose id is nil is not accepted
    Given a connection to the target
    When the probe sends a request with "id" set to "00000000-0000-0000-0000-000000000000"
    Then it is not accepted

  @AXON-ENV-006
  Scenario: A nil id is not accepted with a kind that nobody knows either
    Given a connection to the target
    When the probe sends {"id":"00000000-0000-0000-0000-000000000000","kind":"future","payload":{}} as the bytes of a bidirectional stream
    Then it is not accepted

  @AXON-ENV-006 @observe
  Scenario: A message whose id is nil is not delivered
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends a message with "id" set to "00000000-0000-0000-0000-000000000000"
    Then the local client is not shown it

  @AXON-ENV-007 @whole-run
  Scenario: Every kind that the target wrote was one of the four
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-ENV-008 @whole-run
  Scenario: Every payload that the target wrote was an object
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-ENV-009
  Scenario Outline: A request without <member> is not accepted
    Given a connection to the target
    When the probe sends a request without "<member>"
    Then it is not accepted

    Examples:
      | member  |
      | id      |
      | kind    |
      | payload |

  @AXON-ENV-009
  Scenario Outline: A message without <member> draws no answer
    Given a connection to the target
    When the probe sends a message without "<member>"
    Then it is not accepted

    Examples:
      | member  |
      | id      |
      | kind    |
      | payload |

  @AXON-ENV-009
  Scenario: An empty object is not accepted
    Given a connection to the target
    When the probe sends {} as the bytes of a bidirectional stream
    Then it is not accepted

  @AXON-ENV-009
  Scenario Outline: An envelope of a kind that nobody knows without <member> is not accepted
    Given a connection to the target
    When the probe sends <envelope> as the bytes of a bidirectional stream
    Then it is not accepted

    Examples:
      | member  | envelope                         |
      | id      | {"kind":"future","payload":{}}   |
      | payload | {"id":"«id»","kind":"future"}    |

  @AXON-ENV-009 @observe
  Scenario Outline: A message without <member> is not delivered
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends a message without "<member>"
    Then the local client is not shown it

    Examples:
      | member  |
      | id      |
      | kind    |
      | payload |

  @AXON-ENV-010
  Scenario Outline: A request whose <member> is <value> is not accepted
    Given a connection to the target
    When the probe sends a request with "<member>" set to <value>
    Then it is not accepted

    Examples:
      | member  | value              |
      | id      | null               |
      | id      | 7                  |
      | id      | true               |
      | id      | ["«other id»"]   |
      | id      | {"id":"«other id»"} |
      | id      | ""                 |
      | id      | "not a uuid"       |
      | id      | "«other id»0"    |
      | kind    | null               |
      | kind    | 0                  |
      | kind    | 1                  |
      | kind    | true               |
      | kind    | ["request"]        |
      | kind    | {"request":null}   |
      | kind    | {"request":{}}     |
      | kind    | {"kind":"request"} |
      | payload | null               |
      | payload | false              |
      | payload | 7                  |
      | payload | "text"             |
      | payload | "{}"               |
      | payload | []                 |
      | payload | [{}]               |
      | payload | ["a","b"]          |

  @AXON-ENV-010
  Scenario Outline: An envelope of a kind that nobody knows is not accepted with <what>
    Given a connection to the target
    When the probe sends <envelope> as the bytes of a bidirectional stream
    Then it is not accepted

    Examples:
      | what              | envelope                                         |
      | a number as id    | {"id":7,"kind":"future","payload":{}}            |
      | no UUID as id     | {"id":"seven","kind":"future","payload":{}}      |
      | a null payload    | {"id":"«id»","kind":"future","payload":null}     |
      | a text as payload | {"id":"«id»","kind":"future","payload":"text"}   |
      | a payload array   | {"id":"«id»","kind":"future","payload":[]}       |

  @AXON-ENV-010 @observe
  Scenario Outline: A message whose <member> is <value> is not delivered
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends a message with "<member>" set to <value>
    Then the local client is not shown it

    Examples:
      | member  | value              |
      | id      | null               |
      | id      | 7                  |
      | id      | ["«other id»"]     |
      | id      | "not a uuid"       |
      | kind    | null               |
      | kind    | 1                  |
      | kind    | {"message":null}   |
      | kind    | ["message"]        |
      | payload | null               |
      | payload | "text"             |
      | payload | []                 |
      | payload | 7                  |

  @AXON-ENV-011
  Scenario: A reply refers to its request
    Given a connection to the target
    When the probe sends a request
    Then the reply's ref is the request's id

  @AXON-ENV-011
  Scenario: A reply refers to its request also when that has a ref of its own
    Given a connection to the target
    When the probe sends a request with "ref" set to "«other id»"
    Then the reply's ref is the request's id

  @AXON-ENV-011
  Scenario: A reply refers to the envelope's id, not to one inside the payload
    Given a connection to the target
    When the probe sends a request with the payload {"id":"«other id»","ref":"«other id»","request_id":"«other id»"}
    Then the reply's ref is the request's id

  @AXON-ENV-011 @whole-run
  Scenario: Every reply of the run referred to its request
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  # What the target does not accept

  @AXON-ENV-012 @observe
  Scenario Outline: From and to are those of the connection, whatever the wire says: <what>
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends <envelope> as the bytes of a unidirectional stream
    Then the local client is told from and to of the connection, not of the wire

    Examples:
      | what                  | envelope |
      | nothing               | {"id":"«id»","kind":"message","payload":{}} |
      | another peer          | {"id":"«id»","kind":"message","payload":{},"from":"ed25519.00000000000000000000000000000000","to":"ed25519.11111111111111111111111111111111"} |
      | other types           | {"from":null,"to":7,"id":"«id»","kind":"message","payload":{}} |
      | objects               | {"id":"«id»","from":{"a":1},"kind":"message","to":["b"],"payload":{}} |
      | in a kind not known   | {"id":"«id»","kind":"future","payload":{},"from":"ed25519.00000000000000000000000000000000"} |

  @AXON-ENV-013
  Scenario Outline: What is no JSON object is not accepted: <bytes>
    Given a connection to the target
    When the probe sends <bytes> as the bytes of a bidirectional stream
    Then it is not accepted

    Examples:
      | bytes                                       |
      | []                                          |
      | ["«id»","request",{}]                     |
      | ["«id»","request",{},null]                |
      | [«request»]                               |
      | "«id»"                                    |
      | "request"                                   |
      | 7                                           |
      | true                                        |
      | null                                        |

  @AXON-ENV-013 @observe
  Scenario: An envelope as an array of its values is not delivered
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends ["«id»","message",{},null] as the bytes of a unidirectional stream
    Then the local client is not shown it

  @AXON-ENV-014
  Scenario Outline: Member names match exactly: <envelope> is not accepted
    Given a connection to the target
    When the probe sends <envelope> as the bytes of a bidirectional stream
    Then it is not accepted

    Examples:
      | envelope                                        |
      | {"ID":"«id»","kind":"request","payload":{}}   |
      | {"Id":"«id»","kind":"request","payload":{}}   |
      | {"id":"«id»","Kind":"request","payload":{}}   |
      | {"id":"«id»","KIND":"request","payload":{}}   |
      | {"id":"«id»","kind":"request","Payload":{}}   |
      | {"id":"«id»","kind":"request","PAYLOAD":{}}   |
      | {"ID":"«id»","KIND":"request","PAYLOAD":{}}   |
      | {"id ":"«id»","kind":"request","payload":{}}  |
      | {"_id":"«id»","kind":"request","payload":{}}  |
      | {"id":"«id»","\u212aind":"request","payload":{}} |

  @AXON-ENV-014
  Scenario Outline: A name that is only like a member's does not replace it: <envelope>
    Given a connection to the target
    When the probe sends <envelope> as the bytes of a bidirectional stream
    Then if it is accepted, the reply's ref is the request's id

    Examples:
      | envelope                                                              |
      | {"id":"«id»","kind":"request","payload":{},"ID":"«other id»"}     |
      | {"ID":"«other id»","id":"«id»","kind":"request","payload":{}}     |
      | {"id":"«id»","Id":"«other id»","kind":"request","payload":{}}     |

  @AXON-ENV-014
  Scenario: A member's name may be written with escapes
    Given a connection to the target
    When the probe sends {"\u0069d":"«id»","k\u0069nd":"req\u0075est","p\u0061yload":{}} as the bytes of a bidirectional stream
    Then it is accepted
    And the reply's ref is the request's id

  @AXON-ENV-014 @observe
  Scenario Outline: A message with member names in other letters is not delivered: <envelope>
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends <envelope> as the bytes of a unidirectional stream
    Then the local client is not shown it

    Examples:
      | envelope                                      |
      | {"ID":"«id»","kind":"message","payload":{}}   |
      | {"id":"«id»","Kind":"message","payload":{}}   |
      | {"id":"«id»","kind":"message","PAYLOAD":{}}   |

  @AXON-ENV-015
  Scenario Outline: An id that is a UUID of <what> is not accepted
    Given a connection to the target
    When the probe sends a request with "id" set to "<id>"
    Then it is not accepted

    Examples:
      | what                  | id                         |
      | version 0             | «id of version 0»        |
      | version 1             | «id of version 1»        |
      | version 2             | «id of version 2»        |
      | version 3             | «id of version 3»        |
      | version 5             | «id of version 5»        |
      | version 6             | «id of version 6»        |
      | version 7             | «id of version 7»        |
      | version 8             | «id of version 8»        |
      | version 15            | «id of version f»        |
      | the NCS variant       | «id of variant 1»        |
      | the Microsoft variant | «id of variant c»        |
      | the reserved variant  | «id of variant f»        |

  # What is only looked at

  @AXON-ENV-016
  Scenario Outline: What the target does with <what>
    Given a connection to the target
    When the probe sends <envelope> as the bytes of a bidirectional stream
    Then what the target did is noted

    Examples:
      | what                    | envelope |
      | a further member        | {"id":"«id»","kind":"request","payload":{},"priority":1} |
      | from, to, v and ts      | {"id":"«id»","kind":"request","payload":{},"from":"x","to":7,"v":1,"ts":0} |
      | id twice                | {"id":"«id»","id":"«other id»","kind":"request","payload":{}} |
      | kind twice              | {"id":"«id»","kind":"message","kind":"request","payload":{}} |
      | payload twice           | {"id":"«id»","kind":"request","payload":{},"payload":{"a":1}} |
      | an id in upper case     | {"id":"«id in upper case»","kind":"request","payload":{}} |
      | an id in braces         | {"id":"{«id»}","kind":"request","payload":{}} |
      | an id as a URN          | {"id":"urn:uuid:«id»","kind":"request","payload":{}} |
      | an id without hyphens   | {"id":"«id without hyphens»","kind":"request","payload":{}} |

  # What local clients are shown
