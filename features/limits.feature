Feature: Sizes and bytes
  The body of a stream is UTF-8 JSON up to its FIN. At least 65,536 bytes are taken.

  @AXON-LIMIT-001
  Scenario Outline: A request of exactly <size> bytes is accepted
    Given a connection to the target
    When the probe sends a request of exactly <size> bytes
    Then it is accepted
    And the reply's ref is the request's id

    Examples:
      | size   |
      | 512    |
      | 1,024  |
      | 1,200  |
      | 1,452  |
      | 2,048  |
      | 4,095  |
      | 4,096  |
      | 4,097  |
      | 8,192  |
      | 16,384 |
      | 16,385 |
      | 32,768 |
      | 65,000 |
      | 65,535 |
      | 65,536 |

  @AXON-LIMIT-001
  Scenario: A request of 65,536 bytes may consist of anything: here of white space
    Given a connection to the target
    When the probe sends {"id":"«id»","kind":"request",«spaces to 65,536 bytes»"payload":{}} as the bytes of a bidirectional stream
    Then it is accepted

  @AXON-LIMIT-001
  Scenario: A message of 65,536 bytes does no harm
    Given a connection to the target
    When the probe sends {"id":"«id»","kind":"message","payload":{"t":"«y to 65,536 bytes»"}} as the bytes of a unidirectional stream
    Then the connection survives

  @AXON-LIMIT-002
  Scenario Outline: A request of <size> bytes leaves the connection whole
    Given a connection to the target
    When the probe sends a request of exactly <size> bytes
    Then it is accepted whole or not at all
    And the connection survives

    Examples:
      | size      |
      | 65,537    |
      | 70,000    |
      | 131,073   |
      | 1,048,576 |

  @AXON-LIMIT-002
  Scenario: Oversized messages leave the connection whole
    Given a connection to the target
    When the probe sends {"id":"«id»","kind":"message","payload":{"t":"«y to 65,537 bytes»"}} as the bytes of a unidirectional stream
    And the probe sends {"id":"«id»","kind":"message","payload":{"t":"«y to 200,000 bytes»"}} as the bytes of a unidirectional stream
    Then the connection survives

  @AXON-LIMIT-003
  Scenario: A request whose stream is reset after the whole of it was written is not accepted
    Given a connection to the target
    When the probe writes a whole request on a stream and leaves it open
    And the target has had time to read it
    And the probe resets that stream
    Then it is not accepted

  @AXON-LIMIT-003
  Scenario: A request whose stream is reset in the middle is not accepted
    Given a connection to the target
    When the probe writes half a request on a stream and leaves it open
    And the target has had time to read it
    And the probe resets that stream
    Then it is not accepted

  @AXON-LIMIT-003
  Scenario Outline: What was written before a reset is not accepted, whatever it is: <what>
    Given a connection to the target
    When the probe writes <bytes> as the bytes of a bidirectional stream and leaves it open
    And the target has had time to read it
    And the probe resets that stream
    Then it is not accepted

    Examples:
      | what            | bytes                                                  |
      | an unknown kind | {"id":"«id»","kind":"future","payload":{}}             |
      | with a null ref | {"id":"«id»","kind":"request","payload":{},"ref":null} |
      | with a line end | «request»«hex 0d 0a»                                   |

  @AXON-LIMIT-003
  Scenario: A message whose stream is reset does no harm
    Given a connection to the target
    When the probe writes a whole message on a stream and leaves it open
    And the target has had time to read it
    And the probe resets that stream
    Then it is not accepted

  @AXON-LIMIT-003 @observe
  Scenario: A message whose stream is reset after the whole of it was written is not delivered
    Given a local client of the target is watching
    And a connection to the target
    When the probe writes a whole message on a stream and leaves it open
    And the target has had time to read it
    And the probe resets that stream
    Then the local client is not shown it

  @AXON-LIMIT-004
  Scenario Outline: Malformed bytes are not accepted and the connection survives: <what>
    Given a connection to the target
    When the probe sends <bytes> as the bytes of a bidirectional stream
    Then it is not accepted
    And the connection survives

    Examples:
      | what                         | bytes                                                                             |
      | half an object               | {"id":"«id»","kind":"requ                                                       |
      | an object but for its brace  | {"id":"«id»","kind":"request","payload":{}                                      |
      | a second object behind it    | «request»{"id":"«other id»","kind":"request","payload":{}}                    |
      | a second object after a line | «request»«hex 0a»{"a":1}                                                      |
      | a brace behind it            | «request»}                                                                      |
      | a word behind it             | «request» ok                                                                    |
      | NUL alone                    | «hex 00»                                                                        |
      | NUL behind it                | «request»«hex 00»                                                             |
      | NUL before it                | «hex 00»«request»                                                             |
      | NUL in a text                | {"id":"«id»","kind":"request","payload":{"t":"«hex 00»"}}                     |
      | a byte order mark            | «hex ef bb bf»«request»                                                       |
      | UTF-16                       | «utf16 {"id":"ID","kind":"request","payload":{}}»                             |
      | invalid UTF-8 in a text      | {"id":"«id»","kind":"request","payload":{"t":"«hex ff»"}}                     |
      | a cut-off rune in a text     | {"id":"«id»","kind":"request","payload":{"t":"«hex e2 82»"}}                  |
      | an overlong encoding         | {"id":"«id»","kind":"request","payload":{"t":"«hex c0 af»"}}                  |
      | a surrogate in UTF-8         | {"id":"«id»","kind":"request","payload":{"t":"«hex ed a0 80»"}}               |
      | a rune beyond U+10FFFF       | {"id":"«id»","kind":"request","payload":{"t":"«hex f4 90 80 80»"}}            |
      | invalid UTF-8 in a name      | {"id":"«id»","kind":"request","payload":{"«hex fe»":1}}                       |
      | invalid UTF-8 behind it      | «request»«hex ff»                                                             |

  @AXON-LIMIT-004
  Scenario: A stream with nothing but FIN is not accepted and the connection survives
    Given a connection to the target
    When the probe sends nothing but FIN on a bidirectional stream
    Then it is not accepted
    And the connection survives

  @AXON-LIMIT-004
  Scenario: White space alone is not accepted and the connection survives
    Given a connection to the target
    When the probe sends «hex 20 0a 09» as the bytes of a bidirectional stream
    Then it is not accepted
    And the connection survives

  @AXON-LIMIT-004
  Scenario: Malformed bytes on unidirectional streams leave the connection whole
    Given a connection to the target
    When the probe sends nothing but FIN on a unidirectional stream
    And the probe sends {"id":"«id» as the bytes of a unidirectional stream
    And the probe sends «hex 00 ff fe» as the bytes of a unidirectional stream
    And the probe sends [] as the bytes of a unidirectional stream
    Then nothing answers them
    And the connection survives

  @AXON-LIMIT-005
  Scenario Outline: White space is accepted: <what>
    Given a connection to the target
    When the probe sends <bytes> as the bytes of a bidirectional stream
    Then it is accepted
    And the reply's ref is the request's id

    Examples:
      | what                    | bytes                                                                                      |
      | a line feed behind      | «request»«hex 0a»                                                                      |
      | CR and LF behind        | «request»«hex 0d 0a»                                                                   |
      | a space before          | «hex 20»«request»                                                                      |
      | every sort around       | «hex 20 09 0a 0d»«request»«hex 0d 0a 09 20»                                          |
      | within                  | { "id" : "«id»" , "kind" : "request" , "payload" : { } }                                 |
      | tabs within             | «hex 7b 09»"id"«hex 09»:"«id»",«hex 09»"kind":"request","payload":«hex 7b 09 7d 09 7d» |
      | much of it behind       | «request»«20000 spaces»                                                                |
      | much of it before       | «20000 spaces»«request»                                                                |

  @AXON-LIMIT-005
  Scenario: Indentation is accepted
    Given a connection to the target
    When the probe sends on a bidirectional stream:
      """
      {
          "id": "«id»",
          "kind": "request",
          "payload": {
              "a": [
                  1,
                  2
              ]
          },
          "ref": null
      }

      """
    Then it is accepted
    And the reply's ref is the request's id

  @AXON-LIMIT-006
  Scenario: Nothing is answered before the FIN
    Given a connection to the target
    When the probe writes a whole request on a stream and leaves it open
    And the target has had time to read it
    Then that stream is still unanswered
    When the probe finishes that stream
    Then it is accepted
    And its own stream carries exactly one reply, a response or an error

  @AXON-LIMIT-006
  Scenario Outline: A request that comes in pieces of <size> is read to its FIN
    Given a connection to the target
    When the probe sends a request in pieces of <size>
    Then it is accepted
    And the reply's ref is the request's id
    And its own stream carries exactly one reply, a response or an error

    Examples:
      | size     |
      | 1 byte   |
      | 7 bytes  |
      | 60 bytes |

  @AXON-LIMIT-006
  Scenario Outline: What comes in pieces may be anything: <what>
    Given a connection to the target
    When the probe sends <bytes> as the bytes of a bidirectional stream, in pieces of <size>
    Then it is accepted
    And the reply's ref is the request's id

    Examples:
      | what             | size     | bytes                                                            |
      | an unknown kind  | 1 byte   | {"id":"«id»","kind":"future","payload":{}}                       |
      | much white space | 50 bytes | «request»«hex 0a, 200 times»                                     |
      | a large payload  | 60 bytes | {"id":"«id»","kind":"request","payload":{"t":"«4000 times é»"}} |

  @AXON-LIMIT-007 @drive
  Scenario Outline: The target does not send what is too large, and says so: a <kind>
    Given a peer that the target knows
    When the target is asked to send it a <kind> with the payload {"t":"«65536 times x»"}
    Then the caller is told of a failure and is given no answer
    And the peer has received nothing
    When the target is asked to send it a message
    Then the peer receives a message on a unidirectional stream

    Examples:
      | kind    |
      | request |
      | message |
