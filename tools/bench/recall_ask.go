package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// recallRounds is how often each kind of question is asked in this process, and recallRuns how
// often on the command line.
const (
	recallRounds = 200
	recallRuns   = 24
)

// inProcess asks this process, and a bare FTS5 table of the same memories in turn where that
// does not take too long to make.
func (b *bench) inProcess(ctx context.Context, name string) (out []ratio) {
	bare := func(string) time.Duration { return 0 }
	if b.largeN <= mostBare {
		db := b.fullText()
		defer db.Close()
		query := get(db.Prepare(`SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 8`))
		bare = func(text string) time.Duration {
			begin := time.Now()
			rows := get(query.Query(`"` + strings.Join(strings.Fields(text), `" OR "`) + `"`))
			defer rows.Close()
			for rows.Next() {
			}
			check(rows.Err())
			return time.Since(begin)
		}
	}
	limit := limitInProcess
	if b.largeN >= manyPassages {
		limit = limitOfMany
	}
	for _, a := range askings {
		var ours, theirs []time.Duration
		for i := range recallRounds {
			text := b.writer.questionOf(a)
			begin := time.Now()
			get(b.large.Recall(ctx, amber.Query{Text: text}))
			if ours = append(ours, time.Since(begin)); i < 20 {
				theirs = append(theirs, bare(text))
			}
		}
		fmt.Printf("%-28s %-16s %s\n", name+", library", a, spread(ours))
		out = append(out, ratio{name: fmt.Sprintf("p99, %s, %s", a, name), ours: at(ours, 99), absoluteLimit: limit, what: "in process"})
		if middle(theirs) > 0 {
			out = append(out, ratio{name: fmt.Sprintf("median, %s, %s", a, name), ours: middle(ours), theirs: middle(theirs), what: "in process", base: "bare FTS5"})
		}
	}
	return out
}

func spread(ds []time.Duration) string {
	return fmt.Sprintf("median %8s, 95 %% %8s, 99 %% %8s", us(at(ds, 50)), us(at(ds, 95)), us(at(ds, 99)))
}

// recallServed asks over HTTP, with few clients and with many, questions of all kinds in turn.
func (b *bench) recallServed(ctx context.Context, c config, home string, m recallModel) (out []ratio, perQuestion line) {
	p := startServer(ctx, c.binary, home, "AMBER_SEARCH__MODEL="+m.setting)
	defer p.kill()
	stores := p.connect(ctx)
	b.askFor(ctx, time.Second, stores, 1) // warm
	for _, clients := range recallCounts {
		took, ds := b.askFor(ctx, c.serveFor/6, stores, clients)
		each := took / time.Duration(max(1, len(ds)))
		fmt.Printf("%-28s %2d clients       %s; %.0f questions a second\n", m.name+", served", clients, spread(ds), float64(time.Second)/float64(each))
		r := ratio{name: fmt.Sprintf("p99, %d clients, %s", clients, m.name), ours: at(ds, 99), what: "served"}
		switch {
		case clients == 8 && b.largeN < manyPassages:
			r.absoluteLimit = limitServed
			out = append(out, r)
		case clients == serveClients:
			perQuestion = line{
				name: "time of a question, 64 clients, " + m.name, wall: each, amount: each.Seconds() * 1000, unit: "ms",
				limit: limitQuestions.Seconds() * 1000,
			}
		}
	}
	printLines([]line{perQuestion})
	return out, perQuestion
}

// askFor lets clients ask for a while.
func (b *bench) askFor(ctx context.Context, d time.Duration, stores []amber.LongTerm, clients int) (took time.Duration, all []time.Duration) {
	texts := make([]*writer, clients)
	for i := range texts {
		texts[i] = newWriterOf(b.writer.random.Uint64(), vocabulary)
	}
	begin := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for i, w := range texts {
		wg.Go(func() {
			for n := i; time.Since(begin) < d; n++ {
				text := w.questionOf(askings[n%len(askings)])
				from := time.Now()
				if _, errs[i] = stores[i].Recall(ctx, amber.Query{Text: text}); errs[i] != nil {
					return
				}
				mu.Lock()
				all = append(all, time.Since(from))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		check(err)
	}
	return time.Since(begin), all
}

// recallCommand asks with the program, against a program that prints its version.
func (b *bench) recallCommand(ctx context.Context, c config, home string, m recallModel) ratio {
	env := []string{"AMBER_SEARCH__MODEL=" + m.setting, "AMBER_HOME=" + home}
	var ours, theirs []time.Duration
	for i := range recallRuns {
		text := b.writer.questionOf(askings[i%len(askings)])
		ours = append(ours, get(command{program: c.binary, args: []string{"recall", text}, env: env}.runNow(ctx)).wall)
		theirs = append(theirs, get(command{program: c.binary, args: []string{"version"}, env: env}.runNow(ctx)).wall)
	}
	fmt.Printf("%-28s %-16s %s\n", m.name+", command", "all kinds", spread(ours))
	return ratio{name: "command line, " + m.name, ours: middle(ours), theirs: middle(theirs), what: "amber recall", base: "amber version"}
}
