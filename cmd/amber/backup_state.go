package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
)

// backupState is what is remembered about the automatic backups of one agent. It
// is written before a backup that is due is tried, so that one is made after
// whatever happens in between.
type backupState struct {
	Format string `json:"format"`
	Vault  string `json:"vault,omitempty"` // the URL and the label that the rest is about

	DueSince amber.Time `json:"due_since,omitzero"` // zero: none is due
	Reason   string     `json:"reason,omitempty"`   // why it is
	// Began is when the last one that ended well began: it holds every note
	// of that time. Success is the same without those that found no notes.
	Began   amber.Time `json:"began,omitzero"`
	Success amber.Time `json:"last_success,omitzero"`

	// Of those that did not end well since.
	FailingSince amber.Time `json:"failing_since,omitzero"`
	Failures     int        `json:"failures,omitempty"`
	Tried        amber.Time `json:"last_try,omitzero"`
	Next         amber.Time `json:"next_try,omitzero"` // a server that starts does not wait for it
	Error        string     `json:"last_error,omitempty"`
	Hint         string     `json:"last_error_hint,omitempty"`
	Kind         amber.Kind `json:"last_error_kind,omitempty"`
	shared       bool       // it was every agent's
}

const (
	backupStateFormat = "amber vault backups 1"
	maxBackupState    = 16 << 10
	// maxBackupError bounds the error that is remembered.
	maxBackupError = 500
)

// backupRecords are the states of every agent of a home, a file each.
type backupRecords struct{ dir string }

// backupsOf returns those of a home.
func backupsOf(homeDir string) backupRecords {
	return backupRecords{filepath.Join(homeDir, "vaults", "backups")}
}

func (r backupRecords) path(k agentKey) string {
	return filepath.Join(r.dir, string(k.tenant)+"."+string(k.agent)+".json") // ids have no dots
}

// read returns the state of an agent; the zero state where nothing is known yet.
// Errors: damaged; too_new; refused; internal when it cannot be read.
func (r backupRecords) read(k agentKey) (st backupState, err error) {
	const op = "read record of backups"
	path := r.path(k)
	b, err := fsx.ReadFile(fsx.OS(), path, maxBackupState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return backupState{}, nil
	case errors.Is(err, fs.ErrPermission):
		return st, &amber.Error{Op: op, Kind: amber.KindRefused, ID: path, Err: err}
	case err != nil:
		return st, &amber.Error{Op: op, Kind: amber.KindInternal, ID: path, Err: err}
	}
	var head struct{ Format string }
	err = json.Unmarshal(b, &head)
	if after, ok := strings.CutPrefix(head.Format, "amber vault backups "); ok && head.Format != backupStateFormat {
		return st, amber.Errorf(amber.KindTooNew, op, path, "it is of version %s", oneLine(after, 20))
	}
	if err == nil && head.Format != backupStateFormat {
		err = errors.New("it is something else")
	}
	if err == nil {
		err = json.Unmarshal(b, &st)
	}
	if err != nil {
		// Detail: whatever it is not, the file is damaged.
		return backupState{}, &amber.Error{Op: op, Kind: amber.KindDamaged, ID: path, Err: errors.New(err.Error()), Hint: "remove it; the next backup is made then"}
	}
	return st, nil
}

// write makes a state durable.
func (r backupRecords) write(k agentKey, st backupState) error {
	const op = "write record of backups"
	st.Format = backupStateFormat
	b, err := json.Marshal(st)
	if err == nil {
		err = fsx.MkdirAll(fsx.OS(), r.dir, 0o700)
	}
	if err == nil {
		err = fsx.Replace(fsx.OS(), r.path(k), 0o600, append(b, '\n'))
	}
	if err != nil {
		return &amber.Error{Op: op, Kind: amber.KindInternal, ID: r.path(k), Err: err}
	}
	return nil
}

// succeeded is the state after a backup that ended well.
func (st backupState) succeeded(began amber.Time, nothing bool) backupState {
	next := backupState{Vault: st.Vault, Began: began, Success: began}
	if nothing {
		next.Success = st.Success
	}
	return next
}

// failed is the state after one that did not, to be tried again at next.
func (st backupState) failed(at, next amber.Time, err error) backupState {
	if st.Failures == 0 {
		st.FailingSince = at
	}
	st.Failures++
	st.Tried, st.Next = at, next
	st.Error, st.Kind = oneLine(err.Error(), maxBackupError), amber.KindOf(err)
	st.Hint = oneLine(amber.HintOf(err), maxBackupError)
	return st
}
