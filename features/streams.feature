Feature: Streams
  Each message has a fresh stream: the body, then FIN. A bidirectional stream
  carries one request and one reply, a unidirectional one carries no reply.

  @AXON-STREAM-001 @drive
  Scenario: Each thing that the target sends has a fresh stream
    Given a peer that the target knows
    When the target is asked to send it 8 messages and 8 requests
    Then the peer receives each of them on a stream of its own

  @AXON-STREAM-002
  Scenario: The reply's stream ends with FIN after the body
    Given a connection to the target
    When the probe sends a request
    Then the reply's body is followed by FIN and by nothing else

  @AXON-STREAM-002
  Scenario: The reply to a kind that nobody knows ends with FIN after the body
    Given a connection to the target
    When the probe sends an envelope of kind "future" on a bidirectional stream
    Then the reply's body is followed by FIN and by nothing else

  @AXON-STREAM-002 @whole-run
  Scenario: Every reply of the run was a body, then FIN
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-STREAM-003
  Scenario: A stream carries one reply
    Given a connection to the target
    When the probe sends a request
    Then its own stream carries exactly one reply, a response or an error

  @AXON-STREAM-003
  Scenario Outline: Two requests on one stream never get two replies: <how>
    Given a connection to the target
    When the probe sends <bytes> as the bytes of a bidirectional stream
    Then the stream carries at most one reply

    Examples:
      | how                      | bytes                                                                       |
      | one behind the other     | «request»{"id":"«other id»","kind":"request","payload":{}}              |
      | a line each              | «request»«hex 0a»{"id":"«other id»","kind":"request","payload":{}}«hex 0a» |
      | the same one twice       | «request»«request»                                                      |
      | as an array              | [«request»,{"id":"«other id»","kind":"request","payload":{}}]           |

  @AXON-STREAM-003 @whole-run
  Scenario: No stream of the run carried two replies
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-STREAM-004
  Scenario: The reply's kind is response or error
    Given a connection to the target
    When the probe sends a request
    Then the reply's kind is response or error

  @AXON-STREAM-004 @whole-run
  Scenario: Every reply of the run was a response or an error
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-STREAM-005
  Scenario Outline: <what> on a unidirectional stream gets no reply on any stream
    Given a connection to the target
    When the probe sends <bytes> as the bytes of a unidirectional stream
    Then nothing answers it

    Examples:
      | what                | bytes                                                                         |
      | A request           | «request»                                                                   |
      | A response          | {"id":"«id»","kind":"response","payload":{},"ref":"«other id»"}           |
      | A malformed request | {"id":"«id»","kind":"request"}                                              |
      | A nil id            | {"id":"00000000-0000-0000-0000-000000000000","kind":"message","payload":{}}   |
      | What is not JSON    | hello                                                                         |

  @AXON-STREAM-005
  Scenario: FIN alone on a unidirectional stream gets no reply on any stream
    Given a connection to the target
    When the probe sends nothing but FIN on a unidirectional stream
    Then nothing answers it

  @AXON-STREAM-005 @whole-run
  Scenario: Nothing on a unidirectional stream gets a late reply either
    Then what was sent on unidirectional streams early in the run drew no answer until now

  @AXON-STREAM-006
  Scenario: A request is served as the very first thing on a connection, twenty times
    When 20 connections are made one after another, and on each a request is written at once
    Then all of them are answered, each on its own stream

  @AXON-STREAM-006
  Scenario: A request is served on a new connection when the one before ended in the middle of another
    Given a connection to the target
    When the probe sends a request
    And the probe writes half a request on a stream and leaves it open
    And the probe closes the connection in the middle of that
    And the probe sends a request
    Then its own stream carries exactly one reply, a response or an error

  @AXON-STREAM-007 @quiet
  Scenario: A new connection stays silent
    Given a connection to the target
    When the probe sends nothing while other connections are served
    Then the target has opened no stream on it

  @AXON-STREAM-007 @quiet @whole-run
  Scenario: On no connection of the run did the target open a stream of its own accord
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-STREAM-007 @quiet @whole-run
  Scenario: A connection on which nothing is sent stays silent as long as the run lasts
    Then a connection on which nothing was sent in this run stayed silent

  @AXON-STREAM-008 @heavy
  Scenario: 256 requests opened at once are all answered
    Given a connection to the target
    When 256 requests are opened at once on one connection
    Then all of them are answered, each on its own stream

  @AXON-STREAM-008 @heavy
  Scenario: 256 requests that lie unfinished at the same time are all answered
    Given a connection to the target
    When 256 requests lie written and unfinished on one connection and are then finished in order
    Then all of them are answered, each on its own stream

  @AXON-STREAM-008 @heavy
  Scenario: More than a thousand requests in a row on one connection are all answered
    Given a connection to the target
    When 1,200 requests are sent one after another on one connection
    Then all of them are answered, each on its own stream

  @AXON-STREAM-008 @heavy
  Scenario: Forty requests of 65,536 bytes in a row on one connection are all answered
    Given a connection to the target
    When 40 requests of 65,536 bytes each are sent one after another on one connection
    Then all of them are answered, each on its own stream

  @AXON-STREAM-008 @heavy
  Scenario: Hundreds of streams that are given up give their credit back
    Given a connection to the target
    When 300 requests are begun and given up on one connection
    Then the connection survives

  @AXON-STREAM-008 @heavy
  Scenario: A stream that ends badly gives its credit back too
    Given a connection to the target
    When a mixture of 60 valid and malformed envelopes is sent on one connection
    Then the connection serves on, or a new one does

  @AXON-STREAM-009
  Scenario Outline: <what> without FIN holds back no other stream
    Given a connection to the target
    When the probe writes <what> on a stream and leaves it open
    And the target has had time to read it
    And the probe sends a request
    Then it is accepted
    And its own stream carries exactly one reply, a response or an error

    Examples:
      | what                        |
      | a whole request             |
      | half a request              |
      | the first byte of a request |
      | a whole message             |

  @AXON-STREAM-009
  Scenario: Several stalled streams of both types hold back no other stream
    Given a connection to the target
    When the probe writes half a request on a stream and leaves it open
    And the probe writes a whole message on a stream and leaves it open
    And the probe writes the first byte of a request on a stream and leaves it open
    And the probe writes a whole message on a stream and leaves it open
    And the probe writes a whole request on a stream and leaves it open
    And the target has had time to read it
    And the probe sends a message
    And the probe sends a request
    Then it is accepted

  @AXON-STREAM-009
  Scenario: Twenty stalled streams hold back no other stream
    Given a connection to the target
    When up to 20 requests lie half written on one connection, a stream less than it grants
    And the probe sends a request
    Then it is accepted
    And its own stream carries exactly one reply, a response or an error

  @AXON-STREAM-009 @heavy
  Scenario: A stalled message holds back no other message
    Given a connection to the target
    When the probe writes a whole message on a stream and leaves it open
    And 100 messages of 4 KiB each are sent on one connection
    Then the messages among them are taken

  @AXON-STREAM-010
  Scenario Outline: What the target does with <what> on a bidirectional stream
    Given a connection to the target
    When the probe sends <bytes> as the bytes of a bidirectional stream
    Then what the target did is noted

    Examples:
      | what             | bytes                                                                                                 |
      | a message        | «message»                                                                                           |
      | a response       | {"id":"«id»","kind":"response","payload":{},"ref":"«other id»"}                                   |
      | an error         | {"id":"«id»","kind":"error","payload":{"code":"broken","message":"it is broken","retryable":false}} |

  @AXON-STREAM-011 @heavy
  Scenario: More than a thousand messages in a row on one connection are taken
    Given a connection to the target
    When 1,200 messages of 4 KiB each are sent on one connection
    Then all of them are taken

  @AXON-STREAM-011 @heavy
  Scenario: After everything odd that a unidirectional stream can carry, messages are taken as before
    Given a connection to the target
    When the probe sends {"id":"«id»","kind":"response","payload":{},"ref":"«other id»"} as the bytes of a unidirectional stream
    And the probe sends an envelope of kind "future" on a unidirectional stream
    And the probe sends an envelope of kind "«300 times é»" on a unidirectional stream
    And the probe sends {"id":"«id»","kind":"error","payload":{"code":"no_handler","message":"no","retryable":false},"ref":"«other id»"} as the bytes of a unidirectional stream
    And the probe writes a whole message on a stream and leaves it open
    And the probe resets that stream
    Then the connection serves on, or a new one takes its place
    When the probe sends «request» as the bytes of a unidirectional stream
    Then the connection serves on, or a new one takes its place
    When the probe sends {"id":"«id»","kind":"error","payload":{"code":7,"message":null,"retryable":"no"},"ref":"«other id»"} as the bytes of a unidirectional stream
    Then the connection serves on, or a new one takes its place
    When the probe sends {"id":"«id» as the bytes of a unidirectional stream
    Then the connection serves on, or a new one takes its place
    When the probe sends nothing but FIN on a unidirectional stream
    Then the connection serves on, or a new one takes its place
    When 100 messages of 4 KiB each are sent on one connection
    Then the messages among them are taken
