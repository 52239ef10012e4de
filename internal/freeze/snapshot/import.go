package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// VerifyBundle implements [wire.Bundler].
func (e *Engine) VerifyBundle(ctx context.Context, r wire.BundleRequest) (report wire.BundleReport, err error) {
	b, err := e.readBundle(ctx, r.File, false, r.NoIdentity)
	if err != nil {
		return report, err
	}
	defer b.Close()
	if report, err = b.Verify(ctx); err != nil {
		return report, err
	}
	if len(report.Parts) > 0 { // it was looked inside
		report.NotChecked = append(report.NotChecked, unread...)
	}
	report.Signature, err = e.standing(ctx, report.Signature)
	return report, err
}

// unread is what nothing that is only looked at tells: whether the bytes, which
// are those that were written, mean anything.
var unread = []string{
	"databases: schema, integrity and full text (import and restore look at them)",
	"history of the notes: whether it is whole (import and restore look at it)",
}

// RestoreBundle implements [wire.Bundler].
func (e *Engine) RestoreBundle(ctx context.Context, file string, r wire.RestoreRequest) (report wire.RestoreReport, err error) {
	u, done, err := e.unpack(ctx, file, r.Tenant, false)
	if err != nil {
		return report, fail("restore", file, err)
	}
	defer func() { err = errors.Join(err, done()) }()
	r.ID = u.info().ID
	if r.Agent == "" {
		r.Agent = u.info().Agent
	}
	s, err := e.restoration(r)
	if err != nil {
		return s.report, err
	}
	if u.info().Agent != r.Agent && !s.fork {
		return s.report, amber.Errorf(amber.KindCrossTenant, "restore", file, "the bundle belongs to agent %s", string(u.info().Agent)).
			WithHint("amber snapshot restore " + file + " --to-agent NEW")
	}
	s.from, s.redacted, s.encrypted = u, u.info().Redacted, u.info().Encrypted
	s.tellSigner(u.signature)
	s.request.WithControl = s.request.WithControl && u.x.Format == wire.FormatAmber
	for _, l := range u.left {
		s.warn("%s %s of the bundle is not restored: %s", l.Part, l.Path, l.Detail)
	}
	err = s.run(ctx, func(replaces bool, fn func(*repository) error) error {
		if !replaces {
			return fn(nil)
		}
		rep, err := e.open(ctx, r.Tenant, fsx.Shared, creating)
		if err != nil {
			return err
		}
		defer rep.close()
		return fn(rep)
	})
	return s.done(ctx, err)
}

// Import implements [wire.Bundler].
func (e *Engine) Import(ctx context.Context, r wire.ImportRequest) (report wire.ImportReport, err error) {
	report = wire.ImportReport{Checked: []string{}, LeftOut: []wire.Skipped{}}
	if _, err := amber.ParseTenantID(string(r.Tenant)); err != nil {
		return report, err
	}
	if e.o.Disabled != "" {
		return report, amber.Errorf(amber.KindRefused, "import bundle", r.File, "%s", e.o.Disabled)
	}
	u, done, err := e.unpack(ctx, r.File, r.Tenant, r.NoSidecar)
	if err != nil {
		return report, fail("import bundle", r.File, err)
	}
	defer func() { err = errors.Join(err, done()) }()
	into, err := importInto(r, u.info())
	if err != nil {
		return report, err
	}
	report.Signature, report.LeftOut, report.Checked = u.signature, u.left, u.x.Checked
	report.Redactions = u.x.Contents.Redactions
	rep, err := e.open(ctx, r.Tenant, fsx.Shared, creating)
	if err != nil {
		return report, err
	}
	defer rep.close()
	warnings, err := rep.encrypt(ctx, nil)
	if err != nil {
		return report, err
	}
	i := &importing{u: u, into: into, report: &report}
	i.c = &capture{
		e: e, rep: rep, began: e.o.Clock(), i: &instant{at: u.info().CreatedAt},
		request: wire.SnapshotRequest{Tenant: r.Tenant, Agent: into, Label: importedLabel(u.info().Label), NoSign: !i.vouched()},
	}
	if err := i.run(ctx); err != nil {
		return report, fail("import bundle", r.File, err)
	}
	report.Warnings = append(report.Warnings, warnings...)
	if !report.Existed {
		e.created(ctx, report.Snapshot)
	}
	return report, nil
}

