package openviking

import (
	"encoding/json"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Bounds of the notes, so that they fit into a cursor.
const (
	maxQuarantined = 500
	maxReason      = 200 // bytes
	maxRewrite     = 1000
	maxMend        = 200
)

// Quarantined is a memory that is not on the server, and why. A feed tries it again when the memory changes, and when
// the feed is forced.
type Quarantined struct {
	ID     amber.MemoryID `json:"id"`
	Reason string         `json:"reason"`
}

// notes is what the feeder of a place wants to know the next time.
type notes struct {
	pace
	// Settings are those that the files were sent with.
	Settings string `json:"settings,omitempty"`
	// Compare asks for the listings of both sides to be compared.
	Compare bool `json:"compare,omitempty"`
	// CompareAt is when to do that after an outage: a server that was killed may have lost files, and may have carried
	// out a write behind a deletion, when no feeder waited for its answer any more.
	CompareAt amber.Time `json:"compare_at,omitzero"`
	// Large says that a listing did not fit into a short budget: only long ones try again.
	Large      bool          `json:"large,omitempty"`
	Quarantine []Quarantined `json:"quarantine,omitempty"`
	Uncounted  int           `json:"uncounted,omitempty"` // memories in quarantine that are not listed
	// Rewrite are memories whose files are damaged, or busy, or left to a feed with more time.
	Rewrite []amber.MemoryID `json:"rewrite,omitempty"`
	// AgainAt is when to try them again where some were busy.
	AgainAt    amber.Time `json:"again_at,omitzero"`
	AgainDelay int64      `json:"again_delay,omitempty"` // milliseconds
	mending
}

// mending is what is known of files without a vector.
type mending struct {
	Mend      []string   `json:"mend,omitempty"`      // files without one
	Unchecked bool       `json:"unchecked,omitempty"` // others may lack one
	WaitSince amber.Time `json:"wait_since,omitzero"` // the server has some time for them; zero: check now
	MendAt    amber.Time `json:"mend_at,omitzero"`    // not before
	MendDelay int64      `json:"mend_delay,omitempty"`
}

// readNotes takes the notes of a cursor. Those that cannot be read ask for a comparison, which
// finds out the same.
func readNotes(b []byte) (n notes) {
	if len(b) == 0 {
		return notes{}
	}
	if err := json.Unmarshal(b, &n); err != nil {
		return notes{Compare: true}
	}
	return n
}

func (n *notes) bytes() ([]byte, error) {
	b, err := json.Marshal(n)
	if err != nil || len(b) > amber.MaxIndexNotes {
		return nil, amber.Errorf(amber.KindInternal, "write notes of the index", "", "notes have %d bytes, the limit is %d: %v", len(b), amber.MaxIndexNotes, err)
	}
	return b, nil
}

// quarantine notes a memory that is left out.
func (n *notes) quarantine(id amber.MemoryID, reason string) {
	n.release(id)
	if len(n.Quarantine) >= maxQuarantined {
		n.Uncounted++
		return
	}
	n.Quarantine = append(n.Quarantine, Quarantined{id, clip.Marked(clip.Printed(reason), maxReason)})
}

// release reports whether a memory was in quarantine, and takes it out.
func (n *notes) release(id amber.MemoryID) bool {
	before := len(n.Quarantine)
	n.Quarantine = slices.DeleteFunc(n.Quarantine, func(q Quarantined) bool { return q.ID == id })
	return len(n.Quarantine) < before
}

// rewrite notes memories to be taken again, beside those that are noted. It reports whether there
// was room for all.
func (n *notes) rewrite(ids ...amber.MemoryID) (all bool) {
	all = true
	slices.Sort(n.Rewrite)
	for _, id := range ids {
		at, noted := slices.BinarySearch(n.Rewrite, id)
		switch {
		case noted:
		case len(n.Rewrite) < maxRewrite:
			n.Rewrite = slices.Insert(n.Rewrite, at, id)
		default:
			all = false
		}
	}
	return all
}

// uncheckedSince notes that vectors may be missing, of files written at a time or later; zero
// for files that had their time.
func (n *notes) uncheckedSince(t amber.Time) {
	if !n.Unchecked || t.Before(n.WaitSince) {
		n.Unchecked, n.WaitSince = true, t
	}
}

// unindexed notes files that have no vector.
func (n *notes) unindexed(uris ...string) {
	for _, uri := range uris {
		switch {
		case slices.Contains(n.Mend, uri):
		case len(n.Mend) < maxMend:
			n.Mend = append(n.Mend, uri)
		default:
			n.uncheckedSince(amber.Time{})
		}
	}
}
