package repo

import (
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// finding is one thing that is damaged.
type finding struct {
	object string
	reason string // the first one
	more   int    // others
	ids    map[amber.SnapshotID]bool
}

func (f *finding) touch(id amber.SnapshotID) { f.ids[id] = true }

// findings are what an audit has found, up to a bound.
type findings struct {
	list     []*finding
	byObject map[string]*finding
	rest     *finding // all others
}

// add notes something about an object.
func (fs *findings) add(object, reason string, ids ...amber.SnapshotID) *finding {
	f := fs.byObject[object]
	if f == nil {
		if f = fs.addNew(object, reason); f != fs.rest {
			fs.byObject[object] = f
		}
	} else {
		f.more++
	}
	for _, id := range ids {
		f.touch(id)
	}
	return f
}

// addNew notes something about an object of which more may be listed.
func (fs *findings) addNew(object, reason string, ids ...amber.SnapshotID) *finding {
	if len(fs.list) >= maxProblems {
		return fs.other()
	}
	f := &finding{object: object, reason: reason, ids: map[amber.SnapshotID]bool{}}
	for _, id := range ids {
		f.touch(id)
	}
	fs.list = append(fs.list, f)
	return f
}

// other collects what is too much to list.
func (fs *findings) other() *finding {
	if fs.rest == nil {
		fs.rest = &finding{object: "others", reason: "more is damaged than is listed", ids: map[amber.SnapshotID]bool{}}
		fs.list = append(fs.list, fs.rest)
		return fs.rest
	}
	fs.rest.more++
	return fs.rest
}

// damaged returns all of it.
func (fs *findings) damaged() []wire.Damage {
	l := make([]wire.Damage, 0, len(fs.list))
	for _, f := range fs.list {
		d := wire.Damage{Object: f.object, Reason: f.reason, Snapshots: listed(sortedKeys(f.ids))}
		if f.more > 0 {
			d.Reason += fmt.Sprintf(", and %d more", f.more)
		}
		l = append(l, d)
	}
	return l
}

// packDamage is what is wrong with a pack: with blobs of it, or with all of
// it.
type packDamage struct {
	finding *finding
	blobs   map[ID]bool
}

func (p *packDamage) hits(id ID) bool { return len(p.blobs) == 0 || p.blobs[id] }

// blobProblem notes a problem of a pack or an index object.
func (a *audit) blobProblem(p Problem) {
	if p.Kind == amber.KindTooNew {
		a.notChecked("%s: %s", p.Object, p.Reason)
		return
	}
	reason := p.Reason
	if !p.Blob.IsZero() {
		reason = fmt.Sprintf("blob %v: %s", p.Blob, p.Reason)
	}
	f := a.found.add(p.Object, reason)
	id, ok := packID(p.Object)
	if !ok {
		return
	}
	d := a.packs[id]
	if d == nil {
		d = &packDamage{finding: f, blobs: map[ID]bool{}}
		a.packs[id] = d
	}
	// That a pack with a damaged blob does not match its name says nothing
	// about its other blobs: all of them were read.
	if !p.Blob.IsZero() {
		d.blobs[p.Blob] = true
	}
}

// blob looks for a blob that is needed and returns what is wrong with it, if
// no place of it is intact.
func (a *audit) blob(id ID, kind Kind) []*finding {
	a.live[id] = struct{}{}
	places := a.repo.places(id)
	var wrong []*finding
	for _, p := range places {
		d := a.packs[p.pack]
		switch {
		case p.kind != kind:
			wrong = append(wrong, a.found.add("blob "+id.String(), fmt.Sprintf("blob is a %v, want a %v", p.kind, kind)))
		case d != nil && d.hits(id):
			wrong = append(wrong, d.finding)
		default:
			return nil
		}
	}
	if len(places) == 0 {
		reason := "no index object names it"
		if len(a.check.Unindexed) > 0 {
			reason += "; a pack that none names may hold it"
		}
		wrong = append(wrong, a.found.add("blob "+id.String(), reason))
	}
	return slices.Compact(wrong)
}
