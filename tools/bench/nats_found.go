package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/natsbus"
)

// natsFound compares the change logs with what arrived.
type natsFound struct {
	expected, arrived, missing, disorder, repeated int
}

// compare reads both.
func (t *natsTold) compare(ctx context.Context) (f natsFound) {
	list := t.broker.read(ctx, natsbus.DefaultStream)
	f.arrived = len(list)
	seen, order := map[string]bool{}, map[string][]string{}
	for _, a := range list {
		if seen[a.id] {
			f.repeated++
			continue
		}
		seen[a.id] = true
		agent := a.subject[strings.LastIndex(a.subject, ".")+1:]
		order[agent] = append(order[agent], a.id)
	}
	for i, s := range t.stores {
		place := natsPlaces(ctx, s.Store().Changes)
		f.expected += len(place)
		for id := range place {
			if !seen[id] {
				f.missing++
			}
		}
		f.disorder += outOfOrder(order[string(t.names[i])], place)
	}
	return f
}

// natsPlaces returns the place in a log of every event there should be.
func natsPlaces(ctx context.Context, log amber.ChangeLog) map[string]int {
	const page = 1000
	place := map[string]int{}
	for at := amber.Position(""); ; {
		changes := get(log.Changes(ctx, at, page))
		for _, c := range changes {
			at = c.Position
			place[fmt.Sprintf("%s/%s/%s", c.Position, c.Scope, c.Key)] = len(place)
		}
		if len(changes) < page {
			return place
		}
	}
}

// outOfOrder counts what came after something later, or is in no log.
func outOfOrder(ids []string, place map[string]int) (n int) {
	last := -1
	for _, id := range ids {
		if at, ok := place[id]; ok && at > last {
			last = at
			continue
		}
		n++
	}
	return n
}
