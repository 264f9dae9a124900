Feature: Payloads and error payloads
  A payload is the application's own. Any JSON object is taken.

  @AXON-PAY-001 @handle
  Scenario Outline: A payload passes through to the handler and back unchanged: <what>
    Given an application handler is registered in the target
    And a connection to the target
    When the probe sends a request with the payload <payload>
    Then the handler is given that request
    When the handler gives the same payload back
    Then the reply is a response that carries what was sent

    Examples:
      | what                   | payload                                              |
      | integers beyond 2^53   | {"n":[9007199254740993,-18446744073709551617]}       |
      | 1e400                  | {"n":[1e400,-1e400,1e-400]}                          |
      | minus zero, 1.0        | {"n":[-0,-0.0,1.0,1.50,0.1e1]}                       |
      | many decimals          | {"n":3.14159265358979323846264338327950288419716939} |
      | escapes                | {"t":"\" \\\\ \/ \b \f \r \t \u0000 \u001f \u007f"} |
      | non-ASCII              | {"t":"é😀 наука 科学 العلم\u2028","é":1}             |
      | lone surrogates        | {"t":"a\ud800b","\udc00":"\udfff\ud800"}         |
      | empty names            | {"":{"":{"":null}}}                                  |
      | one name twice         | {"a":1,"a":2}                                        |
      | 100 levels deep        | {"a":«99 times [»1«99 times ]»}                      |
      | the envelope's names   | {"id":"x","kind":"y","payload":7,"ref":[],"from":1}  |
      | 60 KiB                 | {"t":"«30000 times é»"}                              |
      | terminal escapes       | {"t":"\u001b[31mred\u001b[0m\u0007"}              |

  @AXON-PAY-001 @observe
  Scenario Outline: A message's payload is delivered unchanged: <what>
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends a message with the payload <payload>
    Then the local client is shown it, from the probe, with its kind and payload unchanged
    When the probe sends a message
    Then the local client is shown it

    Examples:
      | what                          | payload                                            |
      | integers beyond 2^53          | {"n":[9007199254740993,-18446744073709551617]}     |
      | 1e400, minus zero, 1.0        | {"n":[1e400,-0,1.0]}                               |
      | lone surrogates               | {"t":"a\ud800b"}                                  |
      | one name twice                | {"a":1,"a":2}                                      |
      | 100 levels deep               | {"a":«99 times [»1«99 times ]»}                    |
      | a rune across the 256th byte  | {"t":"«170 times a»«60 times é»"}                  |
      | the same, one byte on         | {"t":"«171 times a»«60 times é»"}                  |
      | a rune of four bytes there    | {"t":"«169 times a»«40 times 😀»"}                  |
      | close to 64 KiB               | {"t":"«65000 times x»"}                            |
      | close to 64 KiB of escapes    | {"t":"«10800 times \u0001»"}                      |
      | terminal escapes              | {"t":"\u001b[31mred\u001b[0m\u0007"}            |

  @AXON-PAY-002
  Scenario Outline: <what> as a payload is accepted
    Given a connection to the target
    When the probe sends a request with the payload <payload>
    Then it is accepted
    And the reply's ref is the request's id

    Examples:
      | what                       | payload                                                        |
      | an empty object            | {}                                                             |
      | an object 100 levels deep  | «100 times {"a":»{}«100 times }»                           |
      | arrays 100 levels deep     | {"a":«99 times [»«99 times ]»}                             |
      | one name twice             | {"a":1,"a":2,"a":{"a":3,"a":4}}                                |
      | the envelope's own names   | {"id":1,"id":2,"kind":null,"payload":[],"ref":"x"}             |
      | an empty name              | {"":"","":1}                                                   |
      | a lone high surrogate      | {"text":"\ud800"}                                              |
      | a lone low surrogate       | {"text":"\udfff","\udc00":1}                                   |
      | surrogates the wrong way   | {"text":"\udc00\ud800"}                                        |
      | a pair of surrogates       | {"text":"\ud83d\ude00"}                                        |
      | an escaped NUL             | {"text":"a\u0000b","\u0000":0}                                 |
      | every short escape         | {"text":"\" \\\\ \/ \b \f \r \t"}                              |
      | text of four bytes a rune  | {"text":"😀 наука 科学 العلم"}                                  |
      | an integer beyond 2^53     | {"n":9007199254740993}                                         |
      | an integer beyond 2^64     | {"n":18446744073709551617}                                     |
      | an integer of 400 digits   | {"n":1«400 times 0»}                                         |
      | 1e400                      | {"n":1e400}                                                    |
      | -1e400 and 1e-400          | {"n":[-1e400,1e-400,1E+400]}                                   |
      | minus zero                 | {"n":[-0,-0.0,0e0]}                                            |
      | many decimals              | {"n":0.«200 times 3»}                                        |
      | null, true and false       | {"a":null,"b":true,"c":false}                                  |
      | an array of 1,000 numbers  | {"a":[«999 times 1,»1]}                                      |
      | 1,000 members              | «hex 7b»«999 times "m":1,»"last":1«hex 7d»               |
      | a text of 60 KiB           | {"text":"«61000 times x»"}                                   |
      | 60 KiB of small objects    | {"a":[«6000 times {"":0},»{}]}                               |
      | 60 KiB of escapes          | {"text":"«10000 times \u00e9»"}                              |

  @AXON-PAY-002
  Scenario Outline: A payload of characters of four bytes each is accepted, wherever a log may cut it: <offset> bytes on
    Given a connection to the target
    When the probe sends a request with the payload {"t":"«<offset> times a»«1500 times 😀»"}
    Then it is accepted
    When the probe sends a message with the payload {"t":"«<offset> times a»«1500 times 😀»"}
    Then the connection survives

    Examples:
      | offset |
      | 0      |
      | 1      |
      | 2      |
      | 3      |

  @AXON-PAY-002
  Scenario: Payloads of every sort are accepted in any order on one connection
    Given a connection to the target
    When requests with payloads of every sort are sent in a mixed order on one connection
    Then every one of them is accepted

  @AXON-PAY-003
  Scenario Outline: Members that nobody knows change nothing: <payload>
    Given a connection to the target
    When the probe sends a request with the payload <payload>
    Then it is accepted
    And it is treated as any other request
    And the reply's ref is the request's id

    Examples:
      | payload                                                              |
      | {"unheard_of":1,"x-later":{"deep":[1,2,3]}}                          |
      | {"__proto__":{"a":1},"constructor":null,"$ref":"#"}                  |
      | {"version":99,"type":"hello","cmd":"shutdown","reply":false}         |
      | {"from":"ed25519.0","to":"ed25519.1","v":2,"ts":"yesterday"}         |

  @AXON-PAY-004
  Scenario Outline: An envelope that is not valid JSON is not accepted: <what>
    Given a connection to the target
    When the probe sends <bytes> as the bytes of a bidirectional stream
    Then it is not accepted

    Examples:
      | what                        | bytes                                                             |
      | a comma too many            | {"id":"«id»","kind":"request","payload":{},}                    |
      | a comma too many inside     | {"id":"«id»","kind":"request","payload":{"a":[1,]}}             |
      | a comma missing             | {"id":"«id»" "kind":"request","payload":{}}                     |
      | names without quotes        | {id:"«id»",kind:"request",payload:{}}                           |
      | single quotes               | {'id':'«id»','kind':'request','payload':{}}                     |
      | a comment                   | {"id":"«id»",/* hi */"kind":"request","payload":{}}             |
      | a brace missing             | {"id":"«id»","kind":"request","payload":{}                      |
      | a brace too many            | {"id":"«id»","kind":"request","payload":{}}}                    |
      | NaN                         | {"id":"«id»","kind":"request","payload":{"n":NaN}}              |
      | Infinity                    | {"id":"«id»","kind":"request","payload":{"n":Infinity}}         |
      | a leading zero              | {"id":"«id»","kind":"request","payload":{"n":01}}               |
      | a leading plus              | {"id":"«id»","kind":"request","payload":{"n":+1}}               |
      | a bare point                | {"id":"«id»","kind":"request","payload":{"n":1.}}               |
      | a hexadecimal number        | {"id":"«id»","kind":"request","payload":{"n":0x10}}             |
      | True                        | {"id":"«id»","kind":"request","payload":{"b":True}}             |
      | an unknown escape           | {"id":"«id»","kind":"request","payload":{"t":"\x41"}}           |
      | a short unicode escape      | {"id":"«id»","kind":"request","payload":{"t":"\u12"}}           |
      | a raw line feed in a text   | {"id":"«id»","kind":"request","payload":{"t":"a«hex 0a»b"}}   |
      | a raw tab in a text         | {"id":"«id»","kind":"request","payload":{"t":"a«hex 09»b"}}   |
      | an open text                | {"id":"«id»","kind":"request","payload":{"t":"abc}}             |
      | words                       | please do something for me                                        |
      | a form                      | id=«id»&kind=request                                            |
      | YAML                        | id: «id»«hex 0a»kind: request«hex 0a»payload: {}            |
      | an HTTP request             | POST / HTTP/1.1«hex 0d 0a 0d 0a»«request»                     |
      | a length before it          | «hex 00 00 00 68»«request»                                    |
      | no-break space around it    | «hex c2 a0»«request»«hex c2 a0»                             |
      | a form feed before it       | «hex 0c»«request»                                             |

  @AXON-PAY-004 @observe
  Scenario Outline: A message that is not valid JSON is not delivered: <what>
    Given a local client of the target is watching
    And a connection to the target
    When the probe sends <bytes> as the bytes of a unidirectional stream
    Then the local client is not shown it

    Examples:
      | what                    | bytes                                                          |
      | a comma too many        | {"id":"«id»","kind":"message","payload":{},}                   |
      | a brace missing         | {"id":"«id»","kind":"message","payload":{}                     |
      | invalid UTF-8           | {"id":"«id»","kind":"message","payload":{"t":"«hex ff»"}}      |
      | a second object         | «message»{"id":"«other id»","kind":"message","payload":{}}     |
      | a byte order mark       | «hex ef bb bf»«message»                                        |

  @AXON-PAY-005
  Scenario Outline: The domain is not enforced: <payload>
    Given a connection to the target
    When the probe sends a request with the payload <payload>
    Then it is accepted
    And it is treated as any other request

    Examples:
      | payload                                    |
      | {"question":"no domain at all"}            |
      | {"domain":"family.calendar"}               |
      | {"domain":"nobody.knows.this.one"}         |
      | {"domain":"no dots, but spaces & signs!"}  |
      | {"domain":"..."}                           |
      | {"domain":""}                              |
      | {"domain":"«5000 times d.»"}             |
      | {"domain":null}                            |
      | {"domain":7}                               |
      | {"domain":true}                            |
      | {"domain":["family","work"]}               |
      | {"domain":{"name":"family"}}               |

  @AXON-PAY-006 @handle
  Scenario Outline: Whether a payload comes through byte for byte: <payload>
    Given an application handler is registered in the target
    And a connection to the target
    When the probe sends a request with the payload <payload>
    Then the handler is given that request
    When the handler gives the same payload back
    Then whether the payload came through byte for byte is noted

    Examples:
      | payload                                        |
      | {"b":1,"a":[1.0,1e2,-0]}                       |
      | {"t":"\u00e9\/","n":12345678901234567890}    |

  @AXON-ERRPAY-001
  Scenario: The payload of an error that the target makes has the usual shape
    Given a connection to the target
    When the probe sends an envelope of kind "future" on a bidirectional stream
    Then the error's payload has code, message and retryable of the right types

  @AXON-ERRPAY-001 @AXON-ERRPAY-002 @AXON-ERRPAY-004
  Scenario Outline: An error for <what> keeps to the custom
    Given a connection to the target
    When the probe sends <bytes> as the bytes of a bidirectional stream
    Then an error that comes back keeps to the custom

    Examples:
      | what              | bytes                                                                               |
      | a nil id          | {"id":"00000000-0000-0000-0000-000000000000","kind":"request","payload":{}}         |
      | an older id       | {"id":"«id of version 1»","kind":"request","payload":{}}                            |
      | a text as payload | {"id":"«id»","kind":"request","payload":"text"}                                     |
      | no payload        | {"id":"«id»","kind":"request"}                                                      |
      | a message         | «message»                                                                           |
      | a response        | {"id":"«id»","kind":"response","payload":{},"ref":"«other id»"}                     |
      | an odd ref        | {"id":"«id»","kind":"request","payload":{},"ref":"not a uuid"}                      |
      | too many bytes    | {"id":"«id»","kind":"request","payload":{"t":"«y to 70,000 bytes»"}}                |
      | half an object    | {"id":"«id»","kind":"request"                                                       |

  @AXON-ERRPAY-001 @whole-run
  Scenario: Every error that the target made in the run had the usual shape
    Given a connection to the target
    When the probe sends an envelope of kind "future" on a bidirectional stream
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-ERRPAY-002
  Scenario: The code of an error that the target makes is in snake_case
    Given a connection to the target
    When the probe sends an envelope of kind "future" on a bidirectional stream
    Then the error's code is in snake_case

  @AXON-ERRPAY-002 @whole-run
  Scenario: Every error code of the run was in snake_case
    Given a connection to the target
    When the probe sends an envelope of kind "future" on a bidirectional stream
    Then it is answered
    And it held for everything that the target sent in this run

  @AXON-ERRPAY-003 @drive
  Scenario: An application's own error passes through to the target's caller
    Given a peer that the target knows
    When the target is asked to send it a request
    Then the peer receives a request on a bidirectional stream
    When the peer answers by an error with the payload {"code":"Calendar-Full","reason":{"week":7},"retryable":"maybe"}
    Then the caller is given that error, its payload unchanged

  @AXON-ERRPAY-003 @handle
  Scenario: The target's application may answer by an error of its own
    Given an application handler is registered in the target
    And a connection to the target
    When the probe sends a request
    Then the handler is given that request
    When the handler answers by an error with the payload {"code":"Calendar-Full","reason":{"week":7},"retryable":"maybe"}
    Then the reply is an error with the payload {"code":"Calendar-Full","reason":{"week":7},"retryable":"maybe"}

  @AXON-ERRPAY-004
  Scenario: The message of an error that the target makes explains
    Given a connection to the target
    When the probe sends an envelope of kind "future" on a bidirectional stream
    Then the error's message explains

  @AXON-ERRPAY-004 @whole-run
  Scenario: Every error message of the run explained
    Given a connection to the target
    When the probe sends an envelope of kind "future" on a bidirectional stream
    Then it is answered
    And it held for everything that the target sent in this run
