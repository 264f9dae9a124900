Feature: The command line: serve and listen
  Any program becomes an agent by `serve`, and any script sees what comes in by
  `listen`.

  @AXON-CLI-020 @cli
  Scenario: A program answers requests
    Given a running daemon of its own
    And the program "answer":
      """
      /bin/cat > «folder»/asked
      printf '{"count": %d,\n "second": "%s"}\n' $# "$2"
      """
    And `axon serve --command '/bin/sh «folder»/answer one "two words"'` is running
    When the probe sends a request with the payload {"question":"¿qué?","n":12345678901234567890}
    Then the reply is a response with the payload {"count":2,"second":"two words"}
    And the file "asked" holds the request's envelope, with from
    When the probe sends a request with the payload {"again":true}
    Then the reply is a response with the payload {"count":2,"second":"two words"}
    And the file "asked" holds the request's envelope, with from

  @AXON-CLI-021 @cli
  Scenario Outline: A program that exits with code <code> declines
    Given a running daemon of its own
    And the program "decline":
      """
      echo '{"never":"seen"}'
      exit <code>
      """
    And `axon serve --command '/bin/sh «folder»/decline'` is running
    When the probe sends a request
    Then the reply is the default error in every respect

    Examples:
      | code |
      | 1    |
      | 3    |

  @AXON-CLI-022 @cli
  Scenario: So many programs run at once as are allowed, and no more
    Given a running daemon of its own
    And the program "hold":
      """
      echo start >> «folder»/log
      while [ -d «folder» ] && [ ! -e «folder»/go ]; do /bin/sleep 0.01; done
      echo end >> «folder»/log
      echo '{}'
      """
    And `axon serve --concurrency 2 --command '/bin/sh «folder»/hold'` is running
    When the probe sends 5 envelopes of kind request
    Then 2 lines of the file "log" are "start"
    When `axon status` is run
    Then it exits with code 0
    And 2 lines of the file "log" are "start"
    When the file "go" is made
    Then 5 lines of the file "log" are "end"
    And no more than 2 programs ran at once, as the file "log" tells

  @AXON-CLI-023 @cli
  Scenario: A program is ended with its children when its requester gives up
    Given a running daemon of its own
    And the program "hang":
      """
      /bin/sleep 20 &
      echo $! >> «folder»/pids
      echo $$ >> «folder»/pids
      wait
      """
    And `axon serve --command '/bin/sh «folder»/hang'` is running
    When the probe sends a request
    Then the file "pids" has 2 lines
    When the probe resets its side and gives up waiting
    Then the processes that the file "pids" names end

  @AXON-CLI-023 @cli
  Scenario: A program is ended with its children when its time is over
    Given a running daemon of its own
    And the program "hang":
      """
      /bin/sleep 20 &
      echo $! >> «folder»/pids
      echo $$ >> «folder»/pids
      wait
      """
    And `axon serve --timeout 1 --command '/bin/sh «folder»/hang'` is running
    When the probe sends a request
    Then the file "pids" has 2 lines
    And the reply is an error
    And the processes that the file "pids" names end

  @AXON-CLI-024 @cli
  Scenario: An echo
    Given a running daemon of its own
    And `axon serve --echo` is running
    When the probe sends a request with the payload {"n":12345678901234567890,"text":"¿qué?","deep":[{"x":null}]}
    Then the reply is a response with the payload {"n":12345678901234567890,"text":"¿qué?","deep":[{"x":null}]}
    When the probe sends a request with the payload {}
    Then the reply is a response with the payload {}

  @AXON-CLI-025 @AXON-LEARN-006 @cli
  Scenario: With --json, what comes in is printed as the events of the local API
    Given a running daemon of its own
    And client A is connected
    And `axon listen --json` is running
    When the probe sends a message with the payload {"n":12345678901234567890}
    Then client A is shown the event "inbound"
    And it has printed 1 line
    When the probe sends an envelope of kind "later" on a unidirectional stream
    Then client A is shown the event "inbound"
    And it has printed 2 lines
    When the probe sends on a unidirectional stream:
      """
      {"id":"«id»","kind":"error","payload":{"code":"gone","message":"one\ntwo","retryable":false}}
      """
    Then client A is shown the event "inbound"
    And it has printed 3 lines
    When the probe sends a message
    Then client A is shown the event "inbound"
    And it has printed 4 lines
    And its lines are the events that client A was shown

  @AXON-CLI-025 @cli
  Scenario: Without it, each is one line, printed at once
    Given a running daemon of its own
    And `axon listen` is running
    When the probe sends a message with the payload {"text":"one\ntwo"}
    Then it has printed 1 line
    And its 1st line names "message"
    When the probe sends an envelope of kind "later" on a unidirectional stream
    Then it has printed 2 lines
    And its 2nd line names "later"
    When the probe sends on a unidirectional stream:
      """
      {"id":"«id»","kind":"error","payload":{"code":"gone","message":"it is gone","retryable":false}}
      """
    Then it has printed 3 lines
    And its 3rd line names "gone"

  @AXON-CLI-026 @cli
  Scenario: Only the kind that is asked for is printed, and counted
    Given a running daemon of its own
    And client A is connected
    And `axon listen --json --kind later --count 2` is running
    When the probe sends a message
    Then client A is shown the event "inbound"
    When the probe sends an envelope of kind "later" on a unidirectional stream
    Then client A is shown the event "inbound"
    And it has printed 1 line
    When the probe sends a message
    Then client A is shown the event "inbound"
    When the probe sends an envelope of kind "later" on a unidirectional stream
    Then it exits with code 0
    And it has printed 2 lines
    And its 1st line names "later"
    And its 2nd line names "later"

  @AXON-CLI-026 @cli
  Scenario: The time is over, with and without a number that did not come
    Given a running daemon of its own
    When `axon listen --timeout 1` is run
    And `axon listen --timeout 1 --count 1` is run
    Then the first command exits with code 0
    And the first command took between 1 and 4 seconds
    And the second command exits with code 3
    And the second command took between 1 and 4 seconds
