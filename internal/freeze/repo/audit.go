package repo

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire"
)

// ChainName names a chain of snapshots.
type ChainName struct {
	Agent  amber.AgentID
	Device string
}

// Audit checks a whole repository: every pack and index object like [Repo.Check], every manifest, stub, pin and list of
// condemned packs, all chains like [Catalog.CheckChain], and that every blob that a snapshot needs is there. With
// readData it reads every byte. Damage is no error; each damage names the snapshots it touches. The report lists
// objects that mean nothing, and those of a newer Amber, as not checked. When the repository is locked it lists
// encrypted contents there, too: Audit then checks their stored bytes, and those of inner manifests also against their
// manifests. Known returns the head of a chain and may be nil; expect names chains that have to be there.
//
// No process should collect garbage meanwhile: an object that is deleted while Audit reads seems to be missing. Errors:
// invalid; too_new for an index object; those of the target.
func (r *Repo) Audit(
	ctx context.Context, tenant amber.TenantID, readData bool,
	known func(amber.AgentID, string) (Link, bool), expect ...ChainName,
) (wire.CheckReport, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return wire.CheckReport{}, err
	}
	a := &audit{
		repo: r, catalog: r.Catalog(tenant), found: &findings{byObject: map[string]*finding{}},
		live: map[ID]struct{}{}, parts: map[partKey][]*finding{}, whole: true,
	}
	a.report.DataRead = readData
	steps := []func() error{
		func() error { return a.records(ctx) }, // before the index is read: what they need is there then
		func() error { return a.chains(ctx, known, expect) },
		func() error { return r.Reload(ctx) },
		func() error { return a.keys(ctx) },
		func() error { return a.blobs(ctx, readData) },
		func() error { return a.snapshots(ctx) },
		func() error { return a.strays(ctx) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return wire.CheckReport{}, err
		}
	}
	return a.finish(), nil
}

// audit is one run of Audit.
type audit struct {
	repo    *Repo
	catalog *Catalog
	stock   *stock
	found   *findings
	packs   map[ID]*packDamage
	check   CheckReport
	live    map[ID]struct{}
	parts   map[partKey][]*finding // what is wrong with parts that were looked at
	whole   bool                   // it is known what every snapshot needs
	sealed  int                    // snapshots that cannot be opened
	report  wire.CheckReport
}

func (a *audit) checked(format string, args ...any) {
	a.report.Checked = append(a.report.Checked, fmt.Sprintf(format, args...))
}

func (a *audit) notChecked(format string, args ...any) {
	if len(a.report.NotChecked) < maxProblems {
		a.report.NotChecked = append(a.report.NotChecked, fmt.Sprintf(format, args...))
	}
}

// problem notes what is wrong with an object. An object that a newer Amber wrote counts as not checked.
func (a *audit) problem(object string, err error, ids ...amber.SnapshotID) {
	if amber.KindOf(err) == amber.KindTooNew {
		a.notChecked("%s: %v", object, reasonOf(err))
		return
	}
	a.found.add(object, reasonOf(err), ids...)
}

// reasonOf is the text of an error whose object has been named.
func reasonOf(err error) string { return problemOf("", ID{}, err).Reason }

// blobs checks packs and index objects.
func (a *audit) blobs(ctx context.Context, readData bool) error {
	check, err := a.repo.Check(ctx, readData)
	if err != nil {
		return err
	}
	a.check = check
	a.report.Packs, a.report.Blobs, a.report.Bytes = check.Packs, check.Blobs, check.Bytes
	a.packs = map[ID]*packDamage{}
	for _, p := range check.Problems {
		a.blobProblem(p)
	}
	if check.More > 0 {
		a.found.add("packs and index objects", fmt.Sprintf("%d more problems", check.More))
	}
	switch {
	case readData && check.Unopened > 0:
		a.checked("%d packs with %d blobs: stored bytes", check.Packs, check.Blobs)
		a.notChecked("contents of %d encrypted blobs: %s", check.Unopened, a.whyLocked())
	case readData:
		a.checked("%d packs with %d blobs, every byte", check.Packs, check.Blobs)
	default:
		a.checked("%d packs with %d blobs: sizes, directories", check.Packs, check.Blobs)
		a.notChecked("the bytes of blobs were not read")
	}
	a.checked("%d index objects", check.IndexObjects)
	return nil
}

