package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/repo"
)

// A head is the end of a chain of snapshots as this machine last wrote it. It
// lies outside the repository, so that a repository that was set back to an
// earlier state is noticed:
//
//	amber-head 1
//	counter 17
//	snapshot 0193c5a8-…
//	digest 5e88…
//	crc32c 1a2b3c4d
const (
	headForm = "amber-head 1\ncounter %d\nsnapshot %s\ndigest %s\n"
	maxHead  = 4096
)

func marshalHead(l repo.Link) []byte { return withChecksum(headForm, l.Counter, l.ID, l.Digest) }

// parseHead reads what marshalHead writes, every byte of it checked.
func parseHead(b []byte) (l repo.Link, err error) {
	_, err = fmt.Sscanf(string(b), headForm, &l.Counter, &l.ID, &l.Digest)
	if err != nil || l.Counter < 1 || !bytes.Equal(b, marshalHead(l)) {
		return repo.Link{}, amber.Errorf(amber.KindDamaged, "read head of chain", "", "the checksum does not match")
	}
	return l, nil
}

// chainOf names the chain of a device in the repository of a tenant. The home's
// own repository has the device's name; every other place has a chain of its own,
// so that two of them can be brought together.
func (n notebook) chainOf(tenant amber.TenantID, device string) string {
	name := n.repositoryName(tenant)
	if name == n.o.Home.RepoDir(tenant) {
		return device
	}
	return device + "-" + hexName(name)[:8]
}

// headPath returns the file of a chain in one repository. Tenant and agent are
// folder names; the device comes from CURRENT and may hold anything printable.
func (n notebook) headPath(tenant amber.TenantID, agent amber.AgentID, device string) string {
	name := hexName(device + "\n" + n.repositoryName(tenant))
	return filepath.Join(n.o.Home.KeysDir(), "heads", string(tenant), string(agent), name)
}

// loadHead returns the known end of a chain, false when none is known.
func (n notebook) loadHead(tenant amber.TenantID, agent amber.AgentID, device string) (repo.Link, bool, error) {
	path := n.headPath(tenant, agent, device)
	b, err := fsx.ReadFile(n.o.FS, path, maxHead)
	if errors.Is(err, fs.ErrNotExist) {
		return repo.Link{}, false, nil
	}
	if err != nil {
		return repo.Link{}, false, &amber.Error{Op: "read head of chain", Kind: amber.KindInternal, ID: path, Err: err}
	}
	l, err := parseHead(b)
	return l, err == nil, err
}

// saveHead remembers the end of a chain. It never goes back.
func (n notebook) saveHead(tenant amber.TenantID, agent amber.AgentID, device string, l repo.Link) error {
	if known, ok, err := n.loadHead(tenant, agent, device); err == nil && ok && known.Counter >= l.Counter {
		return nil
	}
	path := n.headPath(tenant, agent, device)
	if err := replaceIn(n.o.FS, path, marshalHead(l)); err != nil {
		return &amber.Error{Op: "write head of chain", Kind: amber.KindInternal, ID: path, Err: err}
	}
	return nil
}
