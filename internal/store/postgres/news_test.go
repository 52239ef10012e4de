package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
)

// Many programs tell news at once: a reader gets all of it, in one order, at any time. The rows do not stay.
func TestNews(t *testing.T) {
	t.Parallel()
	const tellers, each = 4, 30
	s := connect(t, fresh(t))
	must.Equal(t, "the newest of nothing", must.Get(s.Newest(t.Context()))(t), 0)
	var wg sync.WaitGroup
	for p := range tellers {
		wg.Go(func() {
			for i := range each {
				must.NoError(t, s.Tell(t.Context(), fmt.Appendf(nil, `{"by":%d,"n":%d}`, p, i)))
			}
		})
	}
	var last int64
	texts := map[string]bool{}
	for len(texts) < tellers*each && !t.Failed() { // beside those who tell: nothing comes late
		for _, n := range must.Get(s.News(t.Context(), last))(t) {
			must.Equal(t, "number", n.Number, last+1)
			last, texts[string(n.Text)] = n.Number, true
		}
	}
	wg.Wait()
	must.Equal(t, "the newest", must.Get(s.Newest(t.Context()))(t), last)
	must.Equal(t, "left", len(must.Get(s.News(t.Context(), last))(t)), 0)

	expire(t, s)
	must.Do(t, s.Tell(t.Context(), []byte(`{}`)))
	list := must.Get(s.News(t.Context(), 0))(t)
	must.Equal(t, "what stays", len(list), 1)
	must.Equal(t, "its number", list[0].Number, last+1)
	must.Kind(t, "too much", s.Tell(t.Context(), make([]byte, postgres.MaxNews+1)), amber.KindInvalid)
}
