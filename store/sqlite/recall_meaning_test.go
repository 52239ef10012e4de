package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
)

// stuckModel makes no vector before the caller gives up.
type stuckModel struct{}

func (stuckModel) Name() string { return "stuck" }

func (stuckModel) Embed(ctx context.Context, _ []string, _ bool) ([][]float32, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A question with a deadline does not wait for its vector to the end: words answer it.
func TestQuestionGoesOnWithoutItsVector(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "The lorry is in the garage."})
	withModel(t, s, stuckModel{})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	r := must.Get(s.Recall(ctx, amber.Query{Text: "lorry"}))(t)
	must.Hold(t, len(r.Hits) == 1 && r.Hits[0].ID == id, "hits %+v", r.Hits)
	must.Says(t, "degraded", r.Degraded, "by words alone", "soon enough")
}
