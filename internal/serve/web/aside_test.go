package web_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// harm changes a database of acme/ada behind Amber's back.
func (r *rig) harm(file, statement string) {
	r.t.Helper()
	db := must.Get(sql.Open("sqlite", filepath.Join(r.home, "tenants", "acme", "agents", "ada", "gen", "1", file)))(r.t)
	defer func() { must.NoError(r.t, db.Close()) }()
	must.Get(db.ExecContext(r.t.Context(), statement))(r.t)
}

// One record that cannot be read says so in its row, and the screens show the others.
func TestADamagedRecordLeavesTheScreensAlone(t *testing.T) {
	t.Parallel()
	r := lived(t)
	store := r.store("acme", "ada")
	r.say("s1", amber.RoleUser, "a turn that stays")
	must.Get(store.Tasks.SaveTask(t.Context(), amber.Task{ID: "t1", Goal: "Move"}, 0))(t)
	r.harm("memory.db", `UPDATE memories SET metadata = '{' WHERE content LIKE 'Tea%'`)
	r.harm("memory.db", `UPDATE turns SET created_at = -9223372036854775807 WHERE content LIKE 'which%'`)
	r.harm("control.db", `UPDATE tasks SET body = '{' WHERE id = 't1'`)
	b := r.visitor("")
	p := b.get("")
	sound(t, p)
	shows(t, p, "This memory cannot be read", "This turn cannot be read", "This task cannot be read", "a turn that stays", "Database", "before the move")
	must.Equal(t, "where a damaged row leads", p.href("✗ This memory cannot be read: see health"), adaHome+"/health")
	for path, want := range map[string]string{
		"sessions/s1": "1 turn cannot be read", "recall": "1 memory cannot be read", "recall?q=tea+at+four": "1 memory cannot be read",
		"memories": "1 memory cannot be read", "work": "1 task cannot be read",
	} {
		p := b.get(path)
		sound(t, p)
		shows(t, p, want)
	}
	hides(t, b.get("work"), "No tasks yet")
}

// A damaged session is not one without a name.
func TestADamagedSessionIsSaidInItsRow(t *testing.T) {
	t.Parallel()
	r := lived(t)
	r.harm("memory.db", `UPDATE sessions SET started_at = 9223372036854775807`)
	p := r.visitor("").get("")
	sound(t, p)
	shows(t, p, "This session cannot be read", "Tea is drunk at four")
}

// The memories that a snapshot froze may have been damaged already.
func TestDamagedMemoriesOfASnapshotAreCounted(t *testing.T) {
	t.Parallel()
	r := lived(t)
	r.harm("memory.db", `UPDATE memories SET metadata = '{'`)
	snaps := must.Get(r.agent("acme", "ada").Snapshots(t.Context()))(t)
	taken := must.Get(snaps.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: "acme", Agent: "ada", Label: "too late"}))(t)
	p := r.visitor("").get("snapshots/" + string(taken.ID) + "/memories")
	must.Equal(t, "status", p.status, http.StatusOK)
	shows(t, p, "2 memories cannot be read")
	hides(t, p, "Nothing was remembered")
}
