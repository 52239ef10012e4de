package chunk_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestAChunkOfOneProjectHoldsNoOther writes records of another project, and reads them where another program wrote
// them.
func TestAChunkOfOneProjectHoldsNoOther(t *testing.T) {
	t.Parallel()
	const session, live, deleted, prompt = 0, 2, 3, 4
	change := func(at int, fn func(r amber.SyncRecord)) []amber.SyncRecord {
		records := sample()
		fn(records[at])
		return records
	}
	for _, tt := range []struct {
		name    string
		records []amber.SyncRecord
		want    amber.Kind
	}{
		{"all of it", sample(), ""},
		{"a session of another", change(session, func(r amber.SyncRecord) { r.Session.Project = "coffee" }), amber.KindInvalid},
		{"a session of none", change(session, func(r amber.SyncRecord) { r.Session.Project = "" }), amber.KindInvalid},
		{"a memory of another", change(live, func(r amber.SyncRecord) { r.Memory.ProjectID = "coffee" }), amber.KindInvalid},
		{"a memory of everybody", change(live, func(r amber.SyncRecord) {
			r.Memory.Scope, r.Memory.ProjectID = amber.ScopeGlobal, ""
		}), amber.KindInvalid},
		{"a tombstone of another", change(deleted, func(r amber.SyncRecord) { r.Memory.ProjectID = "coffee" }), amber.KindInvalid},
		{"a prompt of another", change(prompt, func(r amber.SyncRecord) { r.Prompt.ProjectID = "coffee" }), amber.KindInvalid},
		{"a prompt of none", change(prompt, func(r amber.SyncRecord) { r.Prompt.ProjectID = "" }), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := chunk.Encode(t.Context(), header(), tt.records, nil)
			wantKind(t, err, tt.want)
			open := header()
			open.Project = ""
			_, b := mustEncode(t, open, tt.records, nil)
			id, b := frame(strings.Replace(textOf(t, b), `{"format"`, `{"project":"tea","format"`, 1))
			wantKind(t, must.Err(chunk.Decode(id, b)), tt.want)
		})
	}
}
