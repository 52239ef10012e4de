package colony

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// removal deletes files of one label and notes what became of it.
type removal struct {
	v       *Vault
	report  *PruneReport
	stopped error // the failure after which nothing more is tried
	first   error // the first failure
	done    int
	total   int
}

// snapshot removes a snapshot: the manifest first, so that the files left when it stops are no snapshot, then those
// parts that are listed under its own id, whatever the manifest says. Between the two it calls between, which reports
// whether to go on; an error stops everything.
func (r *removal) snapshot(ctx context.Context, g *group, between func(byOthers bool) (bool, error)) {
	byOthers := false
	if g.manifest != nil {
		gone, absent := r.file(ctx, g.id, g.manifest.Name)
		if !gone {
			return
		}
		byOthers = absent
	}
	if !r.report.Planned {
		goOn, err := between(byOthers)
		if err != nil {
			r.stop(g.id, err)
		}
		if err != nil || !goOn {
			return
		}
	}
	whole := true
	for _, seq := range g.seqs() {
		gone, _ := r.file(ctx, g.id, g.parts[seq].Name)
		whole = gone && whole
	}
	if whole {
		r.report.Deleted = append(r.report.Deleted, g.id)
	}
}

// stop notes that a snapshot is not removed, and that nothing more is.
func (r *removal) stop(id SnapshotID, err error) {
	r.fail(id, "", err)
	r.stopped = err
}

// orphans removes parts of no snapshot.
func (r *removal) orphans(ctx context.Context, g *group) {
	for _, seq := range g.seqs() {
		name := g.parts[seq].Name
		if gone, _ := r.file(ctx, g.id, name); gone {
			r.report.Orphans = append(r.report.Orphans, name)
		}
	}
}

// file deletes a file and reports whether it is gone, and whether it was before.
func (r *removal) file(ctx context.Context, id SnapshotID, name string) (gone, absent bool) {
	if r.report.Planned {
		return true, false
	}
	err := r.stopped
	if err == nil {
		r.v.o.Progress(Progress{Step: "delete", Name: name, Done: r.done, Total: max(r.total, r.done+1)})
		r.done++
		err = r.v.b.Delete(ctx, name)
	}
	if absent = isKind(err, amber.KindNotFound); err == nil || absent {
		return true, absent
	}
	r.fail(id, name, err)
	return false, false
}

func (r *removal) fail(id SnapshotID, name string, err error) {
	kind, message := amber.KindOf(err), err.Error()
	if r.stopped != nil {
		message = fmt.Sprintf("not tried after: %v", err)
	}
	r.report.Failed = append(r.report.Failed, Failure{ID: id, File: name, Kind: kind, Error: message})
	if r.first == nil {
		r.first = err
	}
	switch kind {
	case amber.KindUnreachable, amber.KindRefused, amber.KindQuota:
		r.stopped = err // the next one would fail as well
	}
}
