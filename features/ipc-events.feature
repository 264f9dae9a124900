Feature: The local API: events

  @AXON-IPC-068 @AXON-IPC-069 @AXON-IPC-070 @observe
  Scenario Outline: Every client is shown <what>, once
    Given a connection to the target
    When client A is connected
    And client B is connected
    And the probe sends {"id":"«id»",<sent>} as the bytes of a unidirectional stream
    Then client A is shown the event "inbound"
    And the line's "from" is "«my agent id»"
    And the line's "envelope" is {"id":"«sent id»","from":"«my agent id»","to":"«target»",<shown>}
    And client B is shown the event "inbound"
    And the line's "from" is "«my agent id»"
    And the line's "envelope" is {"id":"«sent id»","from":"«my agent id»","to":"«target»",<shown>}
    And client A is shown no further event "inbound"
    And client B is shown no further event "inbound"

    Examples:
      | what            | sent | shown |
      | a message       | "kind":"message","payload":{"a":[1,null,"é"]} | "kind":"message","payload":{"a":[1,null,"é"]} |
      | an error        | "kind":"error","payload":{"code":"x"} | "kind":"error","payload":{"code":"x"} |
      | an unknown kind | "kind":"Later","payload":{} | "kind":"Later","payload":{} |
      | a ref           | "kind":"message","payload":{},"ref":"5b1f0c3a-6a59-4e0d-9a52-0f8c1f6a7e11" | "kind":"message","payload":{},"ref":"5b1f0c3a-6a59-4e0d-9a52-0f8c1f6a7e11" |
      | further members | "kind":"message","payload":{},"ts":1,"v":[],"event":"x" | "kind":"message","payload":{} |
      | another from    | "kind":"message","payload":{},"from":"somebody","to":null | "kind":"message","payload":{} |

  @AXON-IPC-071 @observe
  Scenario Outline: An envelope of 65,536 bytes is shown whole: <what>
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends {"id":"«id»","kind":"message","payload":{"t":"<filling>"}} as the bytes of a unidirectional stream
    Then the local client is shown it, from the probe, with its kind and payload unchanged

    Examples:
      | what              | filling                  |
      | letters           | «x to 65,536 bytes»    |
      | escapes           | «\u0001 to 65,536 bytes» |
      | quotes            | «\" to 65,536 bytes»   |
      | many bytes each   | «😀 to 65,536 bytes»     |

  @AXON-IPC-072 @observe
  Scenario Outline: A payload of 300 bytes with a character across the 256th is shown, and so is the next: <what>
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends a message with the payload {"t":"<text>"}
    Then the local client is shown it, from the probe, with its kind and payload unchanged
    When the probe sends a message
    Then the local client is shown it

    Examples:
      | what                       | text                         |
      | its second byte, of four   | «248 times a»«11 times 😀» |
      | its third byte, of four    | «247 times a»«11 times 😀» |
      | its fourth byte, of four   | «246 times a»«11 times 😀» |
      | its first byte, of four    | «249 times a»«11 times 😀» |
      | its second byte, of two    | «248 times a»«22 times é»  |
      | its second byte, of three  | «248 times a»«15 times €»  |
      | its third byte, of three   | «247 times a»«15 times €»  |

  @AXON-IPC-073 @AXON-IPC-074 @observe @heavy
  Scenario: A client that never reads is dropped, and the others are shown everything
    Given a connection to the target
    When client A is connected
    And client B is connected
    And a local client connects and never reads
    And the probe sends 2,400 numbered messages of 2,000 bytes, 400 at a time, and client A and client B are shown each of them once
    Then the one that never reads is disconnected by the target, and missed nothing before that
    When the probe sends a message
    Then client A is shown the event "inbound"
    And client B is shown the event "inbound"

  @AXON-IPC-074 @observe
  Scenario: Delivery goes on after a client has left
    Given a connection to the target
    When client A is connected
    And client B is connected
    And client C writes {"cmd":"sta without a newline
    And client C leaves
    And client B leaves
    And the probe sends a message
    Then client A is shown the event "inbound"
    When client B is connected
    And the probe sends a message
    Then client A is shown the event "inbound"
    And client B is shown the event "inbound"

  @AXON-IPC-075 @observe
  Scenario: A client is shown nothing of what came before it connected
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends a message
    Then the local client is shown it
    When client A is connected
    Then client A is shown no event "inbound"

  @AXON-IPC-075 @observe @handle
  Scenario: Requests are no events for those who only watch
    Given a connection to the target
    When client B is connected
    And client A takes the lease
    And the probe sends a request
    Then client A is shown the event "request"
    And client B is shown no event "request"
    And client B is shown no event "inbound"

  @AXON-IPC-075 @observe
  Scenario: Without a handler a request is an event for nobody
    Given a connection to the target
    When client A is connected
    And the probe sends a request
    Then it is answered
    And client A is shown no event "request"
    And client A is shown no event "inbound"
