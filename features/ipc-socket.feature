Feature: The local API: socket and clients
  Programs of the same user talk to the daemon over a Unix socket.

  @AXON-IPC-001 @AXON-IPC-002 @drive
  Scenario: The socket's name and mode
    Then the socket is named "axon.sock" and has the mode 0600

  @AXON-IPC-003 @drive
  Scenario: A program of another user is not served, though it gets past the mode
    When client A is connected
    And a program of another user sends {"cmd":"whoami"}
    Then the program of another user gets no positive answer and no event

  @AXON-IPC-004 @drive @alone @heavy
  Scenario: 64 clients are served at the same time
    When 64 local clients are connected
    Then each of them is served

  @AXON-IPC-005 @drive @alone @heavy
  Scenario: A client beyond the 64th is turned away, and the next is served once there is room
    When 64 local clients are connected
    Then a further client gets one error line that says so and its connection is closed
    And each of them is served
    And when one of them leaves the next client is served
    And a further client gets one error line that says so and its connection is closed

  @AXON-IPC-006 @drive
  Scenario: Clients that say nothing, say half a line, or leave in the middle of one delay nobody
    When a local client connects and says nothing
    And client A writes {"cmd":"sta without a newline
    And client B writes { without a newline
    And client B leaves
    And client C is connected
    And client C leaves
    Then client D is still served
    When client A writes tus"} without a newline
    And client A ends its line
    Then client A gets a positive answer

  @AXON-IPC-006 @drive @alone @heavy
  Scenario: Clients that left in the middle of a line take no place
    When 100 local clients connect, write half a line and leave
    And 64 local clients are connected
    Then each of them is served
