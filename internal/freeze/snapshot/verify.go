package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// VerifySnapshot implements [wire.SnapshotReader].
func (e *Engine) VerifySnapshot(ctx context.Context, r wire.VerifyRequest) (wire.VerifyReport, error) {
	report := wire.VerifyReport{ID: r.ID, Checked: []string{}, NotChecked: []string{}, Damaged: []wire.Damage{}, Checks: []wire.Check{}}
	if err := checkRef(r.SnapshotRef); err != nil {
		return report, err
	}
	encrypted := false
	err := e.with(ctx, r.Tenant, func(rep *repository) error {
		encrypted = rep.KeyID() != ""
		s := &verification{e: e, rep: rep, ref: r.SnapshotRef, report: &report}
		return s.run(ctx, r.ReadData)
	})
	if noRepository(err) {
		err = noSnapshot(r.SnapshotRef)
	}
	if err == nil {
		e.verified(ctx, r, report, encrypted)
	}
	return report, err
}

// verification is one snapshot being verified.
type verification struct {
	e      *Engine
	rep    *repository
	ref    wire.SnapshotRef
	report *wire.VerifyReport
}

func (s *verification) run(ctx context.Context, readData bool) error {
	entry, err := s.rep.catalog.Get(ctx, s.ref.Agent, s.ref.ID)
	if err == nil {
		err = entry.Problem
	}
	switch amber.KindOf(err) {
	case amber.KindDamaged, amber.KindTooNew, amber.KindUntrusted, amber.KindCrossTenant:
		s.damaged("manifest", err)
		s.notChecked("place in the chain", "inner manifest", "objects")
		s.contentNotChecked("")
		return nil
	}
	if err != nil {
		return err
	}
	s.checked("manifest: digest, place and form")
	if err := s.signature(ctx, entry); err != nil {
		return err
	}
	if err := s.chain(ctx, entry); err != nil {
		return err
	}
	if entry.Manifest.Encrypted {
		if err := s.sealed(ctx, entry); err != nil {
			return err
		}
	}
	if s.rep.Locked() && entry.Manifest.Encrypted {
		s.notChecked("content of the inner manifest: encrypted, and no identity opens it", "objects: only the inner manifest names them")
		s.contentNotChecked(" (--identity FILE)")
		return nil
	}
	inner, err := s.rep.inner(ctx, entry.Manifest)
	if err != nil {
		s.notChecked("objects")
		s.contentNotChecked("")
		return s.object(ctx, "inner manifest", err)
	}
	s.checked("inner manifest: read and compared with its id")
	s.absent(inner)
	whole, err := s.objects(ctx, inner)
	switch {
	case err != nil:
		return err
	case !whole:
		s.contentNotChecked("")
		return nil
	case !readData:
		s.contentNotChecked(" (--read-data)")
		return nil
	}
	return s.data(ctx, inner)
}

// signature checks whether the manifest is as its signer signed it.
func (s *verification) signature(ctx context.Context, entry repo.Entry) (err error) {
	if s.report.Signature, err = s.e.signature(ctx, entry); err != nil {
		return err
	}
	switch r := s.report.Signature; r.Status {
	case sign.SignatureValid:
		s.checked(fmt.Sprintf("signature: by %s (%s)", r.KeyID, r.Standing))
	case sign.SignatureMissing:
		s.notChecked("signature: the snapshot is not signed")
	default:
		s.damaged("signature", errors.New(r.Detail))
	}
	return nil
}

// sealed compares the stored bytes of the inner manifest with what the outer
// one says; it takes no key.
func (s *verification) sealed(ctx context.Context, entry repo.Entry) error {
	if err := s.rep.CheckSealed(ctx, entry.Manifest); err != nil {
		return s.object(ctx, "inner manifest, as stored", err)
	}
	s.checked("inner manifest: stored bytes")
	return nil
}

// contentNotChecked says that nothing was read of what the snapshot holds.
func (s *verification) contentNotChecked(how string) {
	s.notChecked("the content of objects"+how, "integrity of databases"+how, "history of notes"+how)
}

// absent names the databases that an agent has and the snapshot has not.
func (s *verification) absent(inner repo.Inner) {
	for _, name := range []string{memoryDB, controlDB} {
		if findDatabase(inner.Databases, name) != nil {
			continue
		}
		line := name + ": not in this snapshot"
		for _, x := range inner.Skipped {
			if x.Part == partOf(name) {
				line += "; " + x.Reason + " when the snapshot was taken: " + x.Detail
			}
		}
		s.notChecked(line)
	}
}

func (s *verification) checked(what ...string) {
	s.report.Checked = append(s.report.Checked, what...)
}

func (s *verification) notChecked(what ...string) {
	s.report.NotChecked = append(s.report.NotChecked, what...)
}

