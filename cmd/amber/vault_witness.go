package main

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
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/internal/fsx"
)

// seenFormat begins every file of a witness.
const seenFormat = "amber-vault-seen/1"

// seenLock is held while one of them is changed.
const seenLock = ".lock"

// maxSeenFile bounds one.
const maxSeenFile = 64 << 10

// seenVault is what was seen last of one label of one vault, and whose it is.
type seenVault struct {
	Format string         `json:"format"`
	URL    string         `json:"url"`
	Tenant amber.TenantID `json:"tenant"`
	Agent  amber.AgentID  `json:"agent"`
	Label  string         `json:"label"`
	colony.Sighting
}

// vaultWitness remembers in a file of the home what was seen of a label, so that
// a vault that was put back to an older state is noticed.
type vaultWitness struct {
	path string
	of   seenVault // without a sighting
}

var _ colony.Witness = vaultWitness{}

func (a *app) vaultWitness(s *opened, url, label string) colony.Witness {
	of := seenVault{Format: seenFormat, URL: url, Tenant: s.tenantID(), Agent: s.agentID(), Label: label}
	sum := sha256.Sum256([]byte(strings.Join([]string{of.URL, string(of.Tenant), string(of.Agent), of.Label}, "\n")))
	return vaultWitness{filepath.Join(s.home.Dir(), "vaults", hex.EncodeToString(sum[:16])+".json"), of}
}

// Seen implements [colony.Witness]. A file that cannot be read is an error: it
// may say that the vault is older than it was. Errors: damaged; internal.
func (w vaultWitness) Seen(ctx context.Context) (colony.Sighting, error) {
	const op = "read what was seen of the vault"
	if err := ctx.Err(); err != nil {
		return colony.Sighting{}, err
	}
	b, err := fsx.ReadFile(fsx.OS(), w.path, maxSeenFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return colony.Sighting{}, nil
	case errors.Is(err, fsx.ErrTooLarge), errors.Is(err, fsx.ErrNotRegular):
		return colony.Sighting{}, w.damaged(op, err)
	case err != nil:
		return colony.Sighting{}, &amber.Error{Op: op, Kind: amber.KindInternal, ID: w.path, Err: err}
	}
	var seen seenVault
	if err := json.Unmarshal(b, &seen); err != nil {
		return colony.Sighting{}, w.damaged(op, err)
	}
	sighting := seen.Sighting
	seen.Sighting = colony.Sighting{}
	if seen != w.of {
		return colony.Sighting{}, w.damaged(op, errors.New("it is about another vault"))
	}
	if _, err := colony.ParseSnapshotID(string(sighting.ID)); sighting.ID != "" && err != nil {
		return colony.Sighting{}, w.damaged(op, err)
	}
	return sighting, nil
}

func (w vaultWitness) damaged(op string, err error) error {
	return &amber.Error{
		Op: op, Kind: amber.KindDamaged, ID: w.path, Err: err,
		Hint: "remove " + w.path + "; then it is not noticed whether the vault is older than it was",
	}
}

// Update implements [colony.Witness]. What is the same is not written again.
// Errors: as Seen.
func (w vaultWitness) Update(ctx context.Context, change func(colony.Sighting) colony.Sighting) (err error) {
	const op = "note what was seen of the vault"
	fail := func(err error) error {
		return &amber.Error{Op: op, Kind: amber.KindInternal, ID: w.path, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := fsx.MkdirAll(fsx.OS(), filepath.Dir(w.path), 0o700); err != nil {
		return fail(err)
	}
	lock, err := fsx.AcquireLock(ctx, filepath.Join(filepath.Dir(w.path), seenLock), fsx.Exclusive)
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
