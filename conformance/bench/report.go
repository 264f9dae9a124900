package bench

import (
	"fmt"
	"time"
)

// Figures are what was measured of one side.
type Figures struct {
	Exchanges int     `json:"exchanges"`
	Errors    int     `json:"errors"`
	Rate      float64 `json:"rate"` // exchanges a second
	// Latencies in milliseconds; 0 for messages, which nobody answers.
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
	P999 float64 `json:"p999_ms"`
	// CPU is the side's processor time in microseconds for an exchange; 0 when its
	// process is not known.
	CPU float64 `json:"cpu_us"`
}

// Row is one load at one concurrency and size.
type Row struct {
	Load        Load    `json:"load"`
	InFlight    int     `json:"in_flight"`
	Size        int     `json:"size"`
	Connections int     `json:"connections"` // that are open meanwhile
	Target      Figures `json:"target"`
	Raw         Figures `json:"raw"`
	// RateRatio is the median of target to raw over the rounds, 0 when there is none.
	RateRatio float64 `json:"rate_ratio"`
	P50Ratio  float64 `json:"p50_ratio"`
	P99Ratio  float64 `json:"p99_ratio"`
	// Memory of the target right after the load, its connections still open; absent
	// when its process is not known.
	Memory *Memory `json:"memory,omitempty"`
}

// String names the row for people.
func (r Row) String() string {
	text := fmt.Sprintf("%s, %d in flight", r.Load, r.InFlight)
	if r.Size > 0 {
		text += fmt.Sprintf(", %d bytes", r.Size)
	}
	if r.Connections > 1 {
		text += fmt.Sprintf(", %d connections", r.Connections)
	}
	return text
}

// same tells whether two rows are of the same load.
func (r Row) same(o Row) bool {
	return r.Load == o.Load && r.InFlight == o.InFlight && r.Size == o.Size && r.Connections == o.Connections
}

// Memory of the target's process, in bytes.
type Memory struct {
	Resident  int64 `json:"resident"`
	Anonymous int64 `json:"anonymous"`
}

// Report is the outcome of Run.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Suite         string    `json:"suite"`
	Target        string    `json:"target"`
	AgentID       string    `json:"agent_id,omitempty"`
	Started       time.Time `json:"started"`
	DurationMS    float64   `json:"duration_ms"`
	Complete      bool      `json:"complete"` // all that was asked for was measured
	Machine       string    `json:"machine"`
	Processors    int       `json:"processors"`
	RoundMS       float64   `json:"round_ms"`
	Rounds        int       `json:"rounds"`
	// Before and After the loads; absent when the process is not known.
	Before *Memory  `json:"before,omitempty"`
	After  *Memory  `json:"after,omitempty"`
	Rows   []Row    `json:"rows"`
	Notes  []string `json:"notes"`
}

// SchemaVersion of Report.
const SchemaVersion = 1
