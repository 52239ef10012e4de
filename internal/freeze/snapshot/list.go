package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// ListSnapshots implements [wire.SnapshotReader].
func (e *Engine) ListSnapshots(ctx context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	page := amber.Page[wire.SnapshotMeta]{Items: []wire.SnapshotMeta{}}
	if _, err := e.place.Folder(q.Tenant, q.Agent); err != nil {
		return page, err
	}
	if q.Limit < 0 {
		return page, amber.Errorf(amber.KindInvalid, "list snapshots", "", "the limit is negative")
	}
	at, err := parseCursor(q.Cursor)
	if err != nil {
		return page, err
	}
	limit := min(q.Limit, amber.MaxPageSize)
	if limit == 0 {
		limit = amber.DefaultPageSize
	}
	err = e.with(ctx, q.Tenant, func(rep *repository) error {
		entries, err := rep.catalog.List(ctx, q.Agent)
		if err != nil {
			return err
		}
		entries = slices.DeleteFunc(entries, at.before)
		for _, entry := range entries[:min(limit, len(entries))] {
			page.Items = append(page.Items, e.meta(entry, rep.revealed(ctx, entry)))
		}
		if len(entries) > limit {
			page.Next = cursorAt(entries[limit-1])
		}
		return nil
	})
	if noRepository(err) {
		err = e.lostRepository(q.Tenant, q.Agent)
	}
	return page, err
}

// place is a place in a listing, newest first. It stays valid when its snapshot
// is deleted.
type place struct {
	ms int64
	id amber.SnapshotID // "": the beginning
}

func cursorAt(e repo.Entry) amber.Cursor {
	return amber.Cursor(fmt.Sprintf("%d/%s", e.Manifest.CreatedAt.UnixMilli(), e.Manifest.ID))
}

func parseCursor(c amber.Cursor) (place, error) {
	if c == "" {
		return place{}, nil
	}
	at, id, _ := strings.Cut(string(c), "/")
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil || id == "" {
		return place{}, amber.Errorf(amber.KindInvalid, "list snapshots", "", "the cursor is not one of this listing")
	}
	return place{ms, amber.SnapshotID(id)}, nil
}

// before reports whether an entry was listed up to the place.
func (p place) before(e repo.Entry) bool {
	created := e.Manifest.CreatedAt.UnixMilli()
	return p.id != "" && (created > p.ms || created == p.ms && e.Manifest.ID >= p.id)
}

// lostRepository says that a repository is gone that this home has written
// snapshots of an agent to; nil when it never has.
func (e *Engine) lostRepository(tenant amber.TenantID, agent amber.AgentID) error {
	for _, chain := range e.chains(tenant) {
		if chain.Agent == agent {
			return amber.Errorf(amber.KindDamaged, "open repository", e.book.repositoryName(tenant), "the repository is gone, and this home has written snapshots to it").
				WithHint("if you removed the repository yourself, remove " + e.book.headPath(tenant, agent, chain.Device))
		}
	}
	return nil
}

// meta returns what a manifest shows everyone, including how many files were skipped. The inner
// manifest names the skipped files; a zero inner manifest names none.
func (e *Engine) meta(entry repo.Entry, inner repo.Inner) wire.SnapshotMeta {
	m := entry.Manifest
	meta := wire.SnapshotMeta{
		ID: m.ID, Agent: m.Agent, Tenant: m.Tenant, Label: m.Label, CreatedAt: m.CreatedAt,
		BytesTotal: m.BytesTotal, BytesNew: m.BytesNew, Digest: entry.Digest, GitOID: m.GitOID,
		FenceMS: m.FenceMS, Pinned: entry.Pinned, Device: m.Device, Counter: m.Counter, Parent: m.Parent,
		Skipped: slices.Concat([]wire.Skipped{}, inner.Skipped), SkippedCount: m.Skipped, WarningCount: m.Warnings,
	}
	meta.Encrypted, meta.Redacted = m.Encrypted, m.Redacted
	if entry.Signature.Status == sign.SignatureValid {
		meta.SignedBy = string(entry.Signature.KeyID)
	}
	if meta.By, meta.Amber = m.By, m.Amber; m.Encrypted {
		meta.By = inner.By
	}
	if inner.Label != "" {
		meta.Label = inner.Label
	}
	if m.Encrypted && inner.Git != nil {
		meta.GitOID = inner.Git.HeadOID
	}
	if err := entry.Usable(); err != nil {
		meta.Damage = err.Error()
	}
	return meta
}

