package setup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/settings"
)

// recordSchema is the version of a record.
const recordSchema = 1

// maxRecord bounds a record.
const maxRecord = 1 << 20

// record is what setup remembers about a file it has changed. It lies in the
// state folder under a name made of the file's path, beside the text that
// uninstalling restores.
type record struct {
	Schema   int      `json:"schema"`
	Host     string   `json:"host"`
	Scope    Scope    `json:"scope"`
	Path     string   `json:"path"`
	Original string   `json:"original"`       // digest of the text before; "" when there was no file
	Result   string   `json:"result"`         // digest of the text after
	Dirs     []string `json:"dirs,omitempty"` // folders that were made, the outermost first
	Memory   memory   `json:"memory"`
}

// recordPath returns where a record is; the other files about the same path
// have other endings.
func (o Options) recordPath(target, ending string) string {
	return filepath.Join(o.StateDir, digest([]byte(target))[:32]+ending)
}

// recall returns the record about a file and the text before, which may be
// lost. There need not be a record; one that cannot be believed is none, since
// everything can be removed without.
func (o Options) recall(target string) (*record, []byte, error) {
	text, err := fsx.ReadFile(o.FS, o.recordPath(target, ".json"), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, diskerr.Given("read record", o.recordPath(target, ".json"), err)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil || r.Path != target {
		return nil, nil, nil
	}
	if r.Schema > recordSchema {
		return nil, nil, amber.Errorf(amber.KindTooNew, "read record", o.recordPath(target, ".json"), "the record was written by a newer Amber")
	}
	original, err := fsx.ReadFile(o.FS, o.recordPath(target, ".original"), settings.MaxBytes)
	if err == nil && original == nil {
		original = []byte{}
	}
	if err != nil || digest(original) != r.Original {
		original = nil
	}
	return &r, original, nil
}

// keep makes a record and the text before durable, in the order in which they
// are believed.
func (o Options) keep(r record, original []byte) error {
	if err := fsx.MkdirAll(o.FS, o.StateDir, 0o700); err != nil {
		return diskerr.Given("make folder", o.StateDir, err)
	}
	if original != nil {
		if err := o.save(o.recordPath(r.Path, ".original"), original); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return &amber.Error{Op: "write record", Kind: amber.KindInternal, Err: err}
	}
	return o.save(o.recordPath(r.Path, ".json"), append(text, '\n'))
}

// save writes a file of the state folder. Settings may hold secrets, so no other
// user can read it.
func (o Options) save(path string, text []byte) error {
	if err := fsx.Replace(o.FS, path, 0o600, text); err != nil {
		return diskerr.Given("write", path, err)
	}
	return nil
}

// kept are the endings of everything about a file in the state folder.
var kept = []string{".json", ".original"}

// remembers reports whether anything about a file is in the state folder, be
// it of use or not.
func (o Options) remembers(target string) bool {
	return slices.ContainsFunc(kept, func(ending string) bool { return o.exists(o.recordPath(target, ending)) })
}

// drop removes a record and the text before, which may hold secrets.
func (o Options) drop(target string) error {
	for _, ending := range kept {
		path := o.recordPath(target, ending)
		if err := o.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return diskerr.Given("remove", path, err)
		}
	}
	_ = o.FS.Remove(o.StateDir) // when nothing else is in it
	return nil
}
