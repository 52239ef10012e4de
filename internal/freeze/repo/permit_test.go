package repo_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/test/must"
)

// Without a permit nothing in a repository changes that others see.
func TestNothingChangesWithoutAPermit(t *testing.T) {
	t.Parallel()
	target := newMemory()
	s := newStore(t, target)
	m := s.take(t, ada, "one")
	s.delete(t, s.take(t, ada, "two")) // garbage
	next := must.Get(s.prepare(t, ada, laptop, content{"three", 2}))(t)
	s.now = s.now.Add(2 * grace)
	before := len(target.objects)
	none := permit.Permit{}
	must.Fail(s.catalog.Publish(ctx, none, next))(t, "publish", amber.KindInternal)
	must.Kind(t, "pin", s.catalog.SetPin(ctx, none, ada, m.ID, true, s.at()), amber.KindInternal)
	must.Kind(t, "delete", s.catalog.Delete(ctx, none, ada, m.ID, "deleted", s.at()), amber.KindInternal)
	must.Fail(s.repo.CollectGarbage(ctx, none, s.options()))(t, "collect garbage", amber.KindInternal)
	must.Equal(t, "objects", len(target.objects), before)
	must.Do(t, s.catalog.SetPin(ctx, may(), ada, m.ID, true, s.at()))
	must.Kind(t, "unpin", s.catalog.SetPin(ctx, none, ada, m.ID, false, s.at()), amber.KindInternal)
	must.Equal(t, "objects with a pin", len(target.objects), before+1)
}
