Feature: Transport security
  TLS 1.3 with the token axon/1, and on both sides a certificate whose Ed25519 key
  is known to the other.

  @AXON-TLS-001
  Scenario Outline: The token axon/1 is negotiated when a dialer offers <tokens>
    When a dialer offers the ALPN tokens <tokens>
    Then the token negotiated is "axon/1"

    Examples:
      | tokens                      |
      | "axon/1"                    |
      | "h3", "axon/1"              |
      | "axon/1" and "axon/2"       |

  @AXON-TLS-002
  Scenario: A dialer that offers no token is refused
    When a dialer offers no ALPN token
    Then the target refuses it and serves it no stream
    And an admitted dialer is still served

  @AXON-TLS-002
  Scenario Outline: A dialer that offers <token> is refused
    When a dialer offers the ALPN token <token>
    Then the target refuses it and serves it no stream
    And an admitted dialer is still served

    Examples:
      | token      |
      | "axon/2"   |
      | "axon/0"   |
      | "axon"     |
      | "AXON/1"   |
      | "axon/1.0" |
      | "h3"       |

  @AXON-TLS-003
  Scenario: A dialer without a certificate is refused
    When a dialer shows no certificate
    Then the target refuses it and serves it no stream
    And an admitted dialer is still served

  @AXON-TLS-004
  Scenario Outline: A dialer that shows <certificate> is refused
    When a dialer shows <certificate>
    Then the target refuses it and serves it no stream
    And an admitted dialer is still served

    Examples:
      | certificate |
      | a certificate of a key that the target does not know |
      | a certificate of an unknown key that carries an admitted Agent ID as its names |
      | a certificate of an unknown key with the admitted certificate behind it in the chain |
      | the admitted certificate without holding its private key |

  @AXON-TLS-005
  Scenario: The target's certificate holds an Ed25519 key, and the same on each connection
    Then the target's certificate holds an Ed25519 key, the same on 3 connections

  @AXON-TLS-006
  Scenario Outline: A dialer that shows <certificate> is refused
    When a dialer shows <certificate>
    Then the target refuses it and serves it no stream
    And an admitted dialer is still served

    Examples:
      | certificate |
      | an ECDSA certificate |
      | an ECDSA certificate that carries an admitted Agent ID as its names |
      | an ECDSA certificate with the admitted certificate behind it in the chain |
      | an RSA certificate |
      | an RSA certificate that carries an admitted Agent ID as its names |

  @AXON-TLS-007 @drive
  Scenario: When the target dials, its SNI is the Agent ID of the peer that it means
    Given a peer that the target knows
    When the target is asked to send it a message
    Then the peer receives a message on a unidirectional stream
    And the target's dial named the peer's Agent ID as the server

  @AXON-TLS-008 @drive
  Scenario Outline: When the target dials and meets another key it sends nothing: a <kind>
    Given a peer that the target knows, behind whose address another key listens
    When the target is asked to send it a <kind>
    Then the caller is told of a failure and is given no answer
    And the target has dialled the peer
    And the peer has received nothing

    Examples:
      | kind    |
      | request |
      | message |

  @AXON-TLS-009 @drive
  Scenario: When the target dials it shows its own certificate
    Given a peer that the target knows
    When the target is asked to send it a message
    Then the peer receives a message on a unidirectional stream
    And the target's dial showed the target's own certificate

  @AXON-TLS-009 @drive
  Scenario: It does so also where the listener names authorities that do not match
    Given a peer that the target knows, which names authorities that do not match
    When the target is asked to send it a message
    Then the peer receives a message on a unidirectional stream
    And the target's dial showed the target's own certificate

  @AXON-TLS-010
  Scenario Outline: Whether <certificate> is served
    When a dialer shows <certificate>
    Then whether the target serves it is noted

    Examples:
      | certificate |
      | the admitted key in a certificate that expired yesterday |
      | the admitted key in a certificate that is not valid before tomorrow |
      | the admitted key in a certificate with other names |

  @AXON-TLS-010
  Scenario: Whether session tickets, and with them 0-RTT, are on offer
    Then whether the target hands out session tickets is noted

  # When the target dials