func (s *verification) damaged(object string, err error) {
	s.report.Damaged = append(s.report.Damaged, wire.Damage{Object: object, Reason: err.Error(), Snapshots: []amber.SnapshotID{s.ref.ID}})
}

// object notes damage and passes on what is no matter of the snapshot: what the
// disk or its permissions keep from being read or built tells nothing about it.
func (s *verification) object(ctx context.Context, name string, err error) error {
	switch amber.KindOf(err) {
	case amber.KindDamaged, amber.KindNotFound, amber.KindTooNew, amber.KindUntrusted:
		if ctx.Err() == nil {
			s.damaged(name, err)
			return nil
		}
	}
	return err
}

// unfit makes damage of the refusal of something that came from the snapshot.
func (s *verification) unfit(err error) error {
	switch amber.KindOf(err) {
	case amber.KindRefused, amber.KindInvalid:
		if !errors.Is(err, fs.ErrPermission) {
			return &amber.Error{Op: "verify snapshot", Kind: amber.KindDamaged, ID: string(s.ref.ID), Err: err}
		}
	}
	return err
}

// chain checks the chain this snapshot is a link of.
func (s *verification) chain(ctx context.Context, entry repo.Entry) error {
	device := entry.Manifest.Device
	r, err := s.rep.catalog.CheckChain(ctx, s.ref.Agent, func(d string) (repo.Link, bool) { return s.e.book.heads(s.ref.Tenant)(s.ref.Agent, d) })
	if err != nil {
		return err
	}
	for _, d := range r.Damaged {
		s.damaged("chain", errors.New(d))
	}
	s.notChecked(r.NotChecked...)
	if len(r.Damaged) == 0 {
		s.checked("chain of device " + device + ": no gap without a stub")
	}
	for _, signer := range r.Signers {
		if signer.Device != device || signer.KeyID == "" {
			continue
		}
		standing, err := s.e.keys.Standing(ctx, signer.KeyID)
		if err != nil {
			return err
		}
		s.checked(fmt.Sprintf("chain of device %s: counters %d to %d signed by %s (%s)", device, signer.From, signer.To, signer.KeyID, standing))
	}
	return nil
}

// objects looks for everything the snapshot needs and reports whether all of
// it is there.
func (s *verification) objects(ctx context.Context, inner repo.Inner) (bool, error) {
	n, missing := 0, 0
	err := s.rep.NeededBy(ctx, inner, func(id repo.ID, kind repo.Kind) error {
		if n++; n%256 == 1 {
			s.e.progress(ctx, "look for objects", int64(n), 0)
		}
		if !s.rep.Has(id) {
			missing++
			if missing <= 20 {
				s.damaged(fmt.Sprintf("%s %s", kind, id), errors.New("not in the repository"))
			}
		}
		return nil
	})
	if err != nil {
		s.notChecked("objects that damaged maps and trees name")
		return false, s.object(ctx, "maps and trees", err)
	}
	if missing == 0 {
		s.checked(fmt.Sprintf("objects: all %d are in the index, and their packs exist", n))
	}
	return missing == 0, nil
}

// data reads everything: databases are built in a temporary folder and
// examined, files are read, the history is walked.
func (s *verification) data(ctx context.Context, inner repo.Inner) error {
	tmp, done, err := s.e.scratch("verify")
	if err != nil {
		return err
	}
	err = s.databases(ctx, inner, tmp)
	if err == nil {
		err = s.files(ctx, inner)
	}
	if err == nil {
		err = s.history(ctx, "git", inner.Git, tmp)
	}
	for _, src := range inner.Sources {
		if err == nil {
			err = s.source(ctx, src, tmp)
		}
	}
	return errors.Join(err, done())
}

func (s *verification) databases(ctx context.Context, inner repo.Inner, tmp string) error {
	for _, d := range inner.Databases {
		path := filepath.Join(tmp, d.Name)
		err := s.e.writeDatabase(ctx, s.rep, d, path)
		var made []wire.Check
		if err == nil {
			s.checked(fmt.Sprintf("%s: %d pages read and compared", d.Name, d.Ref.Pages))
			made, err = s.examine(ctx, d, path)
		}
		if err != nil {
			if err := s.object(ctx, d.Name, err); err != nil {
				return err
			}
		}
		s.unmade(d, made)
		if err := fsx.RemoveAll(s.e.o.FS, path); err != nil {
			return err
		}
	}
	return nil
}

