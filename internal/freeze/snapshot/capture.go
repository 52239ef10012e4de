package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// The parts of a snapshot beside those of [wire.RestoreRequest].
const (
	partControl = "control"
	partGit     = "git"
	partJournal = "journal"
)

// journal stores the entries that no database has yet, and lets the journal be
// drained again.
func (c *capture) journal(ctx context.Context) error {
	err := c.i.spool.Frames(ctx, func(m drain.Mark, frames io.Reader) error {
		c.inner.Marks = append(c.inner.Marks, repo.JournalMark(m))
		if m.Frames == 0 {
			return nil
		}
		return c.putFrames(ctx, m.Key, frames)
	})
	if err != nil {
		return fail("capture journal", string(c.agent.ID()), err)
	}
	unread := c.i.spool.Unread()
	for _, key := range slices.Sorted(maps.Keys(unread)) {
		c.inner.Skipped = append(c.inner.Skipped, wire.Skipped{Part: partJournal, Path: string(key), Reason: wire.SkipUnreadable, Detail: unread[key]})
		c.warn = append(c.warn, fmt.Sprintf("session %s of the journal was NOT captured whole: %s", key, unread[key]))
	}
	if err := c.endJournal(ctx); err != nil {
		return err
	}
	return c.i.letDrain()
}

// putFrames stores the captured entries of one session.
func (c *capture) putFrames(ctx context.Context, key string, frames io.Reader) error {
	size, parts, err := c.w.PutFile(ctx, frames)
	if err != nil {
		return err
	}
	c.sessions = append(c.sessions, repo.TreeEntry{Name: key, Mode: repo.ModeFile, Size: size, Parts: parts})
	if c.inner.Journal == nil {
		c.inner.Journal = &repo.FilesEntry{}
	}
	c.inner.Journal.Files++
	c.inner.Journal.Bytes += size
	c.total += size
	return nil
}

// endJournal stores the folder of captured entries, if there are any.
func (c *capture) endJournal(ctx context.Context) (err error) {
	if c.inner.Journal != nil {
		c.inner.Journal.Tree, err = c.w.PutTree(ctx, c.sessions)
	}
	return err
}

// git stores the objects of the notes' history that the last snapshot does not
// have.
func (c *capture) git(ctx context.Context) error {
	c.inner.Skipped = append(c.inner.Skipped, c.i.skipped...)
	if !c.i.git {
		return nil
	}
	entry, unread, err := c.history(ctx, gitobj.Options{Dir: c.i.notes.root, Git: c.e.o.Git, FS: c.e.o.FS}, c.i.refs, c.parent.Git)
	if why := unfit(unread); why != "" {
		c.warn = append(c.warn, "the history of the notes could not be captured: "+unread.Error())
		c.inner.Skipped = append(c.inner.Skipped, wire.Skipped{Part: partGit, Path: ".git", Reason: why, Detail: unread.Error()})
		return nil
	}
	c.inner.Git = entry
	return fail("capture git", c.i.notes.root, cmp.Or(unread, err))
}

