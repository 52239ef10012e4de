package sqlite

import (
	"crypto/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/store/storetest"
)

// newHandClock returns a clock that stands still until it is moved.
func newHandClock() *storetest.Clock {
	return storetest.NewClock(time.Date(2026, time.March, 14, 9, 30, 0, 0, time.UTC))
}

// freshStore opens a store in an empty folder.
func freshStore(t *testing.T, q amber.QueueOptions) (*Store, *storetest.Clock) {
	t.Helper()
	clock := newHandClock()
	return openAgent(t, agentIn(t, t.TempDir()+"/home"), Options{Clock: clock.Now, Random: rand.Reader, Queue: q}), clock
}

// meddle changes rows behind the store's back.
func meddle(t *testing.T, d *database, query string, args ...any) {
	t.Helper()
	err := d.update(t.Context(), "meddle", "", func(t *tx) error {
		_, err := t.Exec(query, args...)
		return err
	})
	must.Do(t, err)
}

// planCase is a query and the steps its plan must consist of, in order: a
// step is named by a part of its line.
type planCase struct {
	name  string
	query string
	want  []string
}

// checkPlans compares the plan of every query with what is wanted: an index
// that is not used makes an operation slow where a store is large.
func checkPlans(t *testing.T, d *database, cases []planCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			steps := plan(t, d, c.query)
			if len(steps) != len(c.want) {
				t.Fatalf("plan has the steps %q, want %q", steps, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(steps[i], want) {
					t.Errorf("step %d is %q, want %q", i, steps[i], want)
				}
			}
		})
	}
}

func plan(t *testing.T, d *database, query string) (steps []string) {
	t.Helper()
	args := make([]any, parameters(query)) // the plan does not depend on them
	must.Do(t, d.view(t.Context(), "plan", "", func(x *tx) error {
		return x.Each("EXPLAIN QUERY PLAN "+query, args, func(s scanner) error {
			var id, parent, unused int
			var detail string
			err := s.Scan(&id, &parent, &unused, &detail)
			steps = append(steps, detail)
			return err
		})
	}))
	return steps
}

// parameters counts the parameters of a query, numbered or not.
func parameters(query string) int {
	for n := 9; n > 0; n-- {
		if strings.Contains(query, "?"+strconv.Itoa(n)) {
			return n
		}
	}
	return strings.Count(query, "?")
}
