package fuzz

import (
	"fmt"
	"strings"
)

// End is what becomes of a stream once its body is written.
type End string

// The ends.
const (
	Fin     End = ""         // FIN at once
	Held    End = "held"     // FIN once the target has had time to read the body
	Reset   End = "reset"    // a reset once the target has had time to read the body
	GivenUp End = "given up" // FIN, and the reply is not wanted any more
)

// Input is one thing that is sent, on a stream of its own.
type Input struct {
	// Number of the input, from 0: with the seed it gives the input.
	Number int
	Bidi   bool
	Body   []byte
	// ID is what stands for «id» in a scenario.
	ID string
	// Pieces is the size of the pieces in which the body is written, 0 for one write.
	Pieces int
	End    End
}

func (in Input) stream() string {
	if in.Bidi {
		return "bidirectional"
	}
	return "unidirectional"
}

// held: the stream is left open for a while.
func (in Input) held() bool { return in.End == Held || in.End == Reset }

// Claim is something that has to hold of an input: a step of the features and the
// requirements that it is about.
type Claim struct {
	Step         string
	Requirements []string
}

const (
	stillUnanswered = "that stream is still unanswered"
	isAccepted      = "it is accepted"
	isNotAccepted   = "it is not accepted"
	wholeOrNot      = "it is accepted whole or not at all"
	defaultError    = "the reply is the default error in every respect"
	refIfAccepted   = "if it is accepted, the reply's ref is the request's id"
	oneReply        = "its own stream carries exactly one reply, a response or an error"
	nothingAnswers  = "nothing answers it"
	survives        = "the connection survives"
	servesOn        = "the connection serves on, or a new one does"
	atMostOne       = "the stream carries at most one reply"
	overTheRun      = "it held for everything that the target sent in this run"
)

// Case is a few inputs on one connection, and what has to hold of the last.
type Case struct {
	Inputs []Input
	Claim  Claim
	// Crowd are steps that stand in the place of the inputs.
	Crowd []line
	// name of a crowd, for the finding.
	name string
}

func (c Case) last() Input { return c.Inputs[len(c.Inputs)-1] }

// line is a step with its keyword.
type line struct{ keyword, step string }

// lines are the steps of the case, as in a feature file.
func (c Case) lines() []line {
	list := []line{{"Given", "a connection to the target"}}
	add := func(keyword, step string) {
		if list[len(list)-1].keyword == keyword || list[len(list)-1].keyword == "And" && section(list) == keyword {
			keyword = "And"
		}
		list = append(list, line{keyword, step})
	}
	if len(c.Crowd) > 0 {
		for _, l := range c.Crowd {
			add(l.keyword, l.step)
		}
		add("Then", c.Claim.Step)
		return list
	}
	for i, in := range c.Inputs {
		body := in.text()
		switch {
		case in.held():
			add("When", fmt.Sprintf("the probe writes %s as the bytes of a %s stream and leaves it open", body, in.stream()))
			add("When", "the target has had time to read it")
			if i == len(c.Inputs)-1 && c.Claim.Step == stillUnanswered {
				add("Then", stillUnanswered)
				return list
			}
			if in.End == Reset {
				add("When", "the probe resets that stream")
			} else {
				add("When", "the probe finishes that stream")
			}
			continue
		case len(in.Body) == 0:
			add("When", fmt.Sprintf("the probe sends nothing but FIN on a %s stream", in.stream()))
		case in.Pieces == 1:
			add("When", fmt.Sprintf("the probe sends %s as the bytes of a %s stream, in pieces of 1 byte", body, in.stream()))
		case in.Pieces > 0:
			add("When", fmt.Sprintf("the probe sends %s as the bytes of a %s stream, in pieces of %d bytes", body, in.stream(), in.Pieces))
		default:
			add("When", fmt.Sprintf("the probe sends %s as the bytes of a %s stream", body, in.stream()))
		}
		if in.End == GivenUp {
			add("When", "the probe gives up waiting for its reply")
		}
	}
	if c.Claim.Step == overTheRun {
		// What was sent has to have been answered before the whole is looked at.
		if c.last().Bidi {
			add("Then", atMostOne)
		} else {
			add("Then", servesOn)
		}
	}
	add("Then", c.Claim.Step)
	return list
}

// section is the keyword that an And at the end of a list stands for.
func section(list []line) string {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].keyword != "And" {
			return list[i].keyword
		}
	}
	return ""
}

// Scenario is the case as it stands in a feature file, indented for one.
func (c Case) Scenario(name string) string {
	var b strings.Builder
	b.WriteString(" ")
	for _, id := range c.Claim.Requirements {
		b.WriteString(" @" + id)
	}
	if len(c.Crowd) > 0 {
		b.WriteString(" @heavy")
	}
	fmt.Fprintf(&b, "\n  Scenario: %s\n", name)
	for _, l := range c.lines() {
		fmt.Fprintf(&b, "    %s %s\n", l.keyword, l.step)
	}
	return b.String()
}

// Feature is a whole file with the one scenario.
func (c Case) Feature(name string) string {
	return "Feature: Found by fuzzing\n\n" + c.Scenario(name)
}
