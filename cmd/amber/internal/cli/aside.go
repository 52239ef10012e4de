package cli

import (
	"log/slog"
	"sync"

	"github.com/amber-memory/amber"
)

// asideNotes reports rows that were left out because they cannot be read, each row once: an answer is made of
// many reads.
type asideNotes struct {
	Log  *slog.Logger // of a server; nil: the user is told
	mu   sync.Mutex
	told map[amber.SetAside]bool
}

// maxAsideTold is how many rows are spelt out; amber doctor counts them.
const maxAsideTold = amber.MaxSetAside

// first reports whether a row is new and is to be reported.
func (n *asideNotes) first(s amber.SetAside) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.told[s] || len(n.told) >= maxAsideTold {
		return false
	}
	if n.told == nil {
		n.told = map[amber.SetAside]bool{}
	}
	n.told[s] = true
	return true
}

// setAside reports a row that an answer leaves out.
func (a *App) setAside(s amber.SetAside) {
	switch {
	case !a.Aside.first(s):
	case a.Aside.Log != nil:
		a.Aside.Log.Warn("a row cannot be read and is left out", "table", s.Table, "id", s.ID, "reason", s.Reason)
	default:
		a.Out.Note("%s %s cannot be read and is left out: %s (amber doctor)", s.Table, s.ID, s.Reason)
	}
}

// NoteAside reports the rows that an answer names as left out.
func (a *App) NoteAside(rows []amber.SetAside) {
	for _, s := range rows {
		a.setAside(s)
	}
}
