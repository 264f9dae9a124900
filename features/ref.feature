Feature: The ref member
  A receiver takes an absent ref, a null one and a UUID alike.

  @AXON-REF-001 @whole-run
  Scenario: What the target sent of its own accord without a reference had no ref member
    Then it held for everything that the target sent in this run

  @AXON-REF-001 @drive
  Scenario: What the target sends without a reference has no ref member
    Given a peer that the target knows
    When the target is asked to send it a message
    Then the peer receives a message on a unidirectional stream
    And what it received has no ref member
    When the target is asked to send it a request
    Then the peer receives a request on a bidirectional stream
    And what it received has no ref member

  @AXON-REF-002
  Scenario: A request without ref is accepted
    Given a connection to the target
    When the probe sends a request
    Then it is accepted

  @AXON-REF-002
  Scenario: A message without ref does no harm
    Given a connection to the target
    When the probe sends {"id":"«id»","kind":"message","payload":{}} as the bytes of a unidirectional stream
    Then the connection survives

  @AXON-REF-002 @AXON-REF-003 @AXON-REF-004 @observe
  Scenario Outline: A message with <ref> is delivered
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends <envelope> as the bytes of a unidirectional stream
    Then the local client is shown it, from the probe, with its kind and payload unchanged

    Examples:
      | ref           | envelope                                                               |
      | no ref        | {"id":"«id»","kind":"message","payload":{"a":1}}                       |
      | ref null      | {"id":"«id»","kind":"message","payload":{"a":1},"ref":null}            |
      | a UUID as ref | {"id":"«id»","kind":"message","payload":{"a":1},"ref":"«other id»"}    |

  @AXON-REF-003
  Scenario: A request with ref null is accepted
    Given a connection to the target
    When the probe sends a request with "ref" set to null
    Then it is accepted
    And the reply's ref is the request's id

  @AXON-REF-003
  Scenario: It does not matter where in the envelope a null ref stands
    Given a connection to the target
    When the probe sends {"ref":null,"id":"«id»","payload":{},"kind":"request"} as the bytes of a bidirectional stream
    Then it is accepted

  @AXON-REF-003
  Scenario: A message whose ref is null does no harm
    Given a connection to the target
    When the probe sends {"id":"«id»","kind":"message","payload":{},"ref":null} as the bytes of a unidirectional stream
    Then the connection survives

  @AXON-REF-004
  Scenario: A request with a UUID as its ref is accepted
    Given a connection to the target
    When the probe sends a request with "ref" set to "«other id»"
    Then it is accepted
    And the reply's ref is the request's id

  @AXON-REF-004
  Scenario: A request that refers to itself is accepted
    Given a connection to the target
    When the probe sends a request with "ref" set to "«id»"
    Then it is accepted
    And the reply's ref is the request's id

  @AXON-REF-004
  Scenario: It does not matter where in the envelope the ref stands
    Given a connection to the target
    When the probe sends {"ref":"«other id»","payload":{},"kind":"request","id":"«id»"} as the bytes of a bidirectional stream
    Then it is accepted
    And the reply's ref is the request's id

  @AXON-REF-004
  Scenario: A message with a UUID as its ref does no harm
    Given a connection to the target
    When the probe sends {"id":"«id»","kind":"message","payload":{},"ref":"«other id»"} as the bytes of a unidirectional stream
    Then the connection survives

  @AXON-REF-005
  Scenario Outline: With 64 requests in flight, finished in <order>, each reply has its own request's id
    Given a connection to the target
    When 64 requests lie written and unfinished on one connection and are then finished in <order>
    Then all of them are answered, each on its own stream
    And each reply's ref is the id of the request on its own stream

    Examples:
      | order         |
      | order         |
      | reverse order |
      | a mixed order |

  @AXON-REF-005
  Scenario: With 64 requests sent at once each reply has its own request's id
    Given a connection to the target
    When 64 requests are opened at once on one connection
    Then all of them are answered, each on its own stream
    And each reply's ref is the id of the request on its own stream

  @AXON-REF-005
  Scenario: Requests on several connections at once are not mixed up
    When 4 connections are open at the same time, and on each 16 requests are sent
    Then all of them are answered, each on its own stream
    And each reply's ref is the id of the request on its own stream

  @AXON-REF-006 @drive
  Scenario Outline: A reply whose ref is <ref> is not handed to the caller as the answer
    Given a peer that the target knows
    When the target is asked to send it a request and to wait 1 second
    Then the peer receives a request on a bidirectional stream
    When the peer answers by a response whose ref is <ref>
    Then the caller is told of a failure and is given no answer

    Examples:
      | ref        |
      | absent     |
      | null       |
      | another id |

  @AXON-REF-007
  Scenario Outline: What the target does with the ref <ref>
    Given a connection to the target
    When the probe sends a request with "ref" set to <ref>
    Then what the target did is noted

    Examples:
      | ref                                     |
      | "not a uuid"                            |
      | ""                                      |
      | 7                                       |
      | {}                                      |
      | "00000000-0000-0000-0000-000000000000"  |
