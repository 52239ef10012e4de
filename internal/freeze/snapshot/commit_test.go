package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestSnapshotsTellOfTheLastCommit: manifests say what the last commit of the notes is about, who wrote it and when, also where no
// object is new, and where an earlier commit is the last one again.
func TestSnapshotsTellOfTheLastCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.Hold(t, w.show(w.snapshot().ID).Commit == nil, "there is a commit without notes")
	w.note("one", "first text")
	first := *w.show(w.snapshot().ID).Commit
	log := strings.Split(strings.TrimSpace(w.git("log", "-1", "--format=%s%n%an <%ae>%n%at")), "\n")
	must.Equal(t, "commit", []string{first.Subject, first.Author}, log[:2])
	must.Equal(t, "when", fmt.Sprint(first.At.Time().Unix()), log[2])
	must.Equal(t, "the same without a new object", *w.show(w.snapshot().ID).Commit, first)
	w.note("two", "second text")
	id := w.snapshot().ID
	second := *w.show(id).Commit
	must.Hold(t, second != first, "the commit is still %+v", second)
	must.Equal(t, "commit of the second", second.Subject, strings.TrimSpace(w.git("log", "-1", "--format=%s")))
	w.git("reset", "-q", "--hard", "HEAD~1")
	must.Equal(t, "the first again", *w.show(w.snapshot().ID).Commit, first)

	report := w.export(id, exact)
	other := newWorld(t)
	in := must.Get(other.take(report.File))(t)
	must.Equal(t, "after an import", other.show(in.Snapshot.ID).Commit, &second)
}
