package repo_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

const (
	tenant = amber.TenantID("acme")
	ada    = amber.AgentID("ada")
	bob    = amber.AgentID("bob")
	laptop = "laptop"
	grace  = 24 * time.Hour
)

// epoch is when the clock of every store begins.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// store is a repository as a snapshot engine uses it, with a clock that stands
// still.
type store struct {
	target  target.Target
	repo    *repo.Repo
	catalog *repo.Catalog
	now     time.Time
	ids     *uint64 // of snapshots

	recipient string // of one who opens all repositories; only where it is needed
}

func newStore(t testing.TB, target target.Target) *store {
	t.Helper()
	r := open(t, target)
	return &store{target: target, repo: r, catalog: r.Catalog(tenant), now: epoch, ids: new(uint64)}
}

// storeOn returns a target and the store on it.
func storeOn[T target.Target](t testing.TB, on T) (T, *store) {
	t.Helper()
	return on, newStore(t, on)
}

// again returns the same repository as another program sees it.
func (s *store) again(t testing.TB) *store {
	t.Helper()
	c := newStore(t, s.target)
	c.now, c.ids = s.now, s.ids
	return c
}

func (s *store) clock() time.Time { return s.now }

func (s *store) at() amber.Time { return amber.At(s.now) }

func (s *store) later(d time.Duration) { s.now = s.now.Add(d) }

func (s *store) newID(t testing.TB) amber.SnapshotID {
	t.Helper()
	*s.ids++
	random := binary.BigEndian.AppendUint64(make([]byte, 2), *s.ids)
	return amber.SnapshotID(must.Get(amber.NewUUID(s.now, bytes.NewReader(random)))(t))
}

// content is what a snapshot in these tests holds: a database, notes and their
// history, all made of a word.
type content struct {
	word  string
	notes int // files; those below are the same for every word
}

func (c content) pages() []byte {
	b := make([]byte, 3*512)
	for i := range 3 {
		copy(b[i*512:], fmt.Sprintf("page %d", i))
	}
	copy(b[512:], c.word)
	return b
}

func (c content) object() repo.GitObject {
	raw := fmt.Appendf(nil, "blob %d\x00%s", len(c.word), c.word)
	sum := sha1.Sum(raw)
	return repo.GitObject{OID: hex.EncodeToString(sum[:]), Raw: raw}
}

// inner stores what a snapshot holds, but for the inner manifest.
func (s *store) inner(w *repo.Writer, c content) (in repo.Inner, err error) {
	if s.repo.KeyID() != "" {
		in.Label = c.word
	}
	d, err := w.NewDatabase(ctx, 512, nil)
	if err != nil {
		return in, err
	}
	if err := d.Write(c.pages()); err != nil {
		return in, err
	}
	ref, _, err := d.Finish(ctx)
	if err != nil {
		return in, err
	}
	in.Databases = []repo.DatabaseEntry{{Name: "memory.db", ApplicationID: 7, Schema: 3, Ref: ref}}
	notes := []string{c.word}
	for i := range c.notes {
		notes = append(notes, fmt.Sprintf("note %d", i))
	}
	var entries []repo.TreeEntry
	for i, text := range notes {
		size, parts, err := w.PutFile(ctx, bytes.NewReader([]byte(text)))
		if err != nil {
			return in, err
		}
		entries = append(entries, repo.TreeEntry{Name: fmt.Sprintf("%d.md", i), Mode: repo.ModeFile, Size: size, Parts: parts})
	}
	tree, err := w.PutTree(ctx, entries)
	if err != nil {
		return in, err
	}
	in.Notes = &repo.FilesEntry{Tree: tree, Files: int64(len(entries))}
	set, err := w.NewGitSet(ctx, repo.ID{})
	if err != nil {
		return in, err
	}
	if err := set.Put(ctx, c.object()); err != nil {
		return in, err
	}
	root, count, err := set.Finish(ctx)
	oid := c.object().OID
	in.Git = &repo.GitEntry{
		Head: "refs/heads/main", HeadOID: oid, Refs: []repo.GitRefEntry{{Name: "refs/heads/main", OID: oid}}, Set: root, Objects: count,
	}
	return in, err
}

// prepare stores everything of a snapshot but its manifest.
func (s *store) prepare(t testing.TB, agent amber.AgentID, device string, c content) (repo.Manifest, error) {
	t.Helper()
	condemned, err := s.repo.Condemned(ctx)
	if err != nil {
		return repo.Manifest{}, err
	}
	w := s.repo.NewWriter(ctx)
	defer w.Close()
	w.Avoid(condemned)
	in, err := s.inner(w, c)
	if err != nil {
		return repo.Manifest{}, err
	}
	id, err := w.PutInner(ctx, in)
	if err != nil {
		return repo.Manifest{}, err
	}
	report, err := w.Flush(ctx)
	if err != nil {
		return repo.Manifest{}, err
	}
	tip, err := s.catalog.Tip(ctx, agent, device)
	return s.sealed(w, repo.Manifest{
		ID: s.newID(t), Tenant: tenant, Agent: agent, Device: device, Counter: tip.Counter + 1, Parent: tip.Digest, ParentID: tip.ID,
		CreatedAt: s.at(), Label: c.word, Inner: id, BytesTotal: 1536, BytesNew: report.Stored, GitOID: c.object().OID, FenceMS: 1.25,
		Incarnation: "first", Generation: 1,
	}), err
}

