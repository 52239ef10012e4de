package postgres_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/embed"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
)

var (
	equalMemories  = flag.Int("postgres.memories", 500, "how many memories are written to PostgreSQL and SQLite")
	equalQuestions = flag.Int("postgres.questions", 150, "how many questions are asked of PostgreSQL and SQLite")
)

// contents is what both stores have of the contracts that recall is about.
type contents interface {
	amber.LongTerm
	amber.BatchWriter
	amber.Editor
	amber.Turns
	SyncIndex(ctx context.Context, progress func(made int), pause func()) error
	VerifyIndex(ctx context.Context) error
}

// twins are two stores that get the same writes and questions.
type twins struct {
	t      *testing.T
	rng    *mathrand.Rand
	clock  *storetest.Clock
	stores [2]contents // PostgreSQL, SQLite
	words  [][]string  // by script
	ids    []amber.MemoryID
	said   []string // contents of memories, for questions about them
}

func newTwins(t *testing.T, seed uint64, model search.Model) *twins {
	t.Helper()
	w := &twins{t: t, rng: mathrand.New(mathrand.NewPCG(seed, 8)), clock: storetest.NewClock(time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC))}
	pg := must.Get(connect(t, fresh(t)).Open(t.Context(), amber.DefaultTenant, "twin", postgres.Options{Clock: w.clock.Now, Random: storetest.NewRandom(seed), Model: model}))(t)
	t.Cleanup(func() { must.NoError(t, pg.Close()) })
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: w.clock.Now, Random: rand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent(amber.DefaultTenant, "twin"))(t)
	lite := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: w.clock.Now, Random: storetest.NewRandom(seed), Model: model}))(t)
	t.Cleanup(func() { must.NoError(t, lite.Close()) })
	w.stores = [2]contents{pg, lite}
	w.words = w.vocabularies()
	return w
}

// vocabularies are words in every script, some of which stems, accents and cases bring together.
func (w *twins) vocabularies() [][]string {
	english := strings.Fields("run runs running runner Café cafe naïve Zürich zurich harbour harbours database databases backup backed deploy deployed deployment " +
		"snake_case HTTPServer httpServer v1.2.3 it's the and a of user@example.com /usr/local/bin C++ don't 2026-03-14 x86_64 test tests tested testing")
	out := [][]string{english}
	for _, letters := range []string{
		"abcdefghijklmnopqrstuvwxyzäöüéèñßøł",
		"абвгдежзийклмнопрстуфхцчшщъыьэюяёіїґ",
		"αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώ",
		"ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
		"אבגדהוזחטיכלמנסעפצקרשתםןץ",
		"अआइईउऊएऐओऔकखगघचछजझटठडढतथदधनपफबभमयरलवशषसहािीुूेैोौ्ं",
		"กขคงจฉชซญดตถทธนบปผฝพฟภมยรลวศษสหอฮะาิีึืุูเแโใไ่้๊๋",
		"中文数据库备份每天晚上服务器重新启动东京港口灯塔看守门海船网鱼潮绳锚",
		"日本語のデータベースは毎晩バックアップされます灯台守カタカナひらがな",
		"가나다라마바사아자차카타파하한국어데이터베이스백업서버등대문",
		"😀😃🚀🔥🐘🗼👩‍💻🇩🇪❤️✨",
	} {
		runes := []rune(letters)
		var words []string
		for range 120 {
			var b strings.Builder
			for range 2 + w.rng.IntN(6) {
				b.WriteRune(runes[w.rng.IntN(len(runes))])
			}
			words = append(words, b.String())
		}
		out = append(out, words)
	}
	long := make([]string, 20)
	for i := range long {
		long[i] = strings.Repeat(string(rune('a'+i))+"Ω7", 20+w.rng.IntN(300))
	}
	return append(out, long)
}

func (w *twins) chance(p float64) bool { return w.rng.Float64() < p }

// word is one of a script; the first ones are frequent.
func (w *twins) word(script int) string {
	words := w.words[script]
	return words[int(float64(len(words))*math.Pow(w.rng.Float64(), 2))]
}

// text is some words, mostly of one script.
func (w *twins) text(n int) string {
	script := w.rng.IntN(len(w.words))
	var b strings.Builder
	for i := range n {
		if i > 0 && (script < 8 || w.chance(0.2)) {
			b.WriteString([]string{" ", " ", " ", ", ", ". ", "\n"}[w.rng.IntN(6)])
		}
		if w.chance(0.1) {
			b.WriteString(w.word(w.rng.IntN(len(w.words))))
			continue
		}
		b.WriteString(w.word(script))
	}
	return b.String()
}

