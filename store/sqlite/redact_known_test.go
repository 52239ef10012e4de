package sqlite

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/must"
)

// A secret that one database gives away is taken out of the other, and counted under
// the rule that found it.
func TestRedactRemovesWhatIsKnownFromElsewhere(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	ctx := t.Context()
	const password = "Tr0ub4dor-Lighthouse" // no user has chosen it
	must.Get(l.s.SaveTask(ctx, amber.Task{ID: "t", Goal: "export DB_PASSWORD=" + password + "\n"}, 0))(t)
	save(t, l.s, amber.WriteRequest{Content: "try " + password + " again", Topic: "about " + password})
	kept := save(t, l.s, amber.WriteRequest{Content: "the lighthouse stays, and so does Tr0ub4dor"})
	dir := l.snapshot(t)
	memory, control := filepath.Join(dir, "memory.db"), filepath.Join(dir, "control.db")

	var found redact.Secrets
	for _, path := range []string{memory, control} {
		before := must.Get(os.ReadFile(path))(t)
		must.Do(t, image.FindSecrets(ctx, path, redact.New(), &found))
		if !bytes.Equal(before, must.Get(os.ReadFile(path))(t)) || len(files(t, dir)) != 2 {
			t.Errorf("looking for secrets has changed %s", path)
		}
	}
	found.Seal()
	must.Equal(t, "secrets that were found", found.Len(), 1)
	known := found.Clone()
	report := must.Get(image.Redact(ctx, memory, redact.New(), known))(t)
	if len(report.Rules) != 1 || report.Rules[0].Rule != "env-assignment" || report.Rules[0].Count != report.Matches || report.Matches == 0 {
		t.Errorf("the report says %+v", report)
	}
	b := bytes.ToLower(must.Get(os.ReadFile(memory))(t))
	must.Hold(t, !bytes.Contains(b, []byte(strings.ToLower(password))), "the password is left")
	if !bytes.Contains(b, []byte("so does tr0ub4dor")) || query[int](t, memory, `SELECT count(*) FROM memories WHERE id = '`+string(kept)+`'`) != 1 {
		t.Error("a memory with a word of the password is gone")
	}
	if leak, err := known.Search(bytes.NewReader(b), nil); err != nil || leak != nil {
		t.Errorf("the file does not pass the search that it has passed: %+v, %v", leak, err)
	}
	examined(t, memory)
}

// In a database that holds none of them, the secrets of others change nothing,
// though it has words of theirs.
func TestRedactWithoutWhatIsKnownChangesNothing(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	ctx := t.Context()
	save(t, l.s, amber.WriteRequest{Content: "a Tr0ub4dor at the lighthouse", IdempotencyKey: "k"})
	must.Get(l.s.StartSession(ctx, amber.SessionStart{ID: "s"}))(t)
	dir := l.snapshot(t)
	var known redact.Secrets
	known.Add("jwt", "Tr0ub4dor-Lighthouse")
	known.Seal()
	for _, name := range []string{"memory.db", "control.db"} {
		path := filepath.Join(dir, name)
		before := dump(t, path)
		report := must.Get(image.Redact(ctx, path, redact.New(), known.Clone()))(t)
		must.Hold(t, report.Matches == 0 && len(report.Notes) == 0, "the report says %+v", report)
		must.Equal(t, name, dump(t, path), before)
	}
}

// Where a row holds none of them but the bytes do, the file is not delivered.
func TestRedactSearchesForWhatIsKnown(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	ctx := t.Context()
	id := save(t, l.s, amber.WriteRequest{Content: "clean"})
	vector := []float32{0, 0}
	must.Do(t, l.s.PutEmbedding(ctx, amber.Embedding{MemoryID: id, Model: "m", Vector: vector}))
	path := filepath.Join(l.snapshot(t), "memory.db")
	const secret = "Tr0ub4dor-Light!"
	db := must.Get(sql.Open("sqlite", "file:"+path))(t)
	must.Get(db.Exec(`UPDATE embeddings SET vector = CAST(? AS BLOB)`, secret))(t)
	must.Do(t, db.Close())
	var known redact.Secrets
	known.Add("jwt", secret)
	known.Seal()
	must.Fail(image.Redact(ctx, path, redact.New(), &known))(t, "a secret in a vector", amber.KindInternal)
	must.Hold(t, !slices.Contains(files(t, filepath.Dir(path)), "memory.db"), "the file was delivered")
}

func TestFindSecretsRefusesStrangers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.db")
	must.Do(t, os.WriteFile(path, []byte("no database"), 0o600))
	must.Kind(t, "find secrets", image.FindSecrets(t.Context(), path, redact.New(), &redact.Secrets{}), amber.KindDamaged)
}
