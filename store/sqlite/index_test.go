package sqlite

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
)

// toyModel takes words that mean the same for one, and a text for the sum of its words.
type toyModel struct {
	name   string
	failed error
	made   int
	after  func(made int)
}

var synonyms = map[string]string{"car": "vehicl", "automobil": "vehicl", "lorri": "vehicl"}

func (m *toyModel) Name() string { return m.name }

func (m *toyModel) Embed(ctx context.Context, texts []string, _ bool) ([][]float32, error) {
	if m.failed != nil {
		return nil, m.failed
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, 64)
		for _, term := range analyze.Terms(text) {
			if s, ok := synonyms[term]; ok {
				term = s
			}
			h := fnv.New64a()
			h.Write([]byte(term))
			for k, sum := 0, h.Sum64(); k < 8; k, sum = k+1, sum*6364136223846793005+1442695040888963407 {
				v[sum>>58] += float32(int64(sum>>32&1)*2 - 1)
			}
		}
		length := 0.0
		for _, x := range v {
			length += float64(x * x)
		}
		for k := range v {
			v[k] /= float32(math.Sqrt(max(length, 1)))
		}
		out[i] = v
		if m.made++; m.after != nil {
			m.after(m.made)
		}
	}
	return out, ctx.Err()
}

func withModel(t *testing.T, s *Store, m search.Model) *Store {
	t.Helper()
	s.memory.core.Model = m
	return s
}

func recallFirst(t *testing.T, s *Store, q string) (amber.MemoryID, amber.RecallResult) {
	t.Helper()
	r := must.Get(s.Recall(t.Context(), amber.Query{Text: q}))(t)
	if len(r.Hits) == 0 {
		return "", r
	}
	return r.Hits[0].ID, r
}

// Words are found at once, other words for the same when the vectors are there; until then
// the answer says so.
func TestVectorsComeAfterTheWords(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	model := &toyModel{name: "toy"}
	withModel(t, s, model)
	id := save(t, s, amber.WriteRequest{Content: "The lorry is in the garage."})
	for i := range 80 {
		save(t, s, amber.WriteRequest{Content: fmt.Sprintf("Something else entirely, number %d.", i)})
	}
	if first, r := recallFirst(t, s, "lorry"); first != id || !strings.Contains(r.Degraded, "81 passages") {
		t.Errorf("first %s, degraded %q", first, r.Degraded)
	}
	if first, _ := recallFirst(t, s, "automobile"); first == id {
		t.Error("the meaning is known before there is a vector")
	}
	made := 0
	must.Do(t, s.SyncIndex(ctx, func(n int) { made += n }, nil))
	must.Equal(t, "vectors made", made, 81)
	first, r := recallFirst(t, s, "automobile")
	must.Hold(t, first == id && r.Degraded == "", "first %s, degraded %q", first, r.Degraded)
	must.Do(t, s.SyncIndex(ctx, func(int) { t.Error("vectors are made twice") }, nil))
	status := must.Get(s.IndexStatus(ctx))(t)
	must.Equal(t, "status", status, IndexStatus{Passages: 81, Tail: 81, Model: "toy", Vectors: 81})

	model.failed = errors.New("out of order")
	if first, r := recallFirst(t, s, "the lorry"); first != id || !strings.Contains(r.Degraded, "out of order") {
		t.Errorf("with a model that fails: first %s, degraded %q", first, r.Degraded)
	}
	model.failed = nil
	must.Do(t, s.VerifyIndex(ctx))
}