func (w *twins) request() amber.WriteRequest {
	r := amber.WriteRequest{Content: w.text(1 + w.rng.IntN(40))}
	if w.chance(0.5) {
		r.Title = fmt.Sprintf("%.120s", strings.ReplaceAll(w.text(1+w.rng.IntN(4)), "\n", " "))
	}
	if w.chance(0.3) {
		r.Summary = w.text(1 + w.rng.IntN(8))
	}
	if w.chance(0.3) {
		kinds := amber.MemoryKinds()
		r.Kind = kinds[w.rng.IntN(len(kinds))]
	}
	if w.chance(0.3) {
		r.ProjectID = fmt.Sprint("p", w.rng.IntN(3))
	}
	if w.chance(0.3) {
		r.Tags = []string{[]string{"red", "grün", "青"}[w.rng.IntN(3)]}
	}
	if w.chance(0.1) {
		r.Topic = fmt.Sprint("topic ", w.rng.IntN(40))
	}
	if w.chance(0.05) && len(w.said) > 0 {
		r = amber.WriteRequest{Content: w.said[w.rng.IntN(len(w.said))]}
	}
	return r
}

// both runs a call on both stores; the answers are the same.
func both[T any](w *twins, what string, call func(contents) (T, error)) (v T) {
	w.t.Helper()
	var texts [2]string
	for i, s := range w.stores {
		got, err := call(s)
		texts[i] = fmt.Sprintf("%v, %v", got, amber.KindOf(err))
		v = got
		if what == "write" { // an edit may come too late
			must.Do(w.t, err)
		}
	}
	if texts[0] != texts[1] {
		w.t.Fatalf("%s: PostgreSQL answers %.2000s, SQLite %.2000s", what, texts[0], texts[1])
	}
	return v
}

// fill writes memories, edits and deletes some, and lets people talk.
func (w *twins) fill(n int) {
	w.t.Helper()
	ctx := w.t.Context()
	for written := 0; written < n; {
		w.clock.Advance(time.Duration(1+w.rng.IntN(90_000)) * time.Millisecond)
		switch p := w.rng.Float64(); {
		case p < 0.5 || len(w.ids) == 0:
			batch := make([]amber.WriteRequest, min(1+w.rng.IntN(24), n-written))
			for i := range batch {
				batch[i] = w.request()
			}
			ids := both(w, "write", func(s contents) (ids []amber.MemoryID, err error) {
				acks, err := s.WriteBatch(ctx, batch)
				for _, a := range acks {
					ids = append(ids, a.ID)
				}
				return ids, err
			})
			w.ids = append(w.ids, ids...)
			for _, r := range batch[:min(len(ids), len(batch))] {
				w.said = append(w.said, r.Content)
			}
			written += len(batch)
		case p < 0.75:
			e := amber.EditRequest{ID: w.ids[w.rng.IntN(len(w.ids))], Content: new(w.text(1 + w.rng.IntN(30)))}
			both(w, "edit", func(s contents) (int64, error) {
				m, err := s.Edit(ctx, e)
				return m.Revision, err
			})
		case p < 0.9:
			id := w.ids[w.rng.IntN(len(w.ids))]
			both(w, "delete", func(s contents) (bool, error) { return true, s.Delete(ctx, id) })
		default:
			turn := amber.Turn{SessionID: amber.SessionID(fmt.Sprint("s", w.rng.IntN(5))), Role: amber.RoleUser, Content: w.text(1 + w.rng.IntN(20))}
			both(w, "turn", func(s contents) (amber.TurnID, error) {
				t, err := s.AppendTurn(ctx, turn)
				return t.ID, err
			})
		}
	}
}

// question is about what was written, or about something near it.
func (w *twins) question() amber.Query {
	q := amber.Query{Limit: []int{0, 0, 1, 5, 20, 50}[w.rng.IntN(6)], Explain: w.chance(0.1)}
	switch p := w.rng.Float64(); {
	case p < 0.4: // part of a memory
		said := []rune(w.said[w.rng.IntN(len(w.said))])
		from := w.rng.IntN(len(said))
		q.Text = string(said[from:min(len(said), from+1+w.rng.IntN(60))])
	case p < 0.5: // part of a word
		word := []rune(w.word(w.rng.IntN(len(w.words))))
		q.Text = string(word[w.rng.IntN(len(word)):])
	case p < 0.6: // a slip of the keyboard
		word := []rune(w.word(w.rng.IntN(2)))
		word[w.rng.IntN(len(word))] = 'q'
		q.Text = string(word)
	default:
		q.Text = w.text(1 + w.rng.IntN(6))
	}
	if w.chance(0.2) {
		q.Kinds = []amber.MemoryKind{amber.MemoryKinds()[w.rng.IntN(len(amber.MemoryKinds()))]}
	}
	if w.chance(0.3) {
		q.ProjectID = fmt.Sprint("p", w.rng.IntN(3))
	}
	if w.chance(0.15) {
		q.Tags = []string{"grün"}
	}
	if w.chance(0.1) {
		q.MinScore = w.rng.Float64() / 2
	}
	if w.chance(0.1) {
		q.Since = amber.At(w.clock.Now().Add(-time.Hour))
	}
	return q
}