// importInto decides whose snapshot it becomes.
func importInto(r wire.ImportRequest, info wire.BundleInfo) (amber.AgentID, error) {
	into := info.Agent
	switch {
	case r.To != "":
		into = r.To
	case r.Agent != "" && r.Agent != info.Agent:
		return "", amber.Errorf(amber.KindCrossTenant, "import bundle", r.File, "the bundle belongs to agent %s", string(info.Agent)).
			WithHint("amber bundle import " + r.File + " --to-agent " + string(r.Agent))
	}
	return amber.ParseAgentID(string(into))
}

// importing is one bundle on its way into the repository.
type importing struct {
	c      *capture // that stores it
	u      *unpacked
	into   amber.AgentID
	report *wire.ImportReport
}

func (i *importing) run(ctx context.Context) error {
	if err := i.c.begin(ctx); err != nil {
		return err
	}
	defer i.c.close()
	for _, step := range []func(context.Context) error{i.databases, i.history, i.files, i.journal} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	c := i.u.x.Contents
	i.c.inner.Skipped = append(c.Skipped, i.u.left...)
	i.c.inner.SkippedMore = c.SkippedMore
	return i.publish(ctx)
}

// databases examines those of the bundle as a stranger's, and stores them.
func (i *importing) databases(ctx context.Context) error {
	for _, d := range i.u.held {
		path := i.u.path("db/" + d.name)
		if _, err := examineFile(ctx, path, false); err != nil {
			return fail("examine database", d.name, err)
		}
		frozen, err := image.Freeze(ctx, path)
		if err != nil {
			return fail("read database", d.name, err)
		}
		entry, _, err := i.c.database(ctx, frozen, nil)
		if err = errors.Join(err, frozen.Close()); err != nil {
			return fail("store database", d.name, err)
		}
		entry.Name = d.name
		i.c.inner.Databases = append(i.c.inner.Databases, entry)
	}
	i.report.Warnings, i.c.warn = append(i.report.Warnings, i.c.warn...), nil
	return nil
}

// history stores the objects of the notes' history.
func (i *importing) history(ctx context.Context) error {
	if i.u.objects == nil {
		return nil
	}
	entry := gitEntryOf(i.u.refs)
	if err := gitobj.Connected(ctx, gitobj.Options{Git: i.c.e.o.Git}, i.u.dir, i.u.refs, i.u.objects); err != nil {
		return err
	}
	set, err := i.c.w.NewGitSet(ctx, repo.ID{})
	if err != nil {
		return err
	}
	err = i.u.objects(func(oid string, raw []byte) error {
		if set.Has(oid) {
			return nil
		}
		if set.Full() {
			return amber.Errorf(amber.KindQuota, "import bundle", "", "the history in the bundle has too many objects")
		}
		entry.Bytes += int64(len(raw))
		entry.Commit = commitOf(entry, oid, raw)
		return set.Put(ctx, repo.GitObject{OID: oid, Raw: raw})
	})
	if err != nil {
		return err
	}
	entry.Set, entry.Objects, err = set.Finish(ctx)
	i.c.total += entry.Bytes
	i.c.inner.Git = entry
	return err
}

// files stores notes and state.
func (i *importing) files(ctx context.Context) (err error) {
	if i.c.inner.Notes, err = i.folder(ctx, wire.PartNotes); err == nil {
		i.c.inner.State, err = i.folder(ctx, wire.PartState)
	}
	return err
}

func (i *importing) folder(ctx context.Context, part string) (*repo.FilesEntry, error) {
	f := &folder{fs: i.c.e.o.FS, part: part, root: i.u.path(part), known: map[string]record{}}
	now := i.c.e.o.Clock()
	err := f.warm(ctx, i.c.w, i.c.rep.Has, now)
	if err == nil {
		err = f.freeze(ctx, i.c.w, now)
	}
	if err != nil {
		return nil, err
	}
	if len(f.skipped) > 0 {
		s := f.skipped[0]
		return nil, amber.Errorf(amber.KindRefused, "import bundle", s.Path, "%s: %s", s.Reason, s.Detail)
	}
	files, err := f.put(ctx, i.c.w, now)
	if files != nil {
		i.c.total += files.Bytes
	}
	return files, err
}

// journal stores captured entries.
func (i *importing) journal(ctx context.Context) error {
	for _, m := range i.u.marks {
		i.c.inner.Marks = append(i.c.inner.Marks, m)
		frames, err := i.u.frames(ctx, m)
		if err == nil && frames != nil {
			err = i.c.putFrames(ctx, m.Key, frames)
		}
		if err != nil {
			return err
		}
	}
	return i.c.endJournal(ctx)
}

