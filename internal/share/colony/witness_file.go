package colony

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// seenFormat begins every file of a witness.
const seenFormat = "amber-vault-seen/1"

// seenLock is held while one of the files is changed.
const seenLock = ".lock"

// maxSeenFile bounds a file.
const maxSeenFile = 64 << 10

// VaultOf names one vault of one agent.
type VaultOf struct {
	URL    string // without a slash at its end
	Tenant amber.TenantID
	Agent  amber.AgentID
}

// seenVault is the file of a witness.
type seenVault struct {
	Format string         `json:"format"`
	URL    string         `json:"url"`
	Tenant amber.TenantID `json:"tenant"`
	Agent  amber.AgentID  `json:"agent"`
	Label  string         `json:"label"`
	Sighting
}

// FileWitness remembers in a file what was seen of a label, so that a vault that
// was put back to an older state is noticed. Safe for concurrent use, also by
// several processes. The format is in docs/format/home.md.
type FileWitness struct {
	path string
	of   seenVault // without a sighting
}

var _ Witness = FileWitness{}

// NewFileWitness returns the witness of a label of a vault; dir holds the files of
// all witnesses of a home. It touches nothing.
func NewFileWitness(dir string, v VaultOf, label string) FileWitness {
	of := seenVault{Format: seenFormat, URL: v.URL, Tenant: v.Tenant, Agent: v.Agent, Label: Label(label)}
	sum := sha256.Sum256([]byte(strings.Join([]string{of.URL, string(of.Tenant), string(of.Agent), of.Label}, "\n")))
	return FileWitness{filepath.Join(dir, hex.EncodeToString(sum[:16])+".json"), of}
}

// Seen implements [Witness]. A file that cannot be read is an error, because it may
// say that the vault is older than it was. Errors: damaged; internal.
func (w FileWitness) Seen(ctx context.Context) (Sighting, error) {
	const op = "read vault witness"
	if err := ctx.Err(); err != nil {
		return Sighting{}, err
	}
	b, err := fsx.ReadFile(fsx.OS(), w.path, maxSeenFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Sighting{}, nil
	case errors.Is(err, fsx.ErrTooLarge), errors.Is(err, fsx.ErrNotRegular):
		return Sighting{}, w.damaged(op, err)
	case err != nil:
		return Sighting{}, diskerr.Own(op, w.path, err)
	}
	var seen seenVault
	if err := json.Unmarshal(b, &seen); err != nil {
		return Sighting{}, w.damaged(op, err)
	}
	sighting := seen.Sighting
	seen.Sighting = Sighting{}
	if seen != w.of {
		return Sighting{}, w.damaged(op, errors.New("the file is about another vault or of another format"))
	}
	if _, err := ParseSnapshotID(string(sighting.ID)); sighting.ID != "" && err != nil {
		return Sighting{}, w.damaged(op, err)
	}
	return sighting, nil
}

func (w FileWitness) damaged(op string, err error) error {
	return &amber.Error{
		Op: op, Kind: amber.KindDamaged, ID: w.path, Err: err,
		Hint: "rm " + w.path + " lets the vault be used again; Amber then cannot tell whether the vault was put back to an older state",
	}
}

// Update implements [Witness]. A sighting that stays the same is not written again.
// Errors: those of Seen.
func (w FileWitness) Update(ctx context.Context, change func(Sighting) Sighting) (err error) {
	fail := func(err error) error {
		return &amber.Error{Op: "write vault witness", Kind: amber.KindInternal, ID: w.path, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := filepath.Dir(w.path)
	if err := fsx.MkdirAll(fsx.OS(), dir, 0o700); err != nil {
		return fail(err)
	}
	lock, err := fsx.AcquireLock(ctx, filepath.Join(dir, seenLock), fsx.Exclusive)
	if err != nil {
		return fail(err)
	}
	defer func() {
		if uerr := lock.Unlock(); err == nil && uerr != nil {
			err = fail(uerr)
		}
	}()
	before, err := w.Seen(ctx)
	if err != nil {
		return err
	}
	seen := w.of
	if seen.Sighting = change(before); seen.Sighting == before {
		return nil
	}
	b, err := json.MarshalIndent(seen, "", "  ")
	if err == nil {
		err = fsx.Replace(fsx.OS(), w.path, 0o600, append(b, '\n'))
	}
	if err != nil {
		return fail(err)
	}
	return nil
}
