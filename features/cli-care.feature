Feature: The command line: care
  What keeps an agent well, and shows its owner what is wrong.

  @AXON-CLI-033 @cli
  Scenario: One value is changed, and the rest of the file kept
    Given the configuration:
      """
      # The agent of the kitchen.
      name: kitchen
      port: 7200
      peers:
        # A neighbour.
        - agent_id: «my agent id»
          pubkey: «my key»
      """
    When `axon config port` is run
    Then it exits with code 0
    And standard output names "7200"
    When `axon config port 7300` is run
    Then it exits with code 0
    And "config.yaml" in the state root has the line "port: 7300"
    And "config.yaml" in the state root has the line "# The agent of the kitchen."
    And "config.yaml" in the state root has the line "name: kitchen"
    And "config.yaml" in the state root has the line "  # A neighbour."
    And "config.yaml" in the state root has the line "  - agent_id: «my agent id»"
    When `axon config port` is run
    Then standard output names "7300"
    When `axon config --unset port` is run
    Then it exits with code 0
    And "config.yaml" in the state root has no line "port: 7300"
    And "config.yaml" in the state root has the line "  # A neighbour."
    When `axon config port` is run
    Then standard output names "7100"
    When `axon config --list` is run
    Then it exits with code 0
    And standard output names "kitchen"
    And standard output names "discovery.trust"

  @AXON-CLI-033 @cli
  Scenario Outline: What cannot be leaves the file as it was: <arguments>
    Given the configuration:
      """
      # The agent of the kitchen.
      name: kitchen
      """
    And the state root is noted
    When `axon config <arguments>` is run
    Then it exits with code 2
    And standard output is empty
    And the state root is as it was

    Examples:
      | arguments                  |
      | port many                  |
      | port 65536                 |
      | port 0                     |
      | prot 7100                  |
      | discovery.trust blindly    |
      | discovery.enabled perhaps  |
      | --unset prot               |

  @AXON-CLI-034 @cli
  Scenario: Nothing is wrong with a daemon that works
    Given a running daemon of its own
    And the state root is noted
    When `axon doctor` is run
    Then it exits with code 0
    And the state root is as it was

  @AXON-CLI-034 @cli
  Scenario Outline: The doctor names <what> and changes nothing
    Given "config.yaml" in the state root holds "port: «free port»"
    And "<file>" in the state root holds "<content>"
    And the state root is noted
    When `axon doctor` is run
    Then it exits with code 1
    And standard output names "<named>"
    And the state root is as it was

    Examples:
      | what                           | file             | content      | named            |
      | a key that is none             | identity.key     | no key       | identity.key     |
      | a configuration with a mistake | config.yaml      | prot: 7100   | prot             |
      | known peers that are damaged   | known_peers.json | {"version":1 | known_peers.json |

  @AXON-CLI-034 @AXON-CLI-035 @cli
  Scenario: Modes that let others in are named, and mended when asked for
    Given the configuration:
      """
      port: «free port»
      """
    And `axon identity` is run
    And it exits with code 0
    And "identity.key" in the state root gets the mode 0644
    And "." in the state root gets the mode 0755
    And the state root is noted
    When `axon doctor` is run
    Then it exits with code 1
    And the state root is as it was
    When `axon doctor --fix` is run
    Then it exits with code 0
    And "identity.key" in the state root has the mode 0600
    And "." in the state root has the mode 0700
    When `axon doctor` is run
    Then it exits with code 0

  @AXON-CLI-035 @cli
  Scenario Outline: Known peers that cannot be read are set aside when asked for: <what>
    Given the configuration:
      """
      port: «free port»
      """
    And `axon identity` is run
    And it exits with code 0
    And "known_peers.json" in the state root holds "<content>"
    And the state root is noted
    When `axon doctor --fix` is run
    Then it exits with code 0
    And what "known_peers.json" held is kept under a name with the time
    And "identity.key" in the state root is as it was
    When `axon doctor` is run
    Then it exits with code 0

    Examples:
      | what    | content                |
      | damaged | {"version":1,"peers":[ |
      | no JSON | hello                  |

  @AXON-CLI-036 @cli
  Scenario: A new identity, with the old key kept
    Given the configuration:
      """
      port: «free port»
      """
    And `axon identity` is run
    And it exits with code 0
    And the state root is noted
    When `axon doctor --rekey` is run
    Then it exits with code 0
    And what "identity.key" held is kept under a name with the time
    And "identity.key" in the state root is another than it was
    When `axon identity --addr 192.0.2.7:7100 --json` is run
    Then its agent_id derives from its public_key, and its token holds that key and "192.0.2.7:7100"

  @AXON-CLI-036 @cli
  Scenario: No new identity under a daemon that runs
    Given a running daemon of its own
    And the state root is noted
    When `axon doctor --rekey` is run
    Then it exits with a code other than 0
    And standard error says what is wrong and what to do next
    And the state root is as it was
    And the daemon is still there and served as before

  @AXON-CLI-037 @cli
  Scenario Outline: Completion for <shell>
    When `axon completion <shell>` is run
    Then it exits with code 0
    And standard output names "<word>"
    And standard output does not name "<other>"

    Examples:
      | shell | word             | other            |
      | bash  | complete -       | #compdef         |
      | zsh   | #compdef         | complete -c axon |
      | fish  | complete -c axon | #compdef         |

  @AXON-CLI-038 @cli
  Scenario: A shell is offered the peers where one is to be named
    Given a peer on this machine
    And a running daemon of its own with the configuration:
      """
      peers:
        - {name: alice, agent_id: «peer», pubkey: "«peer key»", addr: "«peer address»"}
      """
    And the program "notes":
      """
      not a peer
      """
    When bash completes `axon request `
    Then it offers "alice"
    And it does not offer "notes"
    When bash completes `axon forget ed25519.`
    Then it offers "«peer»"
    When bash completes `axon notify al`
    Then it offers "alice"

  @AXON-CLI-039 @cli
  Scenario: The version
    Given a running daemon
    And client A sends {"cmd":"whoami"}
    And client A gets a positive answer
    When `axon version` is run
    Then it exits with code 0
    And standard output tells the version that the daemon told

  @AXON-CLI-040 @cli
  Scenario Outline: The nearest that is known is named: <command>
    Given a running daemon
    When `axon <command>` is run
    Then it exits with code 2
    And standard error says "<nearest>"

    Examples:
      | command            | nearest |
      | reqest             | request |
      | dameon             | daemon  |
      | peers --jsno       | --json  |
      | completion fich    | fish    |

  @AXON-CLI-040 @cli
  Scenario: So is the nearest peer
    Given a peer on this machine
    And a running daemon of its own with the configuration:
      """
      peers:
        - {name: alice, agent_id: «peer», pubkey: "«peer key»", addr: "«peer address»"}
      """
    When `axon request alcie Hello` is run
    Then it exits with code 2
    And standard error says "alice"
    When `axon request somebody Hello` is run
    Then it exits with code 2
    And standard error does not say "alice"

  @AXON-CLI-040 @cli
  Scenario: Where nothing is near, nothing is named
    When `axon xyzzyx` is run
    Then it exits with code 2
    And standard error does not say "did you mean"