// publish makes the snapshot exist, in a chain of its own: it is no successor
// of anything that was taken here.
func (i *importing) publish(ctx context.Context) error {
	info, c := i.u.info(), i.c
	if err := c.flush(ctx); err != nil {
		return err
	}
	entry, err := c.rep.catalog.Get(ctx, i.into, info.ID)
	var inner repo.Inner
	if err == nil {
		inner, err = c.rep.inner(ctx, entry.Manifest)
	}
	switch {
	case err == nil && i.usable(ctx, entry) && entry.Manifest.Redacted == info.Redacted && i.same(ctx, inner):
		i.report.Existed, i.report.Snapshot = true, c.e.meta(entry, inner)
		return nil
	case err != nil && amber.KindOf(err) != amber.KindNotFound && amber.KindOf(err) != amber.KindDamaged:
		return err
	}
	taken := amber.KindOf(err) != amber.KindNotFound
	m, err := i.manifest(info)
	if err != nil {
		return err
	}
	if !taken {
		i.report.Snapshot, err = c.publishAs(ctx, c.rep.permit, m)
		if amber.KindOf(err) != amber.KindConflict {
			return err
		}
		// It was deleted here.
	}
	fresh, err := amber.NewUUID(c.e.o.Clock(), c.e.o.Random)
	if err != nil {
		return err
	}
	i.report.Warnings = append(i.report.Warnings, fmt.Sprintf("another snapshot has or had the id %s; the imported one is %s", m.ID, fresh))
	m.ID = amber.SnapshotID(fresh)
	i.report.Snapshot, err = c.publishAs(ctx, c.rep.permit, m)
	return err
}

// usable reports whether a snapshot could be restored by the policy of today.
func (i *importing) usable(ctx context.Context, entry repo.Entry) bool {
	s, err := i.c.e.signature(ctx, entry)
	return err == nil && i.c.e.Acceptable(string(entry.Manifest.ID), s) == nil
}

// vouched reports whether this home may sign what it imports: what a stranger
// has made stays a stranger's.
func (i *importing) vouched() bool {
	s := i.u.signature
	return s.Status == sign.SignatureValid && s.Standing != sign.StandingStranger
}

// importedLabel keeps a bundle from being taken for what Amber itself took here.
func importedLabel(label string) string {
	if rest, ok := strings.CutPrefix(label, "auto:"); ok {
		return "imported " + rest
	}
	return label
}

// manifest says what the snapshot is. Its device is a new one that no agent has.
func (i *importing) manifest(info wire.BundleInfo) (repo.Manifest, error) {
	device, err := amber.NewUUID(i.c.e.o.Clock(), i.c.e.o.Random)
	return repo.Manifest{
		ID: info.ID, Tenant: i.c.rep.tenant, Agent: i.into, Device: "import-" + device, Counter: 1, CreatedAt: info.CreatedAt,
		Incarnation: i.u.x.Contents.Incarnation, Generation: i.u.x.Contents.Generation, Redacted: info.Redacted,
	}, err
}

// same reports whether a snapshot holds what is being imported. When files
// were changed does not matter: a bundle does not tell.
func (i *importing) same(ctx context.Context, inner repo.Inner) bool {
	head := func(g *repo.GitEntry) string {
		if g == nil {
			return ""
		}
		return g.HeadOID
	}
	if len(inner.Databases) != len(i.c.inner.Databases) || head(inner.Git) != head(i.c.inner.Git) {
		return false
	}
	if inner.Git != nil && !refsOf(inner.Git).Equal(refsOf(i.c.inner.Git)) {
		return false
	}
	for _, d := range inner.Databases {
		if other := findDatabase(i.c.inner.Databases, d.Name); other == nil || other.Ref.Digest != d.Ref.Digest {
			return false
		}
	}
	d := &differ{e: i.c.e, rep: i.c.rep}
	for _, pair := range [][2]*repo.FilesEntry{{inner.Notes, i.c.inner.Notes}, {inner.State, i.c.inner.State}, {inner.Journal, i.c.inner.Journal}} {
		diff, err := d.files(ctx, pair[0], pair[1])
		if err != nil || diff.Added+diff.Changed+diff.Removed > 0 {
			return false
		}
	}
	return true
}
