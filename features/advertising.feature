Feature: Advertising
  One name is all that two daemons know of each other beforehand. Whoever asks the
  network for it is told key, port and address of each daemon there.

  @AXON-DISC-001 @lan
  Scenario: The question for AXON's service is answered with an instance of the target
    When the network is asked for "_axon._udp.local."
    Then an answer names an instance of the target

  @AXON-DISC-002 @lan
  Scenario: The TXT record holds Agent ID and key
    Given the target's advert
    Then its TXT holds the target's Agent ID and its public key in standard base64, each once

  @AXON-DISC-003 @lan
  Scenario: The port is the one at which the target is met
    Given the target's advert
    Then a connection to the port of its SRV shows the key of its TXT

  @AXON-DISC-004 @lan
  Scenario: The addresses lead to the target from where they are advertised
    Given the target's advert
    Then the target is reached at one of its addresses, and none of them is a loopback address

  @AXON-DISC-005 @lan
  Scenario: The instance is one label
    Given the target's advert
    Then its instance is one label, "axon-" and the target's Agent ID

  @AXON-DISC-006 @lan
  Scenario: One answer brings all that is needed
    When the network is asked for "_axon._udp.local." from a port of its own
    Then the answer brings SRV, TXT and addresses along

  @AXON-DISC-007 @lan
  Scenario Outline: The question is understood as <name>
    When the network is asked for "<name>"
    Then an answer names an instance of the target

    Examples:
      | name              |
      | _AXON._UDP.LOCAL. |
      | _aXon._Udp.locaL. |

  @AXON-DISC-007 @lan
  Scenario: Whoever asks from another port is answered there, each time
    When the network is asked for "_axon._udp.local." from a port of its own
    Then the answer comes to that port and names an instance of the target
    And the same question is answered 10 times more

  @AXON-DISC-008 @alone @lan
  Scenario Outline: The question for <name> is not answered with the target's instance
    Then no answer names an instance of the target when the network is asked for "<name>"

    Examples:
      | name                  |
      | _ipp._tcp.local.      |
      | _axon._tcp.local.     |
      | _axons._udp.local.    |
      | _axon._udp.example.   |
      | _udp.local.           |

  @AXON-DISC-009 @alone @lan
  Scenario: A question from outside of the network is not answered
    Then no answer names an instance of the target when the network is asked in the name of 203.0.113.77, which is elsewhere