// ask asks questions, and returns how many hits there were.
func (w *twins) ask(n int) (answered, hits int) {
	w.t.Helper()
	for range n {
		q := w.question()
		var got [2]amber.RecallResult
		for i, s := range w.stores {
			var err error
			if got[i], err = s.Recall(w.t.Context(), q); err != nil {
				w.t.Fatalf("%+v: %v", q, err)
			}
		}
		w.compare(q, got[0], got[1])
		if len(got[0].Hits) > 0 {
			answered++
		}
		hits += len(got[0].Hits)
	}
	return answered, hits
}

// compare looks at two answers: the same hits with the same scores in the same order.
func (w *twins) compare(q amber.Query, pg, lite amber.RecallResult) {
	w.t.Helper()
	short := func(r amber.RecallResult) string {
		var b strings.Builder
		for _, h := range r.Hits {
			fmt.Fprintf(&b, "\n  %v %s %s %q", h.Score, h.Layer, h.Owner, h.Snippet)
		}
		return fmt.Sprintf("degraded %q%.3000s", r.Degraded, b.String())
	}
	same := len(pg.Hits) == len(lite.Hits) && pg.Degraded == lite.Degraded
	for i := range min(len(pg.Hits), len(lite.Hits)) {
		a, b := pg.Hits[i], lite.Hits[i]
		same = same && math.Abs(a.Score-b.Score) <= 1e-9
		a.Score, a.Provenance = b.Score, b.Provenance // which names the machine
		same = same && cmp.Equal(a, b, cmpopts.EquateApprox(0, 1e-9))
	}
	if !same {
		w.t.Fatalf("the question %+v is answered by PostgreSQL with %s\nand by SQLite with %s", q, short(pg), short(lite))
	}
}

// TestAnswersAreThoseOfSQLite writes the same to both, in all scripts, and asks both the same.
func TestAnswersAreThoseOfSQLite(t *testing.T) {
	t.Parallel()
	w := newTwins(t, 1+*seed, nil)
	answered, hits := 0, 0
	const parts = 5 // of the index: questions come between writes
	for range parts {
		w.fill(*equalMemories / parts)
		a, h := w.ask(*equalQuestions / parts)
		answered, hits = answered+a, hits+h
	}
	for _, s := range w.stores {
		must.NoError(t, s.VerifyIndex(t.Context()))
	}
	must.Hold(t, answered*2 > *equalQuestions, "only %d of %d questions had an answer", answered, *equalQuestions)
	t.Logf("%d memories, %d questions, %d of them with an answer, %d hits: the same", *equalMemories, *equalQuestions, answered, hits)
}

// TestMeaningIsThatOfSQLite is the same with the model that the program carries.
func TestMeaningIsThatOfSQLite(t *testing.T) {
	t.Parallel()
	model := must.Get(embed.Builtin())(t)
	if model == nil {
		t.Skip("the program was built without a model")
	}
	w := newTwins(t, 2+*seed, model)
	n := max(*equalMemories/20, 25)
	w.fill(n)
	for _, s := range w.stores {
		must.Do(t, s.SyncIndex(t.Context(), func(int) {}, func() {}))
	}
	answered, hits := w.ask(n)
	for _, s := range w.stores {
		must.NoError(t, s.VerifyIndex(t.Context()))
	}
	t.Logf("%d memories, %d questions, %d of them with an answer, %d hits: the same", n, n, answered, hits)
}

// A server may ask by meaning before another has made the vectors of what it was told.
func TestMeaningBeforeThereAreVectors(t *testing.T) {
	t.Parallel()
	model := must.Get(embed.Builtin())(t)
	if model == nil {
		t.Skip("the program was built without a model")
	}
	db := connect(t, fresh(t))
	open := func(m search.Model) *postgres.Store {
		s := must.Get(db.Open(t.Context(), amber.DefaultTenant, "early", postgres.Options{Clock: time.Now, Random: rand.Reader, Model: m}))(t)
		t.Cleanup(func() { must.NoError(t, s.Close()) })
		return s
	}
	writer, reader := open(nil), open(model)
	must.Get(writer.Write(t.Context(), amber.WriteRequest{Content: "We chose PostgreSQL for JSONB"}))(t)
	found := must.Get(reader.Recall(t.Context(), amber.Query{Text: "which database did we pick: PostgreSQL?", Limit: 5}))(t)
	must.Equal(t, "hits", len(found.Hits), 1)
}