// A sync that is stopped goes on where it was, and one of another model replaces the vectors
// when its own are whole.
func TestVectorsOfAnotherModel(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	withModel(t, s, &toyModel{name: "old"})
	for i := range 300 {
		save(t, s, amber.WriteRequest{Content: fmt.Sprintf("Fact number %d about things.", i)})
	}
	must.Do(t, s.SyncIndex(t.Context(), nil, nil))
	ctx, cancel := context.WithCancel(t.Context())
	next := &toyModel{name: "new", after: func(made int) {
		if made == 150 {
			cancel()
		}
	}}
	withModel(t, s, next)
	must.Kind(t, "a sync that is stopped", s.SyncIndex(ctx, nil, nil), amber.KindUnreachable)
	vectors := func(model string) int64 {
		return count(t, s.memory, `SELECT count(*) FROM index_vectors WHERE model = '`+model+`'`)
	}
	if old, now := vectors("old"), vectors("new"); old != 300 || now == 0 || now == 300 {
		t.Fatalf("%d vectors of the old model and %d of the new one", old, now)
	}
	before := next.made
	must.Do(t, s.SyncIndex(t.Context(), nil, nil))
	must.Equal(t, "vectors", []int64{vectors("old"), vectors("new")}, []int64{0, 300})
	if again := next.made - before; again >= 300-int(before)/2 {
		t.Errorf("%d vectors were made after the stop, and %d before", again, before)
	}
}

// Nothing of what was erased is left in the index: neither the words of any revision, merged
// or not, nor the vectors, of the memory and of turns that quote it.
func TestErasedIsInNoByteOfTheIndex(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	withModel(t, s, &toyModel{name: "toy"})
	secret := "xyzzyfirst plughfirst"
	id := save(t, s, amber.WriteRequest{Title: "Grueheading", Content: secret, Tags: []string{"frotztag"}})
	must.Do(t, s.SyncIndex(ctx, nil, nil))
	later := "xyzzysecond plughsecond"
	must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Content: &later}))(t)
	must.Get(s.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "Look: " + later}))(t)
	must.Get(s.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleAssistant, Content: "Yes."}))(t)
	for i := range 16 { // they are merged
		batch := make([]amber.WriteRequest, 250)
		for k := range batch {
			batch[k].Content = fmt.Sprintf("filler %d %d", i, k)
		}
		must.Get(s.WriteBatch(ctx, batch))(t)
		clock.Advance(time.Minute)
	}
	must.Do(t, s.SyncIndex(ctx, nil, nil))
	if status := must.Get(s.IndexStatus(ctx))(t); status.Segments == 0 {
		t.Fatalf("nothing is merged: %+v", status)
	}
	vector := look(t, s.memory, func(r scanner) (b []byte, err error) { err = r.Scan(&b); return b, err },
		`SELECT vector FROM index_vectors WHERE row = (SELECT row FROM passages WHERE owner = ?)`, id)[0]
	must.Get(s.Erase(ctx, id))(t)
	for _, word := range []string{"xyzzyfirst", "plughfirst", "xyzzysecond", "plughsecond", "grueheading", "frotztag"} {
		must.Hold(t, !inFiles(t, s, word), "%s is in the file", word)
	}
	c := must.Get(s.agent.Current())(t)
	for _, path := range must.Get(filepath.Glob(s.memory.path(c) + "*"))(t) {
		if bytes.Contains(must.Get(os.ReadFile(path))(t), vector[4:40]) {
			t.Errorf("the vector is in %s", filepath.Base(path))
		}
	}
	must.Do(t, s.VerifyIndex(ctx))
	must.Do(t, s.SyncIndex(ctx, nil, nil))
	must.Do(t, s.VerifyIndex(ctx))
}

// The store indexes a file of an older version in steps. If it was stopped after any of them,
// it goes on when the file is opened again.
func TestMigrationGoesOnWhereItWasStopped(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, _ := OldAgent(t, 1500)
	// The schema is there, and nothing is in the index yet.
	outside(t, a, "memory.db", func(p *sqlconn.Pool) { must.Do(t, sqlfile.MemorySchema.Migrate(ctx, p.DB)) })
	o := must.Get(Options{Clock: newHandClock().Now, Random: rand.Reader}.withDefaults())(t)
	first := newStore(a, a, o)
	n := must.Get(first.IndexSome(ctx, 400))(t)
	must.Equal(t, "records in the first step", n, 400)
	r := must.Get(first.Recall(ctx, amber.Query{Text: "marmot", Limit: 64}))(t)
	if len(r.Hits) != 64 || !strings.Contains(r.Degraded, "more than 1000 records are not in the index yet") {
		t.Errorf("%d hits, degraded %q", len(r.Hits), r.Degraded)
	}
	must.Do(t, first.Close())
	s := must.Get(Open(ctx, a, Options{Clock: newHandClock().Now, Random: rand.Reader}))(t)
	defer s.Close()
	status := must.Get(s.IndexStatus(ctx))(t)
	must.Hold(t, status.Waiting == 0 && status.Passages >= 1500, "status is %+v", status)
	must.Do(t, s.VerifyIndex(ctx))
	if r := must.Get(s.Recall(ctx, amber.Query{Text: "marmot 1499"}))(t); r.Degraded != "" || len(r.Hits) == 0 || r.Hits[0].Content != "marmot number 1499" {
		t.Errorf("degraded %q, hits %v", r.Degraded, r.Hits)
	}
}