// publish stores again what is endangered and publishes a snapshot.
func (s *store) publish(m repo.Manifest) error {
	in, err := s.repo.Inner(ctx, m)
	if err != nil {
		return err
	}
	lost, err := s.repo.Endangered(ctx, func(fn func(repo.ID, repo.Kind) error) error {
		if err := fn(m.Inner, repo.KindManifest); err != nil {
			return err
		}
		return s.repo.NeededBy(ctx, in, fn)
	})
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		condemned, err := s.repo.Condemned(ctx)
		if err != nil {
			return err
		}
		if _, err := s.repo.StoreAgain(ctx, lost, condemned); err != nil {
			return err
		}
	}
	_, err = s.catalog.Publish(ctx, may(), m)
	return err
}

// take takes a snapshot.
func (s *store) take(t testing.TB, agent amber.AgentID, word string) repo.Manifest {
	t.Helper()
	return s.takeContent(t, agent, content{word, 2})
}

func (s *store) takeContent(t testing.TB, agent amber.AgentID, c content) repo.Manifest {
	t.Helper()
	m := must.Get(s.prepare(t, agent, laptop, c))(t)
	must.Do(t, s.publish(m))
	return m
}

// may is the permit of a test, which shares its repository with no other process.
func may() permit.Permit {
	p, _ := permit.New(nil)
	return p
}

func (s *store) delete(t testing.TB, m repo.Manifest) {
	t.Helper()
	must.Do(t, s.catalog.Delete(ctx, may(), m.Agent, m.ID, "deleted", s.at()))
}

func (s *store) options() repo.GCOptions {
	return repo.GCOptions{Tenant: tenant, Now: s.clock, Grace: grace, MaySweep: true}
}

func (s *store) gc(t testing.TB) repo.GCReport {
	t.Helper()
	return must.Get(s.repo.CollectGarbage(ctx, may(), s.options()))(t)
}

// collect runs gc until everything is freed that can be.
func (s *store) collect(t testing.TB) {
	t.Helper()
	for range 3 {
		s.gc(t)
		s.later(grace)
	}
	s.gc(t)
}

func (s *store) audit(t testing.TB) wire.CheckReport {
	t.Helper()
	return must.Get(s.repo.Audit(ctx, tenant, true, s.heads(t)))(t)
}

// heads returns a function that reads the end of a chain as it is now.
func (s *store) heads(t testing.TB) func(amber.AgentID, string) (repo.Link, bool) {
	return func(agent amber.AgentID, device string) (repo.Link, bool) {
		l, err := s.catalog.Tip(ctx, agent, device)
		must.NoError(t, err)
		return l, l.Counter > 0
	}
}

// whole fails unless the repository is clean and the snapshots hold what they
// should, read by another program.
func (s *store) whole(t testing.TB, snapshots ...repo.Manifest) wire.CheckReport {
	t.Helper()
	other := s.again(t)
	report := other.audit(t)
	if !report.OK() || len(report.NotChecked) > 0 {
		t.Fatalf("audit: %+v", report)
	}
	for _, m := range snapshots {
		if err := other.same(m); err != nil {
			t.Fatalf("snapshot %s: %v", m.Label, err)
		}
	}
	return report
}

// same reads a snapshot and compares it with what its label says.
func (s *store) same(m repo.Manifest) error {
	e, err := s.catalog.Get(ctx, m.Agent, m.ID)
	if err != nil {
		return err
	}
	in, err := s.repo.Inner(ctx, e.Manifest)
	if err != nil {
		return err
	}
	want := content{word: m.Label}
	if m.Encrypted {
		want.word = in.Label
	}
	got := make([]byte, 3*512)
	err = s.repo.ReadDatabase(ctx, in.Databases[0].Ref, func(at int64, pages []byte) error {
		copy(got[at:], pages)
		return nil
	})
	if err != nil || !bytes.Equal(got, want.pages()) {
		return fmt.Errorf("database: %v, %q", err, got)
	}
	note := ""
	err = s.repo.WalkTree(ctx, in.Notes.Tree, func(path string, e repo.TreeEntry) error {
		var b bytes.Buffer
		err := s.repo.ReadFile(ctx, e, &b)
		if path == "0.md" {
			note = b.String()
		}
		return err
	})
	if err != nil || note != want.word {
		return fmt.Errorf("notes: %v, %q", err, note)
	}
	o, err := s.repo.GitObject(ctx, in.Git.Set, want.object().OID)
	if err != nil || !bytes.Equal(o.Raw, want.object().Raw) {
		return fmt.Errorf("git: %v, %q", err, o.Raw)
	}
	return nil
}
