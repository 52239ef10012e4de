package langgraph_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/langgraph"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestSample(t *testing.T) {
	r := foreigntest.Read(t, langgraph.Format, foreigntest.Database(t, "store.db", foreigntest.Script(t, "testdata/store.sql")))
	must.Equal(t, "skipped", r.Skips, nil)
	must.Equal(t, "memories", len(r.Memories), 1)
	m := r.Memories[0]
	must.Equal(t, "foreign", string(foreign.Raw(m.Foreign)), `{"prefix":"memories.ada","key":"k1","value":{"kind":"Memory"}}`)
	m.Foreign = nil
	at := must.Get(foreign.Text("2026-01-02T03:04:05Z"))(t)
	must.Equal(t, "memory", m, foreign.Memory{
		Place: foreign.Place{File: "store.db", At: "store, row 1"}, Key: foreign.Key{"memories.ada", "k1"}, Content: "Prefers tabs",
		Metadata: map[string]string{"namespace": "memories.ada", "kind": "Memory"}, CreatedAt: at, UpdatedAt: at,
	}, foreigntest.Times)
}

const store = `CREATE TABLE store (prefix text, key text, value text, created_at TIMESTAMP, updated_at TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL);
`

func TestValuesOfEveryShape(t *testing.T) {
	dir := foreigntest.Database(t, "store.db", "CREATE TABLE store (prefix text, key text, value text)")
	db := must.Get(sql.Open("sqlite", filepath.Join(dir, "store.db")))(t)
	defer db.Close()
	for value, want := range map[string][2]string{
		`{"content":"a","n":1}`:                      {"a", `{"n":1}`},
		`{"content":{"content":"a","importance":2}}`: {"a", `{"content":{"importance":2}}`},
		`{"kind":"User","content":{"name":"<Ada>"}}`: {`{"name":"<Ada>"}`, `{"kind":"User"}`},
		`{"memory":"b"}`:                             {"b", "null"},
		`{"content":"","text":"c"}`:                  {"c", `{"content":""}`},
		`{"data":"d"}`:                               {"d", "null"},
		`{"x":{"y":1.50}}`:                           {`{"x":{"y":1.50}}`, "null"},
		`["a"]`:                                      {`["a"]`, "null"},
		`"plain"`:                                    {"plain", "null"},
		`{}`:                                         {},
		`{"content":" "}`:                            {`{"content":" "}`, "null"},
		`{`:                                          {},
		``:                                           {},
	} {
		must.Get(db.Exec("DELETE FROM store; INSERT INTO store VALUES ('p','k',?)", value))(t)
		r := foreigntest.Read(t, langgraph.Format, dir)
		if want[0] == "" {
			must.Equal(t, value+" skipped", len(r.Skips), 1)
			continue
		}
		must.Equal(t, value, r.Memories[0].Content, want[0])
		var x struct{ Value json.RawMessage }
		must.Do(t, json.Unmarshal(foreign.Raw(r.Memories[0].Foreign), &x))
		if x.Value == nil {
			x.Value = json.RawMessage("null")
		}
		must.Equal(t, value+" foreign", string(x.Value), want[1])
	}
}

func TestRowsThatAreOdd(t *testing.T) {
	r := foreigntest.Read(t, langgraph.Format, foreigntest.Database(t, "store.db", store+
		`INSERT INTO store VALUES ('p','a','{"text":"a"}','2026-01-02 03:04:05',NULL,'2027-01-01 00:00:00',60.0),
('p','a','{"text":"again"}',NULL,NULL,NULL,NULL), ('p','b','{"text":"b"}','12',NULL,NULL,NULL), (NULL,NULL,NULL,NULL,NULL,NULL,NULL), (1,2,3,4,5,6,7);`))
	must.Equal(t, "memories", len(r.Memories), 1)
	must.Equal(t, "expires", r.Memories[0].Metadata["expires_at"], "2027-01-01 00:00:00")
	must.Equal(t, "skipped", len(r.Skips), 4)
}

func TestCheckpointsAreNotRead(t *testing.T) {
	r := foreigntest.Read(t, langgraph.Format, foreigntest.Database(t, "checkpoints.sqlite",
		`CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB);
CREATE TABLE writes (thread_id TEXT, checkpoint_id TEXT, value BLOB); INSERT INTO checkpoints VALUES ('1','','1','msgpack',x'80',x'80');`))
	must.Equal(t, "items", r.Count(), 0)
	must.Equal(t, "warnings", r.Warnings, []string{"checkpoints.sqlite: checkpoints are not read: they are Python objects of LangChain, packed as msgpack"})
}

func TestDetect(t *testing.T) {
	for script, want := range map[string]foreign.Match{
		store: foreign.Sure,
		`CREATE TABLE store (id TEXT, value TEXT)`:                                                           foreign.No,
		`CREATE TABLE t (a); CREATE VIEW store AS SELECT 'p' AS prefix, 'k' AS key, '{"text":"x"}' AS value`: foreign.No,
		`CREATE TABLE memories (content TEXT)`:                                                               foreign.No,
	} {
		dir := foreigntest.Database(t, "x.db", script)
		foreigntest.Detects(t, langgraph.Format, map[string]foreign.Match{dir: want})
		must.Equal(t, script+": memories", len(foreigntest.ReadAny(t, langgraph.Format, dir).Memories), 0)
	}
}

func TestDamage(t *testing.T) {
	foreigntest.Damage(t, langgraph.Format, foreigntest.Database(t, "x.db", foreigntest.Script(t, "testdata/store.sql")), "x.db", -1)
}

func FuzzValue(f *testing.F) {
	f.Add(`{"content":{"content":"a"}}`, "2026-01-02 03:04:05")
	f.Add(`[1]`, "")
	dir := foreigntest.Database(f, "x.db", store)
	db := must.Get(sql.Open("sqlite", filepath.Join(dir, "x.db")))(f)
	f.Cleanup(func() { must.Do(f, db.Close()) })
	f.Fuzz(func(t *testing.T, value, at string) {
		must.Get(db.Exec("DELETE FROM store; INSERT INTO store (prefix, key, value, created_at) VALUES ('p','k',?,?)", value, at))(t)
		foreigntest.Read(t, langgraph.Format, dir)
	})
}
