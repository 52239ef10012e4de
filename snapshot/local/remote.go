package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
)

// Remote is a place for repositories that is no folder of this machine.
type Remote struct {
	Name string // tells places apart: two that are not the same have two names
	// Open returns the target of a tenant's repository there.
	Open func(ctx context.Context, tenant amber.TenantID) (amber.Target, error)
}

// remotes keeps the repository of each tenant elsewhere. Only processes of this
// home lock each other out; the rules of gc hold without locks.
type remotes struct {
	Remote
	fs   fsx.FS
	dir  string // of the locks
	wait time.Duration
}

func (r remotes) Open(ctx context.Context, tenant amber.TenantID, _ bool) (amber.Target, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	return r.Remote.Open(ctx, tenant)
}

func (r remotes) Name(tenant amber.TenantID) string { return r.Remote.Name + "#" + string(tenant) }

func (r remotes) Lock(ctx context.Context, tenant amber.TenantID, mode fsx.LockMode, wait bool) (func(), error) {
	if err := fsx.MkdirAll(r.fs, r.dir, 0o700); err != nil {
		return nil, &amber.Error{Op: "lock repository", Kind: amber.KindOf(err), ID: r.dir, Err: err}
	}
	sum := sha256.Sum256([]byte(r.Name(tenant)))
	return lockRepository(ctx, filepath.Join(r.dir, hex.EncodeToString(sum[:8])+lockName), mode, wait, r.wait)
}
