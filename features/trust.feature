Feature: Trust in what is found
  An advert proves nothing. It may lead to a dial, and never takes anything away
  from who was trusted before.

  @AXON-DISC-020 @lan
  Scenario Outline: Another key with <how> replaces nothing
    Given a newcomer on the network
    When the newcomer advertises itself with <how>
    Then its advert leads to nothing
    And the suite's own key, which is pinned, is still admitted

    Examples:
      | how                                           |
      | the agent_id of a pinned peer                 |
      | the instance and the agent_id of a pinned peer |

  @AXON-DISC-020 @lan @drive
  Scenario: Another key at the address of a pinned peer replaces nothing
    Given a peer that the target knows
    When a newcomer advertises itself at the address of that peer
    Then it is refused when it dials
    And that peer is still admitted when it dials
    When the connections of that peer end
    Then the target, asked to send it a request, reaches it

  @AXON-DISC-021 @lan @drive
  Scenario Outline: A pinned peer that is advertised at an address where <who> is still reached
    Given a peer that the target knows
    When an advert gives an address for that peer at which <who>
    And the connections of that peer end
    Then the target, asked to send it a request, reaches it

    Examples:
      | who                 |
      | nobody answers      |
      | another key answers |

  @AXON-DISC-022 @lan @drive @cli
  Scenario: With trust by enrolment an advert makes a candidate
    Given a daemon of the target's kind on a network of its own, with trust by enrolment
    And a newcomer on the network
    When the newcomer advertises itself
    Then it becomes a candidate
    And the target has not dialled it, and refuses it when it dials
    When its owner enrols it
    Then it and the target are connected

  @AXON-DISC-023 @lan @drive @cli
  Scenario Outline: Who was met is admitted after the daemon <ends>
    Given a daemon of the target's kind on a network of its own
    And an honest newcomer that the target has found
    When the daemon <ends> and is started again with discovery switched off
    Then the newcomer is admitted when it dials, and a request of its is answered

    Examples:
      | ends               |
      | ends in good order |
      | is killed          |
