package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/serve/server"
)

// State is what is remembered about the automatic backups of one agent. It
// is written before a backup that is due is tried, so that one is made after
// whatever happens in between.
type State struct {
	Format string `json:"format"`
	Vault  string `json:"vault,omitempty"` // the URL and the label that the rest is about

	DueSince amber.Time `json:"due_since,omitzero"` // zero: none is due
	Reason   string     `json:"reason,omitempty"`   // why it is
	// Began is when the last one that ended well began: it holds every note
	// of that time. Success is the same without those that found no notes.
	Began   amber.Time `json:"began,omitzero"`
	Success amber.Time `json:"last_success,omitzero"`

	// These describe the tries since then that did not end well.
	FailingSince amber.Time `json:"failing_since,omitzero"`
	Failures     int        `json:"failures,omitempty"`
	Tried        amber.Time `json:"last_try,omitzero"`
	Next         amber.Time `json:"next_try,omitzero"` // a server that starts does not wait for it
	Error        string     `json:"last_error,omitempty"`
	Hint         string     `json:"last_error_hint,omitempty"`
	Kind         amber.Kind `json:"last_error_kind,omitempty"`
	shared       bool       // the failure was that of all agents
}

const (
	stateFormat = "amber vault backups 1"
	maxState    = 16 << 10
	// maxError bounds the error that is remembered.
	maxError = 500
)

// Records are the states of every agent of a home, a file each.
type Records struct{ dir string }

// In returns those of a home.
func In(homeDir string) Records {
	return Records{filepath.Join(homeDir, "vaults", "backups")}
}

// Path is the file of the record of an agent.
func (r Records) Path(k server.AgentName) string {
	return filepath.Join(r.dir, string(k.Tenant)+"."+string(k.Agent)+".json") // ids have no dots
}

// Read returns the state of an agent; the zero state where nothing is known yet.
// Errors: damaged; too_new; refused; internal when it cannot be read.
func (r Records) Read(k server.AgentName) (st State, err error) {
	const op = "read record of backups"
	path := r.Path(k)
	b, err := fsx.ReadFile(fsx.OS(), path, maxState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return State{}, nil
	case err != nil:
		return st, diskerr.Own(op, path, err)
	}
	var head struct{ Format string }
	err = json.Unmarshal(b, &head)
	if after, ok := strings.CutPrefix(head.Format, "amber vault backups "); ok && head.Format != stateFormat {
		return st, amber.Errorf(amber.KindTooNew, op, path, "the record has version %s, want 1", line(after, 20))
	}
	if err == nil && head.Format != stateFormat {
		err = fmt.Errorf("format is %q, want %q", line(head.Format, 40), stateFormat)
	}
	if err == nil {
		err = json.Unmarshal(b, &st)
	}
	if err != nil {
		// Detail: whatever it is not, the file is damaged.
		return State{}, &amber.Error{Op: op, Kind: amber.KindDamaged, ID: path, Err: errors.New(err.Error()), Hint: "remove the file; a backup is made then"}
	}
	return st, nil
}

// Write makes a state durable.
func (r Records) Write(k server.AgentName, st State) error {
	const op = "write record of backups"
	st.Format = stateFormat
	b, err := json.Marshal(st)
	if err == nil {
		err = fsx.MkdirAll(fsx.OS(), r.dir, 0o700)
	}
	if err == nil {
		err = fsx.Replace(fsx.OS(), r.Path(k), 0o600, append(b, '\n'))
	}
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindInternal, ID: r.Path(k), Err: err}
	}
	return nil
}

// line returns the beginning of s on one line, at most n characters and none that
// controls a terminal.
func line(s string, n int) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
	return clip.Runes(clip.Line(clean), n)
}

// Succeeded is the state after a backup that ended well.
func (st State) Succeeded(began amber.Time, nothing bool) State {
	next := State{Vault: st.Vault, Began: began, Success: began}
	if nothing {
		next.Success = st.Success
	}
	return next
}

// Failed is the state after one that did not, to be tried again at next.
func (st State) Failed(at, next amber.Time, err error) State {
	if st.Failures == 0 {
		st.FailingSince = at
	}
	st.Failures++
	st.Tried, st.Next = at, next
	st.Error, st.Kind = line(err.Error(), maxError), amber.KindOf(err)
	st.Hint = line(amber.HintOf(err), maxError)
	return st
}
