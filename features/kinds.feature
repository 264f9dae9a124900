Feature: Message kinds
  A request gets one answer on its own stream. A message and an unsolicited error
  get none.

  @AXON-KIND-001 @whole-run
  Scenario: A request that the target sent of its own accord opened a bidirectional stream
    Then it held for everything that the target sent in this run

  @AXON-KIND-001 @drive
  Scenario: A request that the target sends opens a bidirectional stream
    Given a peer that the target knows
    When the target is asked to send it a request
    Then the peer receives a request on a bidirectional stream
    And what it received is a well-formed envelope
    And what it received was ended by FIN and by nothing else
    And what it received has the payload that the caller gave

  @AXON-KIND-002
  Scenario: A request is answered on its own stream
    Given a connection to the target
    When the probe sends a request
    Then its own stream carries exactly one reply, a response or an error

  @AXON-KIND-002
  Scenario: A request with nothing in its payload is answered on its own stream
    Given a connection to the target
    When the probe sends a request with the payload {}
    Then its own stream carries exactly one reply, a response or an error

  @AXON-KIND-002
  Scenario Outline: A request whose members stand in the order <order> is answered
    Given a connection to the target
    When the probe sends on a bidirectional stream:
      """
      <envelope>
      """
    Then it is accepted
    And its own stream carries exactly one reply, a response or an error
    And the reply's ref is the request's id

    Examples:
      | order             | envelope                                        |
      | kind, payload, id | {"kind":"request","payload":{},"id":"«id»"}   |
      | payload, id, kind | {"payload":{},"id":"«id»","kind":"request"}   |
      | payload, kind, id | {"payload":{"id":"«other id»","kind":"message"},"kind":"request","id":"«id»"} |
      | id, payload, kind | {"id":"«id»","payload":{"a":1},"kind":"request"} |

  @AXON-KIND-002
  Scenario Outline: A request whose id was used before is answered too, <where>
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    When the probe sends a request with the same id again <where>
    Then its own stream carries exactly one reply, a response or an error
    And the reply's ref is the request's id

    Examples:
      | where                 |
      | on the connection     |
      | on another connection |

  @AXON-KIND-002 @whole-run
  Scenario: Every request of the run that was answered had exactly one reply
    Then it held for everything that the target sent in this run

  @AXON-KIND-003 @whole-run
  Scenario: The target opened no stream with a response
    Given a connection to the target
    When the probe sends a request
    Then it is answered
    And the target opened no stream with a response in this run

  @AXON-KIND-004 @whole-run
  Scenario: A message that the target sent of its own accord opened a unidirectional stream
    Then it held for everything that the target sent in this run

  # What the target sends

  @AXON-KIND-004 @drive
  Scenario: A message that the target sends opens a unidirectional stream
    Given a peer that the target knows
    When the target is asked to send it a message
    Then the peer receives a message on a unidirectional stream
    And what it received is a well-formed envelope
    And what it received was ended by FIN and by nothing else
    And what it received has the payload that the caller gave

  @AXON-KIND-005
  Scenario: A message draws no answer
    Given a connection to the target
    When the probe sends a message
    Then nothing answers it

  @AXON-KIND-005
  Scenario: Twenty messages draw no answer
    Given a connection to the target
    When 20 messages are sent, each on a stream of its own
    Then nothing answers them

  @AXON-KIND-005
  Scenario Outline: A message that looks like a question draws no answer: <payload>
    Given a connection to the target
    When the probe sends a message with the payload <payload>
    Then nothing answers it

    Examples:
      | payload                                                  |
      | {"kind":"request","id":"«other id»","payload":{}}      |
      | {"question":"are you there?","reply_to":"«my agent id»"} |
      | {"ping":true}                                            |

  @AXON-KIND-005 @whole-run
  Scenario: A message draws no late answer either
    Then what was sent on unidirectional streams early in the run drew no answer until now

  @AXON-KIND-006 @drive
  Scenario Outline: An error reply ends the target's request, unchanged: <payload>
    Given a peer that the target knows
    When the target is asked to send it a request
    Then the peer receives a request on a bidirectional stream
    When the peer answers by an error with the payload <payload>
    Then the caller is given that error, its payload unchanged

    Examples:
      | payload                                                                             |
      | {"code":"unhandled","message":"nobody is here","retryable":false}                   |
      | {"code":"busy","message":"come back later","retryable":true,"after":{"seconds":30}} |
      | {}                                                                                  |
      | {"code":7,"why":["a",null]}                                                         |

  @AXON-KIND-007
  Scenario Outline: An unsolicited error <how> is taken in and the connection survives
    Given a connection to the target
    When the probe sends on a unidirectional stream:
      """
      <envelope>
      """
    Then the connection survives

    Examples:
      | how                    | envelope |
      | without ref            | {"id":"«id»","kind":"error","payload":{"code":"broken","message":"something is wrong here","retryable":false}} |
      | with ref null          | {"id":"«id»","kind":"error","payload":{"code":"broken","message":"something is wrong here","retryable":true},"ref":null} |
      | with a ref             | {"id":"«id»","kind":"error","payload":{"code":"broken","message":"something is wrong here","retryable":false},"ref":"«other id»"} |
      | with an empty payload  | {"id":"«id»","kind":"error","payload":{}} |
      | with a code of its own | {"id":"«id»","kind":"error","payload":{"code":7,"why":["a","b"]}} |

  @AXON-KIND-007
  Scenario: Sixty unsolicited errors in a row are taken in and the connection survives
    Given a connection to the target
    When 60 errors are sent, each on a stream of its own
    Then the connection survives

  @AXON-KIND-007 @observe
  Scenario Outline: Local clients are shown an unsolicited error <how>
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends on a unidirectional stream:
      """
      <envelope>
      """
    Then the local client is shown it, from the probe, with its kind and payload unchanged

    Examples:
      | how         | envelope |
      | without ref | {"id":"«id»","kind":"error","payload":{"code":"broken","message":"something is wrong here","retryable":false}} |
      | with a ref  | {"id":"«id»","kind":"error","payload":{"code":"broken","retryable":true},"ref":"«other id»"} |

  @AXON-KIND-008
  Scenario Outline: An unsolicited error <how> draws no answer
    Given a connection to the target
    When the probe sends on a unidirectional stream:
      """
      <envelope>
      """
    Then nothing answers it

    Examples:
      | how         | envelope |
      | without ref | {"id":"«id»","kind":"error","payload":{"code":"broken","message":"something is wrong here","retryable":false}} |
      | with a ref  | {"id":"«id»","kind":"error","payload":{"code":"unhandled","message":"no handler","retryable":true},"ref":"«other id»"} |

  @AXON-KIND-008 @whole-run
  Scenario: An unsolicited error draws no late answer either
    Then what was sent on unidirectional streams early in the run drew no answer until now

  @AXON-KIND-009 @drive
  Scenario: The target's caller is given the reply's payload unchanged
    Given a peer that the target knows
    When the target is asked to send it a request
    Then the peer receives a request on a bidirectional stream
    When the peer answers by a response with the payload {"n":9007199254740993,"t":"é\u00e9","a":[1.0,-0,1e400],"":{}}
    Then the caller is given that response, its payload unchanged

  @AXON-KIND-009 @drive
  Scenario: The target's caller waits for a reply that takes its time
    Given a peer that the target knows
    When the target is asked to send it a request
    Then the peer receives a request on a bidirectional stream
    When the peer lets 2 seconds pass
    And the peer answers by a response with the payload {"late":true}
    Then the caller is given that response, its payload unchanged
