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
	planned bool
	stopped error // the failure after which nothing more is tried
	first   error // the first failure
	done    int
	total   int
}

// snapshot removes a snapshot: the manifest first, so that what is left when it
// stops is no snapshot, then those parts that are listed under its own id,
// whatever the manifest says.
func (r *removal) snapshot(ctx context.Context, g *group) {
	whole := true
	if g.manifest != nil && !r.file(ctx, g.id, g.manifest.Name) {
		return
	}
	for _, seq := range g.seqs() {
		whole = r.file(ctx, g.id, g.parts[seq].Name) && whole
	}
	if whole {
		r.report.Deleted = append(r.report.Deleted, g.id)
	}
}

// orphans removes parts of no snapshot.
func (r *removal) orphans(ctx context.Context, g *group) {
	for _, seq := range g.seqs() {
		if name := g.parts[seq].Name; r.file(ctx, g.id, name) {
			r.report.Orphans = append(r.report.Orphans, name)
		}
	}
}

// file deletes a file and reports whether it is gone.
func (r *removal) file(ctx context.Context, id SnapshotID, name string) bool {
	if r.planned {
		return true
	}
	err := r.stopped
	if err == nil {
		r.v.o.Progress(Progress{Step: "delete", Name: name, Done: r.done, Total: max(r.total, r.done+1)})
		r.done++
		err = r.v.b.Delete(ctx, name)
	}
	if err == nil || isKind(err, amber.KindNotFound) {
		return true
	}
	r.fail(id, name, err)
	return false
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
