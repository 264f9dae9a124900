Feature: Finding others
  A newcomer advertises itself. When it does so honestly, it and the target are
  connected without anybody's help; when it does not, nothing comes of it.

  @AXON-DISC-010 @lan
  Scenario: A newcomer and the target are connected
    Given a newcomer on the network
    When the newcomer advertises itself
    Then it and the target are connected

  @AXON-DISC-010 @lan
  Scenario: Several newcomers at once are each connected with the target
    Given 4 newcomers on the network
    When the newcomers advertise themselves
    Then each of them and the target are connected

  @AXON-DISC-010 @lan
  Scenario Outline: A newcomer that advertises itself with <how> is honest too
    Given a newcomer on the network
    When the newcomer advertises itself with <how>
    Then it and the target are connected

    Examples:
      | how                                |
      | a further attribute in its TXT     |
      | the attributes the other way round |
      | its Agent ID in upper case         |
      | an instance name of its own choice |
      | all of its records as answers      |

  @AXON-DISC-011 @lan
  Scenario: A newcomer is connected within five seconds of its first advert
    Given a newcomer on the network
    When the newcomer advertises itself
    Then less than 5 seconds pass from its first advert until it and the target are connected

  @AXON-DISC-011 @lan @cli
  Scenario: Whoever is there is connected within five seconds of a daemon's start
    Given a machine on a network of its own
    And a newcomer on the network
    When the newcomer advertises itself
    And a daemon of the target's kind is started there
    Then less than 5 seconds pass from the start of the daemon until it and the newcomer are connected

  @AXON-DISC-012 @lan
  Scenario Outline: An advert with <how> leads to nothing
    Given a newcomer on the network
    When the newcomer advertises itself with <how>
    Then its advert leads to nothing

    Examples:
      | how                                         |
      | the agent_id of another key                 |
      | the pubkey of another key                   |
      | an agent_id that differs in its last digit  |
      | an agent_id of another scheme               |

  @AXON-DISC-013 @lan
  Scenario Outline: An advert with <how> leads to nothing, and does no harm
    Given an honest newcomer that the target has found
    When another newcomer advertises itself with <how>
    Then an honest newcomer that follows is found
    And its advert leads to nothing

    Examples:
      | how                                 |
      | no agent_id                         |
      | an empty agent_id                   |
      | no pubkey                           |
      | an empty pubkey                     |
      | a pubkey of 31 bytes                |
      | a pubkey of 33 bytes                |
      | a pubkey in hexadecimal             |
      | a pubkey that is no base64          |
      | an empty TXT                        |
      | the port 0                          |
      | an instance of another service type |
      | another service type                |

  @AXON-DISC-013 @lan
  Scenario Outline: A datagram that is no DNS message does no harm: <datagram>
    Given an honest newcomer that the target has found
    When a datagram that is no DNS message is sent to the network: <datagram>
    Then an honest newcomer that follows is found

    Examples:
      | datagram                                        |
      | hello                                           |
      | «hex 00»                                        |
      | «hex 00 00 84 00 ff ff ff ff ff ff ff ff»       |
      | «hex 00 00 84 00 00 00 00 01 00 00 00 00 c0 0c» |
      | «hex 00 00 84 00 00 00 00 01 00 00 00 00 05 5f 61» |
      | «9000 times x»                                  |

  @AXON-DISC-014 @lan
  Scenario: Who only says goodbye is not there
    Given a newcomer on the network
    When the newcomer advertises itself with a TTL of 0
    Then the target does not take it for a daemon that is there

  @AXON-DISC-015 @lan @drive
  Scenario: The target is not its own peer
    Given the target's advert
    When the target's advert is repeated by a newcomer, with the newcomer's address in it
    Then the target does not dial that address, and does not list itself

  @AXON-DISC-016 @lan @drive @slow
  Scenario: Who was never met is forgotten
    Given a newcomer on the network, at whose address nobody answers
    When the newcomer advertises itself
    Then the target may list it
    When it falls silent
    Then 70 seconds after its last advert the target no longer lists it

  @AXON-DISC-017 @lan @drive
  Scenario: Who leaves one of two addresses is reached at the other
    Given a newcomer with two addresses, found at the first of them
    When it leaves its first address and falls silent there
    Then the target, asked to send it a request, reaches it at its other address
    And the target still lists it

  @AXON-DISC-017 @lan @drive @slow
  Scenario: Who was left one of two addresses is reached at the other later on too
    Given a newcomer with two addresses, found at the first of them
    When it leaves its first address and falls silent there, and 70 seconds pass
    Then the target still lists it
    And the target, asked to send it a request, reaches it at its other address

  @AXON-DISC-018 @lan
  Scenario: A connection outlives the goodbye of an advert
    Given an honest newcomer that the target has found
    When the newcomer says goodbye to the network
    And an honest newcomer that follows is found
    Then a request on the newcomer's connection is answered

  @AXON-DISC-018 @lan @slow
  Scenario: A connection outlives the adverts
    Given an honest newcomer that the target has found
    When it falls silent
    Then 70 seconds after its last advert a request on their connection is answered

  @AXON-DISC-019 @lan @cli
  Scenario: Who is connected is served while two thousand others are advertised
    Given a daemon of the target's kind on a network of its own
    And an honest newcomer that the target has found
    When 2,000 different daemons are advertised within a few seconds
    Then a request on the newcomer's connection is answered
    And the daemon keeps running

  @AXON-DISC-019 @lan @slow @alone
  Scenario: An honest newcomer is found after two thousand others
    Given an honest newcomer that the target has found
    When 2,000 different daemons are advertised within a few seconds
    Then a request on the newcomer's connection is answered
    And within 70 seconds after the last of them an honest newcomer is found
