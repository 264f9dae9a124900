Feature: Forward compatibility
  An older implementation must live with kinds that a later protocol defines. On a
  bidirectional stream they get the default error; on a unidirectional one they are
  handed on.

  @AXON-FWD-001
  Scenario Outline: A kind that nobody knows on a bidirectional stream leaves the connection whole: <kind>
    Given a connection to the target
    When the probe sends an envelope of kind <kind> on a bidirectional stream
    Then it is answered
    And the connection survives

    Examples:
      | kind                |
      | "future"            |
      | "unknown"           |
      | "Unknown"           |
      | "REQUEST"           |
      | "Request"           |
      | "request "          |
      | "requests"          |
      | ""                  |
      | " "                 |
      | "null"              |
      | "0"                 |
      | "hello"             |
      | "frågа‑質問"          |
      | "\u0000"            |
      | "\"quoted\""        |
      | "re\\nquest"        |
      | "«1000 times k»"  |
      | "«20000 times k»" |

  @AXON-FWD-001
  Scenario Outline: A kind that nobody knows on a unidirectional stream leaves the connection whole: <kind>
    Given a connection to the target
    When the probe sends an envelope of kind <kind> on a unidirectional stream
    Then the connection survives
    And nothing answers it

    Examples:
      | kind               |
      | "future"           |
      | "unknown"          |
      | "MESSAGE"          |
      | "Message"          |
      | "messages"         |
      | ""                 |
      | "hello"            |
      | "frågа‑質問"         |
      | "\u0000"           |
      | "\"quoted\""       |
      | "«1000 times k»"   |
      | "«300 times 😀»"    |
      | "a«300 times 😀»"   |
      | "aa«300 times 😀»"  |
      | "aaa«300 times 😀»" |

  @AXON-FWD-001
  Scenario: Many kinds that nobody knows on one connection do no harm
    Given a connection to the target
    When 60 envelopes of unknown kinds are sent on each type of stream
    Then the connection survives

  @AXON-FWD-001
  Scenario: Between requests, kinds that nobody knows do no harm
    Given a connection to the target
    When the probe sends a request
    Then it is accepted
    When the probe sends an envelope of kind "future" on a bidirectional stream
    And the probe sends an envelope of kind "future" on a unidirectional stream
    And the probe sends an envelope of kind "later" on a unidirectional stream
    And the probe sends a request
    Then it is accepted
    And the reply's ref is the request's id

  @AXON-FWD-002
  Scenario Outline: A kind that nobody knows on a bidirectional stream gets the default error: <kind>
    Given a connection to the target
    When the probe sends an envelope of kind <kind> on a bidirectional stream
    Then the reply is the default error in every respect
    And its own stream carries exactly one reply, a response or an error

    Examples:
      | kind               |
      | "future"           |
      | "unknown"          |
      | "Unknown"          |
      | "REQUEST"          |
      | ""                 |
      | "hello"            |
      | "frågа‑質問"         |
      | "«1000 times k»" |

  @AXON-FWD-002
  Scenario: A kind that nobody knows may carry a ref and still gets the default error
    Given a connection to the target
    When the probe sends on a bidirectional stream:
      """
      {"id":"«id»","kind":"future","payload":{"any":["thing",1,null]},"ref":"«other id»"}
      """
    Then the reply is the default error in every respect

  @AXON-FWD-003 @observe
  Scenario Outline: A kind that nobody knows is delivered to local clients: <kind>
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends an envelope of kind <kind> on a unidirectional stream
    Then the local client is shown it

    Examples:
      | kind               |
      | "future"           |
      | "unknown"          |
      | "MESSAGE"          |
      | ""                 |
      | "frågа‑質問"         |
      | "«1000 times k»"   |

  @AXON-FWD-004 @observe
  Scenario Outline: What is delivered shows the original kind: <kind>
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends an envelope of kind <kind> on a unidirectional stream
    Then the local client is shown its original kind

    Examples:
      | kind               |
      | "future"           |
      | "unknown"          |
      | "MESSAGE"          |
      | ""                 |
      | "frågа‑質問"         |
      | "«1000 times k»"   |
