package drain

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Report says what a drain did.
type Report struct {
	Sessions    int               `json:"sessions"`      // that had something to drain
	Events      int64             `json:"events"`        // that were read
	Applied     int64             `json:"applied"`       // that were new to the store
	Duplicates  int64             `json:"duplicates"`    // that it knew
	Memories    int64             `json:"memories"`      // that were made of them
	Quarantined int64             `json:"quarantined"`   // events given up
	Damaged     int64             `json:"damaged"`       // places where the journal could not be read
	Cleared     int64             `json:"cleared_bytes"` // of drained segments
	Ended       []string          `json:"ended"`         // sessions whose end was noticed, not told
	Failed      map[string]string `json:"failed"`        // sessions of the journal that could not be drained, and why

	// DigestsByRule are the sessions whose digest the rules wrote because the writer
	// failed, and why.
	DigestsByRule map[string]string `json:"digests_by_rule,omitempty"`

	// Decisions are what the policy said about everything that could be learnt,
	// where that was asked for.
	Decisions []Learnt `json:"decisions,omitempty"`

	kind amber.Kind // of the first failure
}

func newReport() Report { return Report{Ended: []string{}, Failed: map[string]string{}} }

// Any reports whether anything happened.
func (r Report) Any() bool {
	return r.Events > 0 || r.Quarantined > 0 || r.Cleared > 0 || len(r.Ended) > 0 || len(r.Failed) > 0
}

func (r *Report) fail(key journal.Key, err error) {
	if r.kind == "" {
		r.kind = amber.KindOf(err)
	}
	r.Failed[string(key)] = err.Error()
}

func (r *Report) noDigest(id amber.SessionID, err error) {
	if r.DigestsByRule == nil {
		r.DigestsByRule = map[string]string{}
	}
	r.DigestsByRule[string(id)] = err.Error()
}

// Err returns an error when a session could not be drained, of the kind of
// the first that failed.
func (r Report) Err() error {
	if len(r.Failed) == 0 {
		return nil
	}
	return amber.Errorf(r.kind, "drain", "", "%d sessions could not be drained", len(r.Failed)).WithHint("amber journal status")
}
