Feature: The default error
  A request for which nobody is there gets an error all the same, so that every
  request has a reply.

  @AXON-DEFERR-001 @quiet
  Scenario: With no handler registered a request gets an error
    Given a connection to the target
    When the probe sends a request
    Then the reply is an error

  @AXON-DEFERR-001 @AXON-DEFERR-002 @AXON-DEFERR-003 @AXON-DEFERR-004 @AXON-DEFERR-005 @AXON-DEFERR-006 @quiet
  Scenario Outline: It is the same whatever the payload asks for: <payload>
    Given a connection to the target
    When the probe sends a request with the payload <payload>
    Then the reply's default error holds in this respect

    Examples:
      | payload                                                                     |
      | {}                                                                          |
      | {"domain":"family.calendar","question":"What is on this week?"}             |
      | {"domain":"meta.status"}                                                    |
      | {"code":"other","message":"not this","retryable":true}                      |
      | {"kind":"response","id":"«other id»","ref":"«other id»"}                |
      | {"text":"«30000 times x»"}                                                |

  @AXON-DEFERR-001 @AXON-DEFERR-002 @AXON-DEFERR-003 @AXON-DEFERR-004 @AXON-DEFERR-005 @AXON-DEFERR-006 @quiet
  Scenario: It is the same the hundredth time
    Given a connection to the target
    When 100 requests are sent one after another on one connection
    Then every reply's default error holds in this respect

  @AXON-DEFERR-001 @AXON-DEFERR-002 @AXON-DEFERR-003 @AXON-DEFERR-004 @AXON-DEFERR-005 @AXON-DEFERR-006 @quiet
  Scenario Outline: It is the same with 64 requests in flight: <how>
    Given a connection to the target
    When <how>
    Then every reply's default error holds in this respect

    Examples:
      | how                                                                                          |
      | 64 requests are opened at once on one connection                                             |
      | 64 requests lie written and unfinished on one connection and are then finished in a mixed order |

  @AXON-DEFERR-001 @quiet @whole-run
  Scenario: Every ordinary request of the run got an error
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-DEFERR-002 @quiet
  Scenario: Its ref is the request's id
    Given a connection to the target
    When the probe sends a request
    Then the reply's ref is the request's id

  @AXON-DEFERR-003 @quiet
  Scenario: Its code is unhandled
    Given a connection to the target
    When the probe sends a request
    Then the error's code is "unhandled"

  @AXON-DEFERR-003 @quiet @whole-run
  Scenario: Every default error of the run had the code unhandled
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-DEFERR-004 @quiet
  Scenario: Its message is the text of the protocol, with the request's id
    Given a connection to the target
    When the probe sends a request
    Then the error's message is the default one, with the request's id

  @AXON-DEFERR-004 @quiet @whole-run
  Scenario: Every default error of the run had the text of the protocol
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-DEFERR-005 @quiet
  Scenario: It is not retryable
    Given a connection to the target
    When the probe sends a request
    Then the error's retryable is the boolean false

  @AXON-DEFERR-005 @quiet @whole-run
  Scenario: No default error of the run was retryable
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-DEFERR-006 @quiet
  Scenario: It has a new id
    Given a connection to the target
    When the probe sends a request
    And the probe sends a request
    Then the reply's id is neither the request's nor one seen before

  @AXON-DEFERR-007 @handle
  Scenario: A handler that declines leads to the default error
    Given an application handler is registered in the target
    And a connection to the target
    When the probe sends a request
    Then the handler is given that request
    When the handler declines it
    Then the reply is the default error in every respect
    And its own stream carries exactly one reply, a response or an error

  @AXON-DEFERR-008
  Scenario: Every request is answered on each of several connections
    When 6 connections are open at the same time, and on each 8 requests are sent
    Then all of them are answered, each on its own stream

  @AXON-DEFERR-008
  Scenario: A request is answered after many that were given up
    Given a connection to the target
    When the probe writes half a request on a stream and leaves it open
    And the probe resets that stream
    And the probe sends a request
    And the probe gives up waiting for its reply
    And the probe sends a request
    And the probe gives up waiting for its reply
    And the probe sends a request
    Then its own stream carries exactly one reply, a response or an error

  @AXON-DEFERR-008
  Scenario: A request is answered after one whose answer was refused before it was there
    Given a connection to the target
    When the probe writes a whole request on a stream and leaves it open
    And the target has had time to read it
    And the probe refuses that stream's answer and finishes the stream
    And the target has had time to read it
    And the probe sends a request
    Then its own stream carries exactly one reply, a response or an error

  @AXON-DEFERR-008 @handle
  Scenario: A request that the handler had when it went away is answered
    Given an application handler is registered in the target
    And a connection to the target
    When the probe sends a request
    Then the handler is given that request
    When the handler goes away
    Then the reply is the default error in every respect

  @AXON-DEFERR-008 @handle
  Scenario: After a handler went away requests are answered as before
    Given an application handler is registered in the target
    And a connection to the target
    When the handler goes away
    And the probe sends a request
    Then it is accepted
    When an application handler is registered in the target
    And the probe sends a request
    Then the handler is given that request
    When the handler answers by a response with the payload {"back":true}
    Then the reply is a response with the payload {"back":true}

  @AXON-DEFERR-008 @handle
  Scenario: While one request is slow the others are answered
    Given an application handler is registered in the target
    And a connection to the target
    When the probe sends a request
    Then the handler is given that request
    And the handler holds it back
    When the probe sends a request
    Then the handler is given that request
    When the handler answers by a response with the payload {"second":true}
    Then the reply is a response with the payload {"second":true}
    When the handler answers the one that it held back by a response with the payload {"first":true}
    Then the reply is a response with the payload {"first":true}

  @AXON-DEFERR-009 @handle
  Scenario Outline: The handler's <kind> reaches the requester unchanged: <payload>
    Given an application handler is registered in the target
    And a connection to the target
    When the probe sends a request
    Then the handler is given that request
    When the handler answers by a <kind> with the payload <payload>
    Then the reply is a <kind> with the payload <payload>
    And its own stream carries exactly one reply, a response or an error

    Examples:
      | kind     | payload                                                              |
      | response | {"answer":42}                                                        |
      | response | {}                                                                   |
      | response | {"text":"«50000 times x»"}                                           |
      | error    | {"code":"not_today","message":"try tomorrow","retryable":true}       |
      | error    | {"code":"unhandled","message":"not here, ask another","retryable":true} |
      | error    | {}                                                                   |

  @AXON-DEFERR-009 @handle @heavy
  Scenario: With many requests in flight each requester gets the answer to its own
    Given an application handler is registered in the target
    When 64 requests with payloads of their own are sent on 4 connections
    And the handler answers each of 64 requests by a response, the last one first
    Then each reply carries the payload of its own request