// revealed returns the label and the history of an encrypted snapshot for a
// listing. Without the key it is zero.
func (rep *repository) revealed(ctx context.Context, entry repo.Entry) repo.Inner {
	if !entry.Manifest.Encrypted || entry.Problem != nil || rep.Locked() {
		return repo.Inner{}
	}
	inner, err := rep.Inner(ctx, entry.Manifest)
	if err != nil {
		return repo.Inner{}
	}
	return repo.Inner{Label: inner.Label, Git: inner.Git, By: inner.By}
}

// ShowSnapshot implements [wire.SnapshotReader].
func (e *Engine) ShowSnapshot(ctx context.Context, ref wire.SnapshotRef) (wire.SnapshotDetail, error) {
	var d wire.SnapshotDetail
	if err := checkRef(ref); err != nil {
		return d, err
	}
	err := e.with(ctx, ref.Tenant, func(rep *repository) error {
		entry, err := rep.catalog.Get(ctx, ref.Agent, ref.ID)
		if err != nil {
			return err
		}
		inner, err := rep.inner(ctx, entry.Manifest) // also of a signer that is not trusted: show says so
		if err != nil {
			return err
		}
		d = e.detail(entry, inner)
		return nil
	})
	if noRepository(err) {
		err = noSnapshot(ref)
	}
	return d, err
}

func noSnapshot(ref wire.SnapshotRef) error {
	return amber.Errorf(amber.KindNotFound, "find snapshot", string(ref.ID), "agent %s has no such snapshot", string(ref.Agent)).WithHint("amber snapshot list")
}

func (e *Engine) detail(entry repo.Entry, inner repo.Inner) wire.SnapshotDetail {
	d := wire.SnapshotDetail{
		SnapshotMeta: e.meta(entry, inner), Parts: parts(inner),
		Sources: []wire.SourceReport{}, Checks: slices.Concat([]wire.Check{}, inner.Checks),
	}
	if inner.Git != nil {
		d.Commit = inner.Git.Commit
	}
	for _, s := range inner.Sources {
		d.Sources = append(d.Sources, sourceReport(s))
	}
	for _, db := range inner.Databases {
		if db.Damage != "" {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s was damaged at the source: %s", db.Name, db.Damage))
		}
		d.Checks = append(d.Checks, e.book.recorded(db.Ref.Digest)...)
	}
	return d
}

// parts describes what a snapshot holds.
func parts(inner repo.Inner) []wire.SnapshotPart {
	var list []wire.SnapshotPart
	for _, d := range inner.Databases {
		list = append(list, wire.SnapshotPart{
			Name: partOf(d.Name), Bytes: d.Ref.Pages * int64(d.Ref.PageSize), Count: d.Ref.Pages, Digest: d.Ref.Digest.String(), Schema: d.Schema,
		})
	}
	if g := inner.Git; g != nil {
		list = append(list, wire.SnapshotPart{Name: partGit, Bytes: g.Bytes, Count: g.Objects, Digest: g.Set.String()})
	}
	for _, f := range []struct {
		name  string
		files *repo.FilesEntry
		count int64
	}{
		{wire.PartNotes, inner.Notes, fileCount(inner.Notes)},
		{wire.PartState, inner.State, fileCount(inner.State)},
		{partJournal, inner.Journal, frames(inner)},
	} {
		if f.files != nil {
			list = append(list, wire.SnapshotPart{Name: f.name, Bytes: f.files.Bytes, Count: f.count, Digest: f.files.Tree.String()})
		}
	}
	return list
}

// frames counts the journal entries that a snapshot holds.
func frames(inner repo.Inner) (n int64) {
	for _, m := range inner.Marks {
		n += m.Frames
	}
	return n
}

func fileCount(f *repo.FilesEntry) int64 {
	if f == nil {
		return 0
	}
	return f.Files
}

// partOf names the part a database is.
func partOf(file string) string {
	switch file {
	case memoryDB:
		return wire.PartMemory
	case controlDB:
		return partControl
	}
	return file
}