// snapshots looks for everything that snapshots need.
func (a *audit) snapshots(ctx context.Context) error {
	for _, e := range a.stock.entries {
		a.report.Snapshots++
		if e.Problem != nil {
			a.whole = false
			continue // noted with the records
		}
		if err := a.snapshot(ctx, e.Manifest); err != nil {
			return err
		}
	}
	a.checked("%d snapshots: every blob they need is looked for", a.report.Snapshots-a.sealed)
	if a.sealed > 0 {
		a.checked("%d encrypted snapshots: stored bytes of the inner manifest", a.sealed)
		a.notChecked("contents of %d encrypted snapshots: %s", a.sealed, a.whyLocked())
	}
	return nil
}

// snapshot looks for everything that one snapshot needs.
func (a *audit) snapshot(ctx context.Context, m Manifest) error {
	object := recordName(manifestPrefix, m.Agent, m.ID)
	a.touch(a.blob(m.Inner, KindManifest), m.ID)
	if m.Encrypted && a.repo.Locked() {
		a.whole = false
		a.sealed++
		return a.innerProblem(object, a.repo.CheckSealed(ctx, m), m.ID)
	}
	in, err := a.repo.Inner(ctx, m)
	if err != nil {
		a.whole = false
		return a.innerProblem(object, err, m.ID)
	}
	for _, p := range a.repo.parts(in) {
		if err := a.part(ctx, p, m.ID); err != nil {
			return err
		}
	}
	return nil
}

// innerProblem notes what is wrong with an inner manifest.
func (a *audit) innerProblem(object string, err error, id amber.SnapshotID) error {
	if err == nil || !isProblem(err) {
		return err
	}
	a.problem(object, fmt.Errorf("inner manifest: %w", err), id)
	return nil
}

// part looks at a part, once for all snapshots that hold it.
func (a *audit) part(ctx context.Context, p part, id amber.SnapshotID) error {
	wrong, seen := a.parts[p.partKey]
	if !seen {
		err := p.walk(ctx, func(id ID, kind Kind) error {
			wrong = append(wrong, a.blob(id, kind)...)
			return nil
		})
		if err != nil {
			a.whole = false
			if !isProblem(err) {
				return err
			}
			object := p.what + " " + p.id.String()
			a.problem(object, err)
			if f := a.found.byObject[object]; f != nil {
				wrong = append(wrong, f)
			}
		}
		a.parts[p.partKey] = wrong
	}
	a.touch(wrong, id)
	return nil
}

func (a *audit) touch(wrong []*finding, id amber.SnapshotID) {
	for _, f := range wrong {
		f.touch(id)
	}
}

// strays names objects that mean nothing.
func (a *audit) strays(ctx context.Context) error {
	return a.repo.target.List(ctx, "", func(o target.Object) error {
		if !isObject(o.Name) {
			a.notChecked("%s: not an object of a repository", o.Name)
		}
		return nil
	})
}

// isObject reports whether a name is that of an object of a repository.
func isObject(name string) bool {
	for _, prefix := range []string{manifestPrefix, stubPrefix, pinPrefix} {
		if _, _, ok := placeOf(prefix, name); ok {
			return true
		}
	}
	_, pack := packID(name)
	_, index := indexID(name)
	_, key := keySerial(name)
	_, err := condemnedDigest(name)
	return pack || index || key || err == nil || name == lockName
}

// lockName is an empty file in the folder of a repository, by which programs on
// one machine wait for each other. Targets that know what it is do not list it.
const lockName = ".lock"

// finish makes the report.
func (a *audit) finish() wire.CheckReport {
	r := a.report
	r.Damaged = a.found.damaged()
	if a.whole {
		r.Unused = a.unused()
	} else {
		r.NotChecked = append(r.NotChecked, "unused space: not every snapshot could be read")
	}
	for _, l := range []*[]string{&r.Checked, &r.NotChecked} {
		*l = listed(*l)
	}
	return r
}

// unused counts the bytes of blobs that no snapshot needs, or that are there twice.
func (a *audit) unused() (n int64) {
	uses := a.repo.census(a.live, func(ID) bool { return false })
	for _, use := range uses {
		n += use.data - use.live
	}
	return n + a.check.unindexedBytes
}
