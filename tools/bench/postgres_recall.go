package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/store/sqlite"
)

// pgQuestions is how many questions both engines are asked.
const pgQuestions = 100

// recall asks the same of two agents with the same memories.
func (l *pgLab) recall(ctx context.Context) []goal {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var ms atomic.Int64
	clock := func() time.Time { return begin.Add(time.Duration(ms.Load()) * time.Millisecond) }
	id := l.agent()
	pg := l.open(ctx, id, postgres.Options{Clock: clock, Random: rand.NewChaCha8([32]byte{1})})
	lite := l.lite(ctx, sqlite.Options{Clock: clock, Random: rand.NewChaCha8([32]byte{1})})
	l.fill(ctx, l.c.large, func() { ms.Add(1000) }, pg, lite)
	pg.Settle() // what is in no segment becomes one, as where a store is closed
	lite.Settle()

	var questions []amber.Query
	for range pgQuestions {
		questions = append(questions, amber.Query{Text: strings.Join(l.text.question(), " ")})
	}
	ask := func(s amber.LongTerm) (out []amber.RecallResult) {
		for _, q := range questions {
			out = append(out, get(s.Recall(ctx, q)))
		}
		return out
	}
	same, first, second := 0, ask(pg), ask(lite) // both are warm afterwards
	for i := range first {
		if sameHits(first[i].Hits, second[i].Hits) {
			same++
		}
	}
	backends := func() time.Duration {
		return timeOf(column[int](ctx, l.pool, `SELECT pid FROM pg_stat_activity WHERE datname = 'amber' AND application_name = 'amber'`))
	}
	var ours, theirs, served time.Duration
	for range turns {
		own, there := processorTime(), backends()
		ask(pg)
		there = backends() - there
		ours, served = ours+processorTime()-own+there, served+there
		own = processorTime()
		ask(lite)
		theirs += processorTime() - own
	}
	n := float64(turns * pgQuestions)
	out := []goal{{
		work: fmt.Sprintf("recall at %d, processor time, over SQLite", l.c.large), got: float64(ours) / float64(theirs), unit: "x", goal: 0.2,
		note: fmt.Sprintf("%.2f ms each, of these %.2f ms in the database; SQLite %.2f ms", ours.Seconds()*1000/n, served.Seconds()*1000/n, theirs.Seconds()*1000/n),
	}}
	gen := column[int64](ctx, l.pool, `SELECT live_gen FROM amber_meta.agents WHERE agent = $1`, string(id))[0]
	segments := column[int64](ctx, l.pool, `SELECT id FROM amber.index_segments WHERE gen = $1`, gen)
	lists, at := 0, 0
	asked := func() { get(pg.Recall(ctx, questions[at%len(questions)])) }
	fetch := func() {
		q := questions[at%len(questions)]
		terms := append(analyze.Terms(q.Text), slices.Concat(search.FilterOf(q)...)...)
		for _, s := range segments {
			lists += len(column[[]byte](ctx, l.pool, `SELECT list FROM amber.index_lists WHERE gen = $1 AND segment = $2 AND term = ANY ($3)`, gen, s, terms))
		}
		at++
	}
	a, b := middleOf(2*pgQuestions, asked, fetch)
	if lists == 0 {
		fail("no list of %d segments was fetched", len(segments))
	}
	return append(out,
		goal{work: fmt.Sprintf("recall at %d over fetching the lists alone", l.c.large), got: a / b, unit: "x", goal: 1.5, note: fmt.Sprintf("%.2f ms over %.2f ms, %d segments", a*1000, b*1000, len(segments))},
		goal{work: "questions answered as SQLite answers them", got: float64(same), unit: "", goal: pgQuestions, least: true, note: fmt.Sprint("of ", pgQuestions)},
	)
}

// sameHits reports whether two answers have the same memories in the same order with the same scores.
func sameHits(a, b []amber.Hit) bool {
	return slices.EqualFunc(a, b, func(x, y amber.Hit) bool { return x.ID == y.ID && math.Abs(x.Score-y.Score) < 1e-9 })
}

// timeOf is how long processors have worked for some processes. Systems without /proc tell nothing.
func timeOf(pids []int) (sum time.Duration) {
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		for _, f := range fields[11:13] { // utime and stime, in hundredths
			n := get(strconv.ParseInt(f, 10, 64))
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum
}