// Rebuilding makes the same index, and what was wrong with it is gone.
func TestRebuildMendsTheIndex(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _, _ := furnished(t)
	must.Do(t, s.VerifyIndex(ctx))
	ask := func() []string {
		var out []string
		for _, h := range must.Get(s.Recall(ctx, amber.Query{Text: "fish number", Limit: 20}))(t).Hits {
			out = append(out, fmt.Sprint(h.Layer, h.Owner, h.Score))
		}
		return out
	}
	before := ask()
	meddle(t, s.memory, `DELETE FROM index_tail WHERE row IN (1, 2)`)
	meddle(t, s.memory, `DELETE FROM passages WHERE row = 3`)
	must.Kind(t, "verify", s.VerifyIndex(ctx), amber.KindDamaged)
	must.Do(t, s.RebuildIndex(ctx))
	must.Do(t, s.VerifyIndex(ctx))
	must.Equal(t, "answers", ask(), before)
	if !slices.ContainsFunc(before, func(h string) bool { return strings.HasPrefix(h, "memory") }) {
		t.Errorf("hits are %v", before)
	}
}

// A damaged index does not keep a caller from writing or opening. Recall says what to do, and
// then finds everything.
func TestADamagedIndexStopsNoWrite(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, damage := range map[string]string{
		"job":      `INSERT OR REPLACE INTO index_state (key, number, data) VALUES ('job', 0, CAST('{"target":99}' AS BLOB))`,
		"no job":   `INSERT OR REPLACE INTO index_state (key, number, data) VALUES ('job', 0, x'ff')`,
		"segment":  `UPDATE index_segments SET documents = x'ff'`,
		"list":     `UPDATE index_lists SET list = x'ffffff' WHERE term = 'marmot'`,
		"document": `UPDATE index_tail SET document = x'ffff'`,
	} {
		s, _ := freshStore(t, amber.QueueOptions{})
		batch := make([]amber.WriteRequest, 250)
		for n := range 2 {
			for k := range batch {
				batch[k].Content = fmt.Sprintf("marmot %d %d", n, k)
			}
			must.Get(s.WriteBatch(ctx, batch))(t)
		}
		first := save(t, s, amber.WriteRequest{Content: "the first walrus"})
		meddle(t, s.memory, damage)
		content := "the edited walrus"
		must.Get(s.Edit(ctx, amber.EditRequest{ID: first, Content: &content}))(t)
		listed := must.Get(s.List(ctx, amber.ListQuery{Limit: 2}))(t).Items
		if listed[0].ID == first { // all have the same time: the order is that of random ids
			listed = listed[1:]
		}
		must.Do(t, s.Delete(ctx, listed[0].ID))
		for i := range 300 {
			save(t, s, amber.WriteRequest{Content: fmt.Sprintf("otter %d", i)})
		}
		if _, err := s.Recall(ctx, amber.Query{Text: "marmot"}); err != nil {
			e, ok := errors.AsType[*amber.Error](err)
			if !ok || e.Kind != amber.KindDamaged || e.Hint != "amber index rebuild" {
				t.Errorf("%s: recall fails with %v", name, err)
			}
		}
		must.Do(t, s.CatchUp(ctx))
		must.Do(t, s.RebuildIndex(ctx))
		must.Do(t, s.VerifyIndex(ctx))
		if id, _ := recallFirst(t, s, "edited walrus"); id != first {
			t.Errorf("%s: nothing is found after the index was made anew", name)
		}
	}
}