// examine runs the checks on a database that was built. A database that was damaged when it was
// captured is still damaged, and the report says so.
func (s *verification) examine(ctx context.Context, d repo.DatabaseEntry, path string) ([]wire.Check, error) {
	s.e.progress(ctx, "check "+d.Name, 0, 0)
	checks, err := s.e.examine(ctx, d.Name, d.Ref.Digest, path)
	if err != nil {
		return nil, s.unfit(err)
	}
	s.report.Checks = append(s.report.Checks, checks...)
	for _, c := range checks {
		if c.OK {
			s.checked(d.Name + ": " + c.Name)
			continue
		}
		s.damaged(d.Name, fmt.Errorf("%s: %s", c.Name, c.Detail))
	}
	return checks, nil
}

// everyCheck is what an examination of each database is made of. None is made
// behind one that failed.
var everyCheck = map[string][]string{
	memoryDB:  {"schema", "integrity", "foreign_keys", "full_text", "counters", checkOfRows},
	controlDB: {"schema", "integrity", "foreign_keys", "counters", checkOfRows},
}

// unmade names the checks of a database that were not made.
func (s *verification) unmade(d repo.DatabaseEntry, made []wire.Check) {
	for _, name := range everyCheck[d.Name] {
		if !slices.ContainsFunc(made, func(c wire.Check) bool { return c.Name == name }) {
			s.notChecked(d.Name + ": " + name)
		}
	}
}

// files reads every file.
func (s *verification) files(ctx context.Context, inner repo.Inner) error {
	for _, f := range []struct {
		name string
		e    *repo.FilesEntry
	}{{wire.PartNotes, inner.Notes}, {wire.PartState, inner.State}, {partJournal, inner.Journal}} {
		if err := s.tree(ctx, f.name, f.e); err != nil {
			return err
		}
	}
	return nil
}

func (s *verification) tree(ctx context.Context, name string, f *repo.FilesEntry) error {
	if f == nil {
		return nil
	}
	var files int64
	err := s.rep.WalkTree(ctx, f.Tree, func(rel string, e repo.TreeEntry) error {
		if err := mayWrite(rel); err != nil || e.Mode == repo.ModeDir {
			return s.unfit(err)
		}
		if err := s.rep.ReadFile(ctx, e, io.Discard); err != nil {
			return err
		}
		files++
		s.e.progress(ctx, "read "+name, files, f.Files)
		return nil
	})
	if err != nil {
		s.notChecked(fmt.Sprintf("%s: files after the damage; %d of %d were read", name, files, f.Files))
		return s.object(ctx, name, err)
	}
	if files != f.Files {
		s.damaged(name, fmt.Errorf("%d files were found, the manifest says %d", files, f.Files))
		return nil
	}
	s.checked(fmt.Sprintf("%s: %d files read and compared", name, files))
	return nil
}

// history builds the repository of the notes and walks it.
func (s *verification) history(ctx context.Context, name string, g *repo.GitEntry, tmp string) error {
	if g == nil {
		return nil
	}
	s.e.progress(ctx, "walk the history of "+name, 0, 0)
	err := gitobj.Connected(ctx, gitobj.Options{Git: s.e.o.Git}, tmp, refsOf(g), s.e.objects(ctx, s.rep, g))
	if amber.KindOf(err) == amber.KindUnsupported {
		s.notChecked(name + ": " + err.Error())
		return nil
	}
	if err != nil {
		s.notChecked(name + ": whether every object that a commit needs exists")
		return s.object(ctx, name, s.unfit(err))
	}
	s.checked(fmt.Sprintf("%s: %d objects read, none that a commit needs is missing", name, g.Objects))
	return nil
}

// objects hands out the objects of a history.
func (e *Engine) objects(ctx context.Context, rep *repository, g *repo.GitEntry) func(func(string, []byte) error) error {
	return func(yield func(oid string, raw []byte) error) error {
		return rep.GitObjects(ctx, g.Set, func(o repo.GitObject) error { return yield(o.OID, o.Raw) })
	}
}

// source reads everything of a source. Its databases are not Amber's: their
// pages are compared, and nothing is said about what is in them.
func (s *verification) source(ctx context.Context, src repo.SourceEntry, tmp string) error {
	name := "source:" + src.Name
	for _, d := range src.Databases {
		err := s.rep.ReadDatabase(ctx, d.Ref, func(int64, []byte) error { return nil })
		if err != nil {
			if err := s.object(ctx, name+" "+d.Name, err); err != nil {
				return err
			}
			s.notChecked(name + " " + d.Name + ": pages after the damage, and their content")
			continue
		}
		s.checked(fmt.Sprintf("%s %s: %d pages read and compared", name, d.Name, d.Ref.Pages))
		s.notChecked(name + " " + d.Name + ": content of the pages")
	}
	if err := s.tree(ctx, name, src.Files); err != nil {
		return err
	}
	return s.history(ctx, name+" git", src.Git, tmp)
}
