package snapshot

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

// Checks of databases are remembered by the digest of what was checked: the
// same pages need not be checked twice. The record is a cache and lies in the
// home, not in the repository, where anybody could have written it.

const (
	maxCheckRecord = 1 << 20
	// checksVersion is raised when more is checked, or the same otherwise: an
	// older record says nothing about that.
	checksVersion = 2
	// checkOfRows is the check whether readers can read every row. Rows that they
	// cannot read are set aside, so it keeps nothing from being restored.
	checkOfRows = "rows"
)

// checkRecord is what is remembered of a database.
type checkRecord struct {
	Version int          `json:"version"`
	Checks  []wire.Check `json:"checks"`
}

func (n notebook) checkPath(digest repo.ID) string {
	return filepath.Join(n.o.Home.CacheDir(), "checks", digest.String())
}

// recorded returns the checks that were made of a database, with all its
// pages, none when they are not known.
func (n notebook) recorded(digest repo.ID) []wire.Check {
	r, ok := loadJSON[checkRecord](n, n.checkPath(digest), maxCheckRecord)
	if !ok || r.Version != checksVersion {
		return nil
	}
	for _, c := range r.Checks {
		if c.Digest != digest.String() {
			return nil
		}
	}
	return r.Checks
}

// record remembers the checks of a database.
func (n notebook) record(digest repo.ID, checks []wire.Check) {
	n.saveJSON(n.checkPath(digest), checkRecord{Version: checksVersion, Checks: checks})
}

// recordAs remembers what is known about a database under the digest of its
// file, too: by that a bundle knows it.
func (n notebook) recordAs(digest repo.ID, file string) {
	as, err := repo.ParseID(file)
	checks := n.recorded(digest)
	if err != nil || len(checks) == 0 {
		return
	}
	for i := range checks {
		checks[i].Digest = file
	}
	n.record(as, checks)
}

// examine runs every check on a database file whose content has a digest.
func (e *Engine) examine(ctx context.Context, name string, digest repo.ID, path string) ([]wire.Check, error) {
	checks, err := examineFile(ctx, path, true)
	if err != nil {
		return nil, err
	}
	now := e.now()
	for i := range checks {
		checks[i].Part, checks[i].Digest, checks[i].At = partOf(name), digest.String(), now
	}
	e.book.record(digest, checks)
	return checks, nil
}

// failed returns the first check that keeps a database from being restored, nil
// when there is none.
func failed(checks []wire.Check) *wire.Check {
	for i := range checks {
		if !checks[i].OK && checks[i].Name != checkOfRows {
			return &checks[i]
		}
	}
	return nil
}

// CheckRepository implements [wire.RepositoryChecker].
func (e *Engine) CheckRepository(ctx context.Context, r wire.CheckRequest) (wire.CheckReport, error) {
	report := wire.CheckReport{Checked: []string{}, NotChecked: []string{}, Damaged: []wire.Damage{}}
	if _, err := amber.ParseTenantID(string(r.Tenant)); err != nil {
		return report, err
	}
	if _, err := e.openTarget(ctx, r.Tenant, false); noRepository(err) {
		report.Damaged = e.gone(r.Tenant)
		return report, nil
	}
	err := e.with(ctx, r.Tenant, func(rep *repository) (err error) {
		report, err = rep.Audit(ctx, r.Tenant, r.ReadData, e.book.heads(r.Tenant), e.chains(r.Tenant)...)
		return err
	})
	return report, err
}

// gone names the chains that a missing repository contained. If there are no chains, this home has
// not taken a snapshot yet.
func (e *Engine) gone(tenant amber.TenantID) []wire.Damage {
	damaged := []wire.Damage{}
	for _, c := range e.chains(tenant) {
		head, _ := e.book.heads(tenant)(c.Agent, c.Device)
		damaged = append(damaged, wire.Damage{
			Object:    fmt.Sprintf("chain of agent %s, device %s", c.Agent, c.Device),
			Reason:    fmt.Sprintf("the repository is gone, but counter %d was written", head.Counter),
			Snapshots: []amber.SnapshotID{head.ID},
		})
	}
	return damaged
}

// heads returns a function that looks up the known end of a chain of a tenant. An end that cannot
// be read counts as unknown.
func (n notebook) heads(tenant amber.TenantID) func(amber.AgentID, string) (repo.Link, bool) {
	return func(agent amber.AgentID, device string) (repo.Link, bool) {
		l, ok, err := n.loadHead(tenant, agent, device)
		return l, ok && err == nil
	}
}

// chains returns the chains that this home has written: they must be there even
// when nothing of them is.
func (e *Engine) chains(tenant amber.TenantID) []repo.ChainName {
	agents, err := e.o.Home.Agents(tenant)
	if err != nil {
		return nil
	}
	var names []repo.ChainName
	for _, id := range agents {
		agent, err := e.place.Folder(tenant, id)
		if err != nil {
			continue
		}
		c, err := agent.Current()
		if err != nil {
			continue
		}
		device := e.book.chainOf(tenant, c.Device)
		if _, known, err := e.book.loadHead(tenant, id, device); known && err == nil {
			names = append(names, repo.ChainName{Agent: id, Device: device})
		}
	}
	return names
}
