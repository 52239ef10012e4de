package wire

import "github.com/amber-memory/amber"

// Finding is one line of a checkup.
type Finding struct {
	Code   string        `json:"code"` // stable
	Status FindingStatus `json:"status"`
	Detail string        `json:"detail"`
	Hint   string        `json:"hint,omitempty"`
	Kind   amber.Kind    `json:"kind,omitempty"` // of a failed check
}

// FindingStatus is the outcome of one check.
type FindingStatus string

// The outcomes. A check that could not be made says so instead of looking
// like one that passed.
const (
	FindingOK         FindingStatus = "ok"
	FindingWarning    FindingStatus = "warning"
	FindingFailed     FindingStatus = "failed"
	FindingNotChecked FindingStatus = "not checked"
)

// Checkup reports whether everything is well with an agent and its home.
type Checkup struct {
	OK     bool      `json:"ok"` // no check failed
	Checks []Finding `json:"checks"`
}

// ServerHealth is what a served Amber says about itself.
type ServerHealth struct {
	Status    amber.HealthStatus `json:"status"`
	Version   string             `json:"version"`
	StartedAt amber.Time         `json:"started_at"`
	Workers   []WorkerHealth     `json:"workers"`
	// Index says how far the indexes are; nil where no agent was looked at yet.
	Index *IndexHealth `json:"index,omitempty"`
	// Servers are those of the database that agents live in, this one too; none where they live in a home.
	Servers []ServerPeer `json:"servers,omitempty"`
}

// ServerPeer is one of the servers of a database.
type ServerPeer struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Address   string     `json:"address,omitempty"` // where it listens, as it says itself
	Version   string     `json:"version"`
	StartedAt amber.Time `json:"started_at"`
	SeenAt    amber.Time `json:"seen_at"`        // when it last said that it lives
	Alive     bool       `json:"alive"`          // its lease is not over
	Self      bool       `json:"self,omitempty"` // the one that answers
}

// WorkerHealth is how something that runs in the background is doing.
type WorkerHealth struct {
	Name        string             `json:"name"` // "journal drain"
	Status      amber.HealthStatus `json:"status"`
	Runs        int64              `json:"runs"`
	Failures    int64              `json:"failures"`
	LastRun     amber.Time         `json:"last_run,omitzero"`
	LastFailure amber.Time         `json:"last_failure,omitzero"`
	LastError   string             `json:"last_error,omitempty"` // of the last run; "" when it went well
	Detail      string             `json:"detail,omitempty"`     // what the last run did
}