// history stores the objects that refs reach, beginning with what an earlier
// snapshot of the same repository holds, unless some of that was rewritten
// since: then it does not belong to this snapshot. Unread says why the
// repository could not be read; any other error is one of ours.
func (c *capture) history(ctx context.Context, o gitobj.Options, want gitobj.Refs, last *repo.GitEntry) (_ *repo.GitEntry, unread, err error) {
	entry := gitEntryOf(want)
	if last == nil || !want.Equal(refsOf(last)) || !c.rep.Has(last.Set) || last.Commit == nil { // git has work to do, in a folder that is swept if we die
		tmp, done, failed := c.e.scratch("git")
		if failed != nil {
			return nil, nil, failed
		}
		defer func() { err = errors.Join(err, done()) }()
		o.Temp = tmp
	}
	var have gitobj.Refs
	var base repo.ID
	if last != nil && c.rep.Has(last.Set) {
		contained, unread := gitobj.Contains(ctx, o, want, refsOf(last))
		if unread != nil {
			return nil, unread, nil
		}
		if contained {
			have, base = refsOf(last), last.Set
		}
	}
	set, err := c.w.NewGitSet(ctx, base)
	if err != nil {
		return nil, nil, err
	}
	if !set.Based() {
		have = gitobj.Refs{}
	}
	if set.Based() {
		entry.Bytes = last.Bytes
	}
	unread = gitobj.Objects(ctx, o, want, have, func(oid string, raw []byte) error {
		switch {
		case set.Has(oid):
			return nil
		case set.Full():
			return amber.Errorf(amber.KindQuota, "capture git", o.Dir, "the history has too many objects")
		}
		entry.Bytes += int64(len(raw))
		entry.Commit = commitOf(entry, oid, raw)
		err = set.Put(ctx, repo.GitObject{OID: oid, Raw: raw})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if unread != nil {
		return nil, unread, nil
	}
	if last != nil && entry.Commit == nil && last.HeadOID == entry.HeadOID {
		entry.Commit = last.Commit
	}
	if unread = lookUp(ctx, o, entry); unread != nil {
		return nil, unread, nil
	}
	entry.Set, entry.Objects, err = set.Finish(ctx)
	c.total += entry.Bytes
	return entry, nil, err
}

// gitEntryOf returns the entry of a history of which no object is stored yet.
func gitEntryOf(refs gitobj.Refs) *repo.GitEntry {
	g := &repo.GitEntry{Head: refs.Head, HeadOID: refs.OID, Refs: make([]repo.GitRefEntry, 0, len(refs.Refs))}
	for _, r := range refs.Refs {
		g.Refs = append(g.Refs, repo.GitRefEntry(r))
	}
	return g
}

func refsOf(g *repo.GitEntry) gitobj.Refs {
	refs := gitobj.Refs{Head: g.Head, OID: g.HeadOID}
	for _, r := range g.Refs {
		refs.Refs = append(refs.Refs, gitobj.Ref(r))
	}
	return refs
}

// files stores the notes and the state.
func (c *capture) files(ctx context.Context) (err error) {
	now := c.i.at.Time()
	if c.inner.Notes, err = c.i.notes.put(ctx, c.w, now); err != nil {
		return fail("capture notes", c.i.notes.root, err)
	}
	if c.inner.State, err = c.i.state.put(ctx, c.w, now); err != nil {
		return fail("capture state", c.i.state.root, err)
	}
	for _, f := range []*folder{c.i.notes, c.i.state} {
		c.inner.Skipped = append(c.inner.Skipped, f.skipped...)
		c.inner.SkippedMore += f.unlisted
	}
	for _, f := range []*repo.FilesEntry{c.inner.Notes, c.inner.State} {
		if f != nil {
			c.total += f.Bytes
		}
	}
	return nil
}

// flush makes everything durable and reads it back.
func (c *capture) flush(ctx context.Context) (err error) {
	encrypted := repo.Manifest{Encrypted: c.rep.KeyID() != ""}
	if hidden(encrypted, c.request.Label) {
		c.inner.Label = c.request.Label
	}
	if encrypted.Encrypted {
		c.inner.By = c.request.By
	}
	if c.id, err = c.w.PutInner(ctx, c.inner); err != nil {
		return err
	}
	report, err := c.w.Flush(ctx)
	if err != nil {
		return err
	}
	c.stored = report.Stored
	c.e.progress(ctx, "read back", 0, report.Stored)
	return c.rep.ReadBack(ctx, c.w.Written())
}

// publish writes the manifest. With it the snapshot exists.
func (c *capture) publish(ctx context.Context, p permit.Permit) (wire.SnapshotMeta, error) {
	m, err := c.manifest(ctx)
	if err != nil {
		return wire.SnapshotMeta{}, err
	}
	return c.publishAs(ctx, p, m)
}

// publishAs completes a manifest with what was stored, and writes it.
func (c *capture) publishAs(ctx context.Context, p permit.Permit, m repo.Manifest) (wire.SnapshotMeta, error) {
	extra, err := c.keep(ctx)
	if err != nil {
		return wire.SnapshotMeta{}, err
	}
	if m.Signer, err = c.signs(ctx, m); err != nil {
		return wire.SnapshotMeta{}, err
	}
	m = c.stamped(m, c.stored+extra)
	if err := repo.InTime(amber.At(c.began), c.e.now(), c.e.o.Grace); err != nil {
		return wire.SnapshotMeta{}, err
	}
	digest, err := c.rep.catalog.Publish(ctx, p, m)
	if err != nil {
		return wire.SnapshotMeta{}, err
	}
	// The snapshot exists. The rest saves work for the next snapshot, or lets a later check report
	// more.
	c.remember(m, digest)
	entry := repo.Entry{Manifest: m, Digest: digest}
	if m.Signer != "" {
		entry.Signature = repo.SignatureState{Status: sign.SignatureValid, KeyID: m.Signer} // made a moment ago
	}
	meta := c.e.meta(entry, c.inner)
	meta.Warnings = c.warn
	if c.request.Pin {
		err := c.rep.catalog.SetPin(ctx, p, m.Agent, m.ID, true, c.e.now())
		if meta.Pinned = err == nil; err != nil {
			meta.Warnings = append(meta.Warnings, "the snapshot could not be pinned: "+err.Error())
		}
	}
	return meta, nil
}

// keep stores again the objects that a garbage collection has condemned since this snapshot began,
// and returns how many bytes that took. If an object is gone already, the snapshot ends with an
// error.
func (c *capture) keep(ctx context.Context) (int64, error) {
	lost, err := c.rep.Endangered(ctx, func(fn func(repo.ID, repo.Kind) error) error {
		if err := fn(c.id, repo.KindManifest); err != nil {
			return err
		}
		return c.rep.NeededBy(ctx, c.inner, fn)
	})
	if err != nil || len(lost) == 0 {
		return 0, err
	}
	condemned, err := c.rep.Condemned(ctx)
	if err != nil {
		return 0, err
	}
	report, err := c.rep.StoreAgain(ctx, lost, condemned)
	return report.Stored, err
}

// manifest says what the snapshot is and where it stands in its chain.
func (c *capture) manifest(ctx context.Context) (repo.Manifest, error) {
	id, err := amber.NewUUID(c.e.o.Clock(), c.e.o.Random)
	if err != nil {
		return repo.Manifest{}, err
	}
	tip, err := c.tip(ctx)
	if err != nil {
		return repo.Manifest{}, err
	}
	return repo.Manifest{
		ID: amber.SnapshotID(id), Tenant: c.agent.Tenant(), Agent: c.agent.ID(), Device: c.e.book.chainOf(c.agent.Tenant(), c.i.current.Device),
		Counter: tip.Counter + 1, Parent: tip.Digest, ParentID: tip.ID,
		CreatedAt: c.i.at, FenceMS: float64(c.i.fence.Microseconds()) / 1000,
		Generation: c.i.current.Generation, Incarnation: c.i.current.Incarnation,
	}, nil
}

// stamped adds to the manifest what was stored and with which keys. The fields that everyone may
// read say nothing about the content of an encrypted snapshot.
func (c *capture) stamped(m repo.Manifest, stored int64) repo.Manifest {
	m.Inner, m.BytesTotal, m.BytesNew = c.id, c.total, stored
	m.Skipped, m.Warnings = len(c.inner.Skipped)+int(c.inner.SkippedMore), len(c.warn)
	if m.Key = c.rep.KeyID(); m.Key != "" {
		m.Encrypted, m.Sealed = true, c.w.Sealed(c.id)
	} else if c.inner.Git != nil {
		m.GitOID = c.inner.Git.HeadOID
	}
	if c.inner.Label == "" {
		m.Label = c.request.Label
	}
	if m.Amber = c.e.o.Version; !m.Encrypted {
		m.By = c.request.By
	}
	return m
}

// signs returns the key that signs the snapshot, "" for no signature if the request wants none. A
// signed chain stays signed: an unsigned link is what an attacker without the key would add.
// Errors: refused.
func (c *capture) signs(ctx context.Context, m repo.Manifest) (sign.KeyID, error) {
	const op = "take snapshot"
	if c.rep.signer != nil && !c.e.o.Keys.NoSign && !c.request.NoSign {
		return c.rep.signer.KeyID(), nil
	}
	before, err := c.rep.signedBefore(ctx, m)
	switch {
	case err != nil || before == 0:
		return "", err
	case c.request.NoSign:
		return "", amber.Errorf(amber.KindRefused, op, string(m.Agent), "earlier snapshots of this agent are signed, so this one must be signed too")
	case c.rep.signer == nil:
		return "", amber.Errorf(amber.KindRefused, op, string(m.Agent), "earlier snapshots of this agent are signed, and this home has no signing key").
			WithHint("amber key new")
	}
	c.warn = append(c.warn, "snapshot.sign is off, but the snapshot was signed because earlier snapshots are")
	return c.rep.signer.KeyID(), nil
}

// tip returns the end of a chain. A repository that was set back to an earlier
// state does not make the counter go back.
func (c *capture) tip(ctx context.Context) (repo.Link, error) {
	device := c.e.book.chainOf(c.agent.Tenant(), c.i.current.Device)
	catalog := c.rep.catalog
	if c.rep.signer != nil {
		// A chain of ours goes on from what we, or who is trusted, have signed.
		catalog = catalog.Trusting(func(key sign.KeyID) bool {
			standing, err := c.e.keys.Standing(ctx, key)
			return err == nil && standing != sign.StandingStranger
		})
	}
	seen, err := catalog.TipSince(ctx, c.agent.ID(), device, c.e.book.loadSeen(c.agent, device))
	if err != nil {
		return repo.Link{}, err
	}
	c.seen = seen
	if known, ok, err := c.e.book.loadHead(c.agent.Tenant(), c.agent.ID(), device); err == nil && ok && known.Counter > seen.Tip.Counter {
		return known, nil
	}
	return seen.Tip, nil
}

// own returns what the last snapshot that this device has taken holds, false
// when that cannot be told without looking at all of them.
func (c *capture) own(ctx context.Context) (repo.Inner, bool) {
	current, err := c.agent.Current()
	if err != nil {
		return repo.Inner{}, false
	}
	head, known, err := c.e.book.loadHead(c.agent.Tenant(), c.agent.ID(), c.e.book.chainOf(c.agent.Tenant(), current.Device))
	if err != nil || !known {
		return repo.Inner{}, false
	}
	entry, inner, err := c.rep.find(ctx, wire.SnapshotRef{Tenant: c.agent.Tenant(), Agent: c.agent.ID(), ID: head.ID})
	return inner, err == nil && entry.Digest == head.Digest && c.shares(entry.Manifest)
}

// owns reports whether this home has taken a snapshot, as far as that can be
// told: what it stores refers to what that one holds.
func (c *capture) owns(entry repo.Entry) bool {
	if entry.Usable() != nil {
		return false
	}
	return c.rep.signer == nil || entry.Signature.Status == sign.SignatureValid && entry.Signature.KeyID == c.rep.signer.KeyID()
}

// shares reports whether a snapshot may refer to what an earlier one has
// stored: under one key only.
func (c *capture) shares(m repo.Manifest) bool { return m.Key == c.rep.KeyID() }

// remember keeps the end of the chain, and what the next snapshot need not
// read.
func (c *capture) remember(m repo.Manifest, digest string) {
	head := repo.Link{Counter: m.Counter, ID: m.ID, Digest: digest}
	if err := c.e.book.saveHead(m.Tenant, m.Agent, m.Device, head); err != nil {
		c.warn = append(c.warn, "the end of the chain could not be noted outside the repository: "+err.Error())
	}
	if c.agent == nil {
		return // imported: nothing of it was read here
	}
	c.e.book.saveSeen(c.agent, m.Device, repo.Seen{Tip: head, IDs: append(c.seen.IDs, m.ID)})
	for _, name := range slices.Sorted(maps.Keys(c.bases)) {
		c.e.book.saveBase(c.agent, name, *c.bases[name])
	}
	c.e.book.saveRecords(c.agent, "notes"+m.Key, c.i.notes.records())
	c.e.book.saveRecords(c.agent, "state"+m.Key, c.i.state.records())
}
