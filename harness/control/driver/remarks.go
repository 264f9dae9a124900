package driver

import (
	"fmt"
	"slices"
	"strings"
)

// remarks gathers what the report should say of a driver. It is bounded: the first
// of a kind is kept in words, the others are counted.
type remarks struct {
	bad       int
	firstBad  string
	without   map[string]int // commands left unanswered
	surprises map[string]string
}

func (r *remarks) badLine(line []byte, problem error) {
	r.bad++
	if r.bad == 1 {
		r.firstBad = fmt.Sprintf("%s (%v)", excerpt(string(line)), problem)
	}
}

func (r *remarks) unanswered(command string) {
	if r.without == nil {
		r.without = map[string]int{}
	}
	r.without[command]++
}

func (r *remarks) unclaimed(event, need string) {
	if r.surprises == nil {
		r.surprises = map[string]string{}
	}
	r.surprises[event] = need
}

// Remarks say what the driver did that a driver should not do.
func (d *Driver) Remarks() []string {
	d.mu.Lock()
	ended := d.ended
	bad, first := d.remarks.bad, d.remarks.firstBad
	var list []string
	for command, n := range d.remarks.without {
		list = append(list, fmt.Sprintf("the driver left %s unanswered, %d times", command, n))
	}
	for event, need := range d.remarks.surprises {
		list = append(list, fmt.Sprintf("the driver shows the event %s although it does not claim %s; these were ignored", event, need))
	}
	d.mu.Unlock()
	slices.Sort(list)
	if bad > 0 {
		list = append(list, fmt.Sprintf("lines of the driver that are none of its protocol (docs/driver.md): %d; the first was %s", bad, strings.TrimSpace(first)))
	}
	if ended != "" {
		list = append(list, d.fault("%s before the run was over", ended).Error())
	}
	return list
}
