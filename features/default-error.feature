Feature: The default error
  A request for which nobody is there gets an error all the same, so that every
  request has a reply.

  @AXON-DEFERR-001 @quiet
  Scenario: With no handler registered a request gets an error
    Given a connection to the target
    When the probe sends a request
    Then the reply is an error

  @AXON-DEFERR-002 @quiet
  Scenario: Its ref is the request's id
    Given a connection to the target
    When the probe sends a request
    Then the reply is an error
    And the reply's ref is the request's id

  @AXON-DEFERR-003 @quiet
  Scenario: Its code is unhandled
    Given a connection to the target
    When the probe sends a request
    Then the error's code is "unhandled"

  @AXON-DEFERR-004 @quiet
  Scenario: Its message is the text of the protocol, with the request's id
    Given a connection to the target
    When the probe sends a request
    Then the error's message is the default one, with the request's id

  @AXON-DEFERR-005 @quiet
  Scenario: It is not retryable
    Given a connection to the target
    When the probe sends a request
    Then the error's retryable is the boolean false

  @AXON-DEFERR-006 @quiet
  Scenario: It has a new id
    Given a connection to the target
    When the probe sends a request
    And the probe sends a request
    Then the reply's id is neither the request's nor one seen before

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
  Scenario: It is the same with 64 requests in flight
    Given a connection to the target
    When 64 requests are opened at once on one connection
    Then every reply's default error holds in this respect

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
