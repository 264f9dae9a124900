//go:build unix

package driver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// playArgument makes the test binary play a driver; the next argument says how it
// goes wrong.
const playArgument = "play-the-driver"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == playArgument {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	goleak.VerifyTestMain(m)
}

// fake is a driver for a target that does not exist.
type fake struct {
	how  string
	args []string
	held []string // answers that wait
}

// told is a command of the suite.
type told struct {
	Command   string `json:"command"`
	Number    int    `json:"number"`
	Kind      string `json:"kind"`
	Mode      string `json:"mode"`
	RequestID string `json:"request_id"`
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// manyEvents come one after the other.
const manyEvents = 500

const (
	welcome = `,"version":1,"capabilities":["enroll","drive","handle","observe","restart"],"implementation":{"name":"fake","version":"0.1"},"target":{"address":"127.0.0.1:7100"}`
	anyone  = "ed25519.00000000000000000000000000000000"
	inbound = `{"event":"inbound","from":"` + anyone + `","to":"` + anyone + `","envelope":{"id":"a","kind":"message","payload":{"n":1e400}}}`
	request = `{"event":"request","request_id":"r1","from":"` + anyone + `","envelope":{"id":"a","kind":"request","payload":{}}}`
)

func play(how string, args []string) int {
	f := &fake{how: how, args: args}
	switch how {
	case "dies at once":
		fmt.Fprintln(os.Stderr, "cannot find my configuration")
		return 7
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "leaves a child", "child outlives it":
		child := exec.Command("sleep", "600")
		if err := child.Start(); err != nil {
			panic(err)
		}
		if err := os.WriteFile(args[0], []byte(fmt.Sprint(child.Process.Pid)), 0o600); err != nil {
			panic(err)
		}
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, MaxLine)
	for lines.Scan() {
		var c told
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		if code, end := f.take(c); end {
			return code
		}
	}
	if how == "stubborn" {
		time.Sleep(time.Hour) // ended by the one who started it
	}
	return 0
}

// take carries out a command, well or badly.
func (f *fake) take(c told) (code int, end bool) {
	answer := fmt.Sprintf(`{"answer":"%s","number":%d`, c.Command, c.Number)
	refuse := func(code string) string {
		return answer + `,"error":{"code":"` + code + `","message":"as it is"}}`
	}
	switch known := strings.Contains(" hello enroll send serve unserve restart stop ", " "+c.Command+" "); {
	case c.Command == "hello":
		f.hello(c, answer)
	case !known && f.how == "yes to all":
		say("%s}", answer)
	case !known && f.how == "no, but wrongly":
		say("%s", refuse("what"))
	case !known:
		say("%s", refuse("unsupported"))
	case c.Command == "stop":
		say("%s}", answer)
		return 0, f.how != "stubborn"
	case f.how == "dies on "+c.Command:
		fmt.Fprintln(os.Stderr, "a pointer was null")
		return 3, true
	case f.how == "hangs on "+c.Command:
	case f.how == "stops for good on "+c.Command:
		time.Sleep(time.Hour) // ended by the one who started it
	case f.how == "claims too much":
		say("%s", refuse("unsupported"))
	case f.how == "fails":
		say("%s", refuse("driver_failed"))
	case f.how == "another name":
		say(`{"answer":"restart","number":%d}`, c.Number)
	case f.how == "another number":
		say(`{"answer":"%s","number":%d}`, c.Command, c.Number+1000)
	case f.how == "answers twice":
		say("%s}", answer)
		say("%s}", answer)
	case f.how == "a member too many":
		say(`%s,"reply":{}}`, answer)
	case f.how == "other order":
		if f.held = append(f.held, answer+"}"); len(f.held) == 4 {
			for i := range f.held {
				say("%s", f.held[3-i])
			}
			f.held = nil
		}
	case c.Command == "send" && f.how == "refuses":
		say("%s", refuse("peer_not_found"))
	case c.Command == "send" && c.Kind == "request" && f.how != "forgets the response":
		say(`%s,"id":"x","response":{"id":"y","kind":"response","payload":{"n":1e400,"n":-0}}}`, answer)
	case c.Command == "send" && c.Kind == "message" && f.how == "invents a response":
		say(`%s,"response":{"kind":"response","payload":{}}}`, answer)
	case c.Command == "serve" && c.RequestID != "":
		if c.RequestID != "r1" {
			say("%s", refuse("request_not_found"))
			break
		}
		say("%s}", answer)
	case c.Command == "serve":
		say("%s}", answer)
		say("%s", request)
	case c.Command == "enroll":
		f.show()
		say("%s}", answer)
	default:
		say("%s}", answer)
	}
	return 0, false
}

func (f *fake) hello(c told, answer string) {
	switch f.how {
	case "hangs at hello":
	case "another version":
		say("%s", strings.Replace(answer+welcome, `"version":1`, `"version":2`, 1)+"}")
	case "no name":
		say(`%s,"version":1,"capabilities":[]}`, answer)
	case "unknown capability":
		say(`%s,"version":1,"capabilities":["handler"],"implementation":{"name":"fake","version":""}}`, answer)
	case "claims nothing":
		say(`%s,"version":1,"capabilities":[],"implementation":{"name":"fake","version":""}}`, answer)
	case "refuses hello":
		say(`%s,"error":{"code":"driver_failed","message":"no daemon"}}`, answer)
	case "greets first":
		say("Welcome to the driver!")
		say("%s%s}", answer, welcome)
	default:
		say("%s%s}", answer, welcome)
	}
	if f.how == "talks to itself" {
		fmt.Fprintln(os.Stderr, "hello was asked")
	}
}

// show shows an inbound event, when a peer is enrolled.
func (f *fake) show() {
	switch f.how {
	case "shows nothing":
	case "noise":
		say("debug: enrolling")
		say("%s", inbound)
	case "noise with braces":
		say(`{"level":"debug"}`)
		say("%s", inbound)
	case "broken event":
		say("%s", strings.Replace(inbound, `"to"`, `"too"`, 1))
	case "torn event":
		say("%s", inbound[:50])
	case "long line":
		say("{%s}", strings.Repeat("x", 2*MaxLine))
		say("%s", inbound)
	case "many":
		for range manyEvents {
			say("%s", inbound)
		}
	case "flood":
		_, _ = os.Stdout.WriteString(strings.Repeat(inbound+"\n", maxEvents+500))
	default:
		say("%s", inbound)
	}
}
