package sqlite

import (
	"crypto/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
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
	must.Get(update(t.Context(), d, "meddle", "", func(x *tx) (int64, error) { return x.Exec(query, args...) }))(t)
}

// look reads rows behind the store's back.
func look[T any](t *testing.T, d *database, scan func(scanner) (T, error), query string, args ...any) []T {
	t.Helper()
	return must.Get(view(t.Context(), d, "look", "", func(x *tx) ([]T, error) { return sqlrows.All(x.Tx, scan, query, args...) }))(t)
}

// texts is look for rows of one text.
func texts(t *testing.T, d *database, query string, args ...any) []string {
	t.Helper()
	return look(t, d, sqlrows.ScanText, query, args...)
}

// count is look for one row of one number.
func count(t *testing.T, d *database, query string, args ...any) int64 {
	t.Helper()
	return look(t, d, scanInt, query, args...)[0]
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
				must.Hold(t, strings.Contains(steps[i], want), "step %d is %q, want %q", i, steps[i], want)
			}
		})
	}
}

func plan(t *testing.T, d *database, query string) []string {
	t.Helper()
	args := make([]any, parameters(query)) // the plan does not depend on them
	return look(t, d, func(s scanner) (detail string, err error) {
		var id, parent, unused int
		err = s.Scan(&id, &parent, &unused, &detail)
		return detail, err
	}, "EXPLAIN QUERY PLAN "+query, args...)
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
