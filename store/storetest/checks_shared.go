package storetest

import (
	"fmt"
	"sync"

	"github.com/amber-memory/amber"
)

func sharedChecks() []check {
	return []check{
		{name: "shared/handles-write-at-once", needs: []part{shared, longTerm, memories}, run: handlesWrite},
		{name: "shared/handles-ingest-at-once", needs: []part{shared, ingest, sessions, turns}, run: handlesIngest},
		{name: "shared/handles-claim-at-once", needs: []part{shared, control}, run: handlesClaim},
	}
}

// handles opens the place of w three times more, as other processes would,
// and runs f with all of them.
func (w *world) handles(f func(all []*world)) {
	all := []*world{w}
	for range 3 {
		env := w.env
		env.Random = NewRandom(uint64(len(all)) + 1)
		h := &world{ctx: w.ctx, backend: w.backend, place: w.place, clock: w.clock, env: env}
		must0(h.open())
		defer func() { must0(h.close()) }()
		all = append(all, h)
	}
	f(all)
}

func handlesWrite(w *world) {
	w.handles(func(all []*world) {
		together(len(all), func(i int) {
			for n := range 5 {
				all[i].fact(fmt.Sprintf("handle %d fact %d", i, n))
				all[i].write(amber.WriteRequest{Topic: "t", Content: fmt.Sprintf("handle %d says %d", i, n)})
				all[i].fact(fmt.Sprint("shared fact ", n))
			}
		})
		for i, h := range all {
			equal(h.everything(), w.everything(), "memories seen by handle %d", i)
			equal(len(h.history(amber.TopicID("", amber.ScopeGlobal, "", "t", 0))), len(all)*5, "revisions seen by handle %d", i)
		}
		equal(len(w.everything()), len(all)*5+1+5, "number of memories")
	})
}

// handlesIngest lets every handle drain the same journal to its end, each from
// where it finds the cursor.
func handlesIngest(w *world) {
	const total = 10
	w.handles(func(all []*world) {
		together(len(all), func(i int) {
			for {
				after := all[i].cursor("s").Seq
				if after == total {
					return
				}
				event := native(fmt.Sprint(after))
				_, err := all[i].Ingest.Ingest(all[i].ctx, ingestion("s", after, after+1, all[i].saying("s", event, fmt.Sprint("turn ", after))))
				if err != nil {
					refused(err, amber.KindConflict, "ingestion of handle %d", i)
				}
			}
		})
		for i, h := range all {
			equal(h.cursor("s").Seq, total, "cursor seen by handle %d", i)
			equal(len(h.said("s")), total, "turns seen by handle %d", i)
		}
	})
}

func handlesClaim(w *world) {
	w.handles(func(all []*world) {
		for i := range 20 {
			all[i%len(all)].entry(fmt.Sprint("e", i))
		}
		var mu sync.Mutex
		given := map[string]int{}
		together(len(all), func(i int) {
			for _, id := range all[i].claims() {
				mu.Lock()
				given[id]++
				mu.Unlock()
			}
		})
		equal(len(given), 20, "entries handed out")
		for id, n := range given {
			equal(n, 1, "times entry %s was handed out", id)
		}
	})
}
