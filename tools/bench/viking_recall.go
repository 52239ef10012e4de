package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// listener is a server that notes the queries it gets, and how long each takes it.
type listener struct {
	openviking.Server
	last api.Query
	took []time.Duration
}

func (l *listener) Find(ctx context.Context, q api.Query) ([]api.Found, error) {
	begin := time.Now()
	found, err := l.Server.Find(ctx, q)
	l.last, l.took = q, append(l.took, time.Since(begin))
	return found, err
}

// vikingAsker asks a store with a server beside it, its primary, and the server by itself.
type vikingAsker struct {
	*viking
	server              *listener
	store               *openviking.Store
	ours, primary, find timings

	degraded, hits, related int
}

func (v *viking) asker(url string, client *api.Client) *vikingAsker {
	a := &vikingAsker{viking: v, server: &listener{Server: client}}
	a.store = v.beside(v.primary, url, a.server)
	return a
}

// ask asks the store.
func (a *vikingAsker) ask(ctx context.Context, q amber.Query, into *timings) {
	var r amber.RecallResult
	into.add(func() { r = get(a.store.Recall(ctx, q)) })
	if r.Degraded != "" {
		a.degraded++
	}
	a.hits += len(r.Hits)
	for _, h := range r.Hits {
		if h.Provenance.Backend == "openviking" {
			a.related++
		}
	}
}

func (a *vikingAsker) askPrimary(ctx context.Context, q amber.Query, into *timings) {
	into.add(func() { get(a.viking.primary.Recall(ctx, q)) })
}

// askServer asks the server what the store asks it, but for the text.
func (a *vikingAsker) askServer(ctx context.Context, text string) {
	q := a.server.last
	q.Text = text
	a.find.add(func() { get(a.server.Server.Find(ctx, q)) })
}

// questionsUp compares questions to the store with questions to its primary, and with the find that
// the store sends to the server. No question is asked twice, so that no side finds in a cache what
// another one left there.
func (v *viking) questionsUp(ctx context.Context) outcome {
	a := v.asker(v.server.url, v.server.client)
	a.ask(ctx, v.question(0), &a.ours) // there is no query to repeat before
	round := func(i int) {
		v.texts.inTurn(
			func() { a.ask(ctx, v.question(i), &a.ours) },
			func() { a.askPrimary(ctx, v.question(i), &a.primary) },
			func() { a.askServer(ctx, v.question(i).Text) })
	}
	for i := range 2 * len(askings) {
		round(i)
	}
	*a = vikingAsker{viking: v, server: a.server, store: a.store} // what was measured before was the warming up
	a.server.took = nil
	before := v.server.processor()
	for i := range v.questions {
		round(i)
	}
	if a.related == 0 {
		fail("the server has found none of %d hits", a.hits)
	}
	fmt.Printf("%d questions to %d memories; the server alone has found %d of %d hits\n", v.questions, v.memories, a.related, a.hits)
	a.ours.print("with the server")
	a.primary.print("the primary alone")
	a.find.print("find alone")
	fmt.Printf("%-28s %s\n", "find in a question", spread(a.server.took))
	if v.server.real {
		fmt.Printf("a find takes %s of a processor in the server\n", us((v.server.processor()-before)/time.Duration(2*v.questions)))
	}
	ratios := []ratio{a.upRatio("median", 50, limitAsked), a.upRatio("p95", 95, 0)}
	if both := a.primary.processor() + a.find.processor(); both > 0 {
		ratios = append(ratios, ratio{
			name: "recall, server up, processor time", ours: a.ours.processor(), theirs: both, what: "with the server", base: "the primary, then a find, in this process",
		})
	}
	return outcome{ratios: ratios, lines: []line{{name: "server up: answers without it", amount: float64(a.degraded), limit: noneAtAll}}}
}

func (a *vikingAsker) upRatio(name string, percent int, limit float64) ratio {
	return ratio{
		name: "recall, server up, " + name, ours: at(a.ours.took, percent), theirs: at(a.primary.took, percent) + at(a.find.took, percent),
		limit: limit, what: "with the server", base: "the primary, then a find",
	}
}

// questionsAway compares questions to the store with questions to its primary while the server
// cannot be used.
func (v *viking) questionsAway(ctx context.Context) (out outcome) {
	for _, from := range []away{refusing(), hanging()} {
		within(from.name, func() {
			defer from.stop()
			o := v.askAway(ctx, from)
			out.ratios, out.lines = append(out.ratios, o.ratios...), append(out.lines, o.lines...)
		})
	}
	return out
}

// So many questions find out that a server is away. Then it is left alone for circuitRest.
const (
	circuitTries = 3
	circuitRest  = 30 * time.Second
)

func (v *viking) askAway(ctx context.Context, from away) outcome {
	client := v.server.connect(from.url, v.server.key)
	defer client.Close()
	a := v.asker(from.url, client)
	var first, again, control timings
	for i := range circuitTries {
		a.ask(ctx, v.question(i), &first)
	}
	for i := range v.away {
		q := v.question(i)
		v.texts.inTurn(
			func() { a.ask(ctx, q, &a.ours) },
			func() { a.askPrimary(ctx, q, &a.primary) },
			func() { a.askPrimary(ctx, q, &control) })
	}
	v.later.Add(int64(circuitRest + time.Second))
	a.ask(ctx, v.question(0), &again)
	if all := circuitTries + v.away + 1; a.degraded != all {
		fail("%d of %d answers say that the server is away", a.degraded, all)
	}
	a.ours.print("server " + from.name)
	a.primary.print("the primary alone")
	l := func(name string, of timings, most time.Duration) line {
		return line{name: fmt.Sprintf("server %s: %s", from.name, name), amount: slices.Max(of.took).Seconds() * 1000, unit: "ms", limit: most.Seconds() * 1000}
	}
	return outcome{
		ratios: compared("recall, server "+from.name, limitAlone, a.ours, a.primary, control),
		lines:  []line{l("first 3, at most", first, v.patience*21/20), l("one after 30 s", again, v.patience*3/20)},
	}
}
