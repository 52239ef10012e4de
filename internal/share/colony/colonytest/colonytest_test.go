package colonytest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestFakeKeepsItsPromises(t *testing.T) {
	t.Parallel()
	colonytest.Run(t, func(*testing.T) colony.Backend { return &colonytest.Fake{} })
}

func TestBareFakeKeepsItsPromises(t *testing.T) {
	t.Parallel()
	for _, c := range colonytest.Checks() {
		err := c.Run(t.Context(), colonytest.Unconditional(&colonytest.Fake{Bare: true}))
		if err != nil && !errors.Is(err, colonytest.ErrNotRun) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func TestFakeFails(t *testing.T) {
	t.Parallel()
	away := amber.Errorf(amber.KindUnreachable, "ask", "", "away")
	f := &colonytest.Fake{Before: func(r colonytest.Request) colonytest.Fault {
		switch r.N {
		case 1:
			return colonytest.Fault{Err: away}
		case 2:
			return colonytest.Fault{Err: away, Done: true}
		}
		return colonytest.Fault{}
	}}
	for _, name := range []string{"a.json", "b.json"} {
		must.Is(t, name, must.Err(f.Put(t.Context(), name, "x")), away)
	}
	must.Equal(t, "files", f.Files(), map[string]string{"b.json": "x"})
	if got := f.Requests(); len(got) != 2 || got[1] != (colonytest.Request{N: 2, Op: "put", Name: "b.json"}) {
		t.Errorf("requests are %v", got)
	}
}

func TestFakeHasBounds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	f := &colonytest.Fake{Quota: 10, Clock: func() time.Time { return now }}
	must.Equal(t, "status", must.Get(f.Status(t.Context()))(t), (colony.Status{}))
	info := must.Get(f.Put(t.Context(), "a", "12345678"))(t)
	must.Equal(t, "updated at", info.UpdatedAt.Time(), now)
	must.Fail(f.Put(t.Context(), "b", "123"))(t, "put beyond the quota", amber.KindQuota)
	want := colony.Status{QuotaBytes: 10, UsedBytes: 8, AvailableBytes: 2, FileCount: 1}
	must.Equal(t, "status", must.Get(f.Status(t.Context()))(t), want)
	f.ReadOnly = true
	must.Kind(t, "may write", f.MayWrite(t.Context()), amber.KindRefused)
	must.Fail(f.Put(t.Context(), "a", "1"))(t, "put", amber.KindRefused)
}

// checkOf returns a check by its name.
func checkOf(t *testing.T, name string) func(context.Context, colony.Backend) error {
	for _, c := range colonytest.Checks() {
		if c.Name == name {
			return c.Run
		}
	}
	t.Fatalf("there is no check %s", name)
	return nil
}
