package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/axonproto/axon/conformance/verdict"
)

// element is what the common JUnit XML form allows of an element: which attributes
// (those with a mark of interrogation may be missing) with which values, and which
// elements inside, in this order.
type element struct {
	attributes map[string]*regexp.Regexp
	children   []string
	// many are children that may stand more than once.
	many []string
	// one are children of which at most one kind may be there.
	one  []string
	text bool
}

var (
	anyText  = regexp.MustCompile(`(?s)^.*$`)
	someText = regexp.MustCompile(`(?s)^.+$`)
	number   = regexp.MustCompile(`^[0-9]+$`)
	decimal  = regexp.MustCompile(`^[0-9]+\.[0-9]{3}$`)
	stamp    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`)
)

// form is the part of JUnit XML on which its readers agree.
var form = map[string]element{
	"testsuites": {
		attributes: map[string]*regexp.Regexp{"name": someText, "tests": number, "failures": number, "errors": number, "skipped": number, "time": decimal},
		children:   []string{"testsuite"}, many: []string{"testsuite"},
	},
	"testsuite": {
		attributes: map[string]*regexp.Regexp{"name": someText, "tests": number, "failures": number, "errors": number, "skipped": number, "time": decimal, "timestamp": stamp},
		children:   []string{"properties", "testcase"}, many: []string{"testcase"},
	},
	"properties": {children: []string{"property"}, many: []string{"property"}},
	"property":   {attributes: map[string]*regexp.Regexp{"name": someText, "value": anyText}},
	"testcase": {
		attributes: map[string]*regexp.Regexp{"name": someText, "classname": someText, "file?": someText, "line?": number, "time": decimal},
		children:   []string{"skipped", "failure", "error", "system-out"}, one: []string{"skipped", "failure", "error"},
	},
	"skipped":    {attributes: map[string]*regexp.Regexp{"message": someText}},
	"failure":    {attributes: map[string]*regexp.Regexp{"message": someText, "type": someText}, text: true},
	"error":      {attributes: map[string]*regexp.Regexp{"message": someText, "type": someText}, text: true},
	"system-out": {text: true},
}

// node is an element as it stands.
type node struct {
	name       string
	attributes map[string]string
	children   []*node
	text       string
}

// parseXML reads a document strictly.
func parseXML(text []byte) (*node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(text))
	root := &node{}
	stack := []*node{root}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		top := stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name.Local, attributes: map[string]string{}}
			for _, a := range token.Attr {
				if _, twice := n.attributes[a.Name.Local]; twice {
					return nil, fmt.Errorf("%s has %s twice", n.name, a.Name.Local)
				}
				n.attributes[a.Name.Local] = a.Value
			}
			top.children = append(top.children, n)
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(token)
		}
	}
	if len(root.children) != 1 || root.children[0].name != "testsuites" {
		return nil, errors.New("the document is not one testsuites")
	}
	return root.children[0], nil
}

// check complains of all that the form does not allow.
func (n *node) check(complain func(string, ...any)) {
	e, known := form[n.name]
	if !known {
		complain("<%s> is not part of the form", n.name)
		return
	}
	for name, value := range n.attributes {
		want := e.attributes[name]
		if want == nil {
			want = e.attributes[name+"?"]
		}
		if want == nil {
			complain("<%s> has an attribute %s", n.name, name)
		} else if !want.MatchString(value) {
			complain("<%s %s=%q>", n.name, name, value)
		}
	}
	for name := range e.attributes {
		if _, there := n.attributes[name]; !there && !strings.HasSuffix(name, "?") {
			complain("<%s> lacks %s", n.name, name)
		}
	}
	if !e.text && strings.TrimSpace(n.text) != "" {
		complain("<%s> holds text: %q", n.name, n.text)
	}
	last, exclusive, seen := 0, 0, map[string]int{}
	for _, child := range n.children {
		at := slices.Index(e.children, child.name)
		if at < last {
			complain("<%s> is not allowed at its place in <%s>", child.name, n.name)
		}
		last = max(at, last)
		if seen[child.name]++; seen[child.name] > 1 && !slices.Contains(e.many, child.name) {
			complain("<%s> stands twice in <%s>", child.name, n.name)
		}
		if slices.Contains(e.one, child.name) {
			exclusive++
		}
		child.check(complain)
	}
	if exclusive > 1 {
		complain("a <%s> has two outcomes", n.name)
	}
}

func (n *node) all(name string) (found []*node) {
	for _, c := range n.children {
		if c.name == name {
			found = append(found, c)
		}
		found = append(found, c.all(name)...)
	}
	return found
}

// TestJUnitForm: what is written is what readers of JUnit XML know, and its numbers
// are those of its cases.
func TestJUnitForm(t *testing.T) {
	evil := sample()
	for i := range evil.Requirements {
		for k := range evil.Requirements[i].Scenarios {
			s := &evil.Requirements[i].Scenarios[k]
			s.Name += "\x00\x1b]]>&<\"'\ufffe\xff\r\n"
			s.Reason, s.Actual = s.Name, s.Name
		}
	}
	known := expectedFailures()
	known.Baseline.Problems = []BaselineProblem{{Kind: EntryPasses, Entry: "AXON-ENV-003", Line: 4, Text: "it passes"}}
	strict := sample()
	strict.Strict = true
	dead := failingReport(t)
	for i := range dead.Requirements {
		for k := range dead.Requirements[i].Scenarios {
			dead.Requirements[i].Scenarios[k] = Scenario{Name: "n", Location: fmt.Sprintf("a.feature:%d", 100*i+k+1), Verdict: verdict.CouldNotRun}
		}
	}
	for name, r := range map[string]Report{"sample": sample(), "good": good(), "failing": failingReport(t), "evil": evil, "known": known, "strict": strict, "dead": dead, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteJUnit(&b, r); err != nil {
				t.Fatal(err)
			}
			root, err := parseXML(b.Bytes())
			if err != nil {
				t.Fatalf("%v\n%s", err, b.String())
			}
			root.check(t.Errorf)
			sums := map[string]int{}
			for _, suite := range root.children {
				cases := suite.all("testcase")
				for attribute, found := range map[string]int{"tests": len(cases), "failures": len(suite.all("failure")), "errors": len(suite.all("error")), "skipped": len(suite.all("skipped"))} {
					if suite.attributes[attribute] != fmt.Sprint(found) {
						t.Errorf("%s says %s=%s and has %d", suite.attributes["name"], attribute, suite.attributes[attribute], found)
					}
					sums[attribute] += found
				}
				names := map[string]bool{}
				for _, c := range cases {
					if key := c.attributes["classname"] + c.attributes["name"]; names[key] {
						t.Errorf("two cases are called %q", c.attributes["name"])
					} else {
						names[key] = true
					}
				}
			}
			for attribute, sum := range sums {
				if root.attributes[attribute] != fmt.Sprint(sum) {
					t.Errorf("the whole says %s=%s, its suites %d", attribute, root.attributes[attribute], sum)
				}
			}
			for _, f := range root.all("failure") {
				if name != "evil" && f.attributes["type"] != EntryPasses && !strings.Contains(f.text, "run again: axon-conformance run ") {
					t.Errorf("a failure without the command to run it again: %s", f.text)
				}
			}
		})
	}
}
