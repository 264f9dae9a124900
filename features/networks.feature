Feature: Networks that do not help
  Laptops start without a network, servers without IPv6, and containers without
  multicast. A daemon works on with the peers that it knows.

  @AXON-DISC-024 @lan @cli
  Scenario: A daemon starts without any network, and uses the one that comes
    Given a machine without a network
    When a daemon of the target's kind is started there
    Then the daemon keeps running
    When a network comes
    Then the suite is served when it dials the daemon
    And within 30 seconds it and an honest newcomer are connected

  @AXON-DISC-024 @lan @cli
  Scenario: A daemon serves its peers without multicast, and discovers once there is some
    Given a machine whose network carries no multicast
    When a daemon of the target's kind is started there
    Then the suite is served when it dials the daemon
    When its network begins to carry multicast
    Then within 30 seconds it and an honest newcomer are connected
    And the suite is served when it dials the daemon

  @AXON-DISC-024 @lan @cli
  Scenario: A daemon discovers without IPv6
    Given a machine without IPv6
    When a daemon of the target's kind is started there
    Then the suite is served when it dials the daemon
    And within 30 seconds it and an honest newcomer are connected

  @AXON-DISC-025 @lan @cli
  Scenario Outline: On a machine <how>, that discovery does not work is said once
    Given a machine <how>
    When a daemon of the target's kind is started there
    Then for 10 seconds from its start it logs at most once that discovery does not work

    Examples:
      | how                                |
      | without a network                  |
      | whose network carries no multicast |

  @AXON-DISC-026 @lan @cli
  Scenario Outline: A daemon <how> says nothing to the network
    Given a machine on a network of its own
    When a daemon of the target's kind is started there, <how>
    Then for 5 seconds from its start it multicasts nothing and answers no question

    Examples:
      | how                                                     |
      | with discovery switched off by its configuration        |
      | with discovery switched off by an option of its command |
