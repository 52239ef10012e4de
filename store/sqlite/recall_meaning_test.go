package sqlite

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/test/must"
)

// stuckModel makes no vector before the caller gives up.
type stuckModel struct{}

func (stuckModel) Name() string { return "stuck" }

func (stuckModel) Embed(ctx context.Context, _ []string, _ bool) ([][]float32, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The model makes the vector of a question once, however often a caller asks it.
func TestQuestionThatWasAskedBefore(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	m := &toyModel{name: "toy"}
	withModel(t, s, m)
	for _, text := range []string{"lorry", "garage", "lorry", "lorry"} {
		must.Get(s.Recall(t.Context(), amber.Query{Text: text}))(t)
	}
	must.Equal(t, "questions that were understood", m.made, 2)
}

// A question with little time on a crowded machine has no vector made, unless it is known.
func TestQuestionOnACrowdedMachine(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "The lorry is in the garage."})
	withModel(t, s, localToy{&toyModel{name: "toy"}})
	must.Do(t, s.SyncIndex(t.Context(), nil, nil))
	crowded := true
	s.memory.core.Crowded = func() bool { return crowded }
	ask := func(text string, within time.Duration) string {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		return must.Get(s.Recall(ctx, amber.Query{Text: text}))(t).Degraded
	}
	must.Says(t, "with little time", ask("lorry", sqlcore.LittleTime), "the machine is busy")
	must.Equal(t, "with more time", ask("lorry", 2*sqlcore.LittleTime+time.Minute), "")
	must.Equal(t, "what is known", ask("lorry", sqlcore.LittleTime), "")
	must.Says(t, "another question", ask("garage", sqlcore.LittleTime), "the machine is busy")
	crowded = false
	must.Equal(t, "on an idle machine", ask("garage", sqlcore.LittleTime), "")
}

// localToy is a model of this process.
type localToy struct{ *toyModel }

func (localToy) Local() {}

// A model that panics costs the meaning of a question, and neither its words nor the process.
func TestModelThatPanics(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "The lorry is in the garage."})
	withModel(t, s, &toyModel{name: "toy", after: func(int) { panic("out of order") }})
	r := must.Get(s.Recall(t.Context(), amber.Query{Text: "lorry"}))(t)
	must.Hold(t, len(r.Hits) == 1 && r.Hits[0].ID == id, "hits %+v", r.Hits)
	must.Says(t, "degraded", r.Degraded, "by words alone", "panic: out of order")
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

// A text that was said to an agent is judged by another likelihood than a question, in the same
// order.
func TestPromptIsNoQuestion(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	withModel(t, s, &toyModel{name: "toy"})
	for _, text := range []string{"The lorry of Anna is in the garage.", "Anna paints the door."} {
		save(t, s, amber.WriteRequest{Content: text})
	}
	must.Do(t, s.SyncIndex(t.Context(), nil, nil))
	ask := func(reason amber.RecallReason) []amber.Hit {
		r := must.Get(s.Recall(t.Context(), amber.Query{Text: "which colour has the automobile of Anna", Reason: reason, Explain: true}))(t)
		must.Hold(t, len(r.Hits) == 2 && r.Degraded == "", "hits %+v, degraded %q", r.Hits, r.Degraded)
		return r.Hits
	}
	asked := ask("")
	must.Hold(t, asked[0].Why.Wording < 0, "wording %v", asked[0].Why.Wording)
	must.Hold(t, ask(amber.RecallManual)[0].Score == asked[0].Score, "a reason of its own for a question")
	for _, reason := range []amber.RecallReason{amber.RecallRequest, amber.RecallResume} {
		said := ask(reason)
		must.Hold(t, said[0].ID == asked[0].ID && said[1].ID == asked[1].ID, "order %v and %v", said, asked)
		must.Hold(t, said[0].Score != asked[0].Score && said[0].Why.Wording == 0, "score %v, asked %v", said[0].Score, asked[0].Score)
	}
}

// heldModel makes no vector until it is let go.
type heldModel struct {
	*toyModel
	asked, let chan struct{}
}

func (heldModel) Local() {}

func (m heldModel) Embed(ctx context.Context, texts []string, question bool) ([][]float32, error) {
	m.asked <- struct{}{}
	select {
	case <-m.let:
		return (&toyModel{name: m.name}).Embed(ctx, texts, question)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Questions wait for their turn, until they are given up; what is said to an agent does not.
func TestQuestionsTakeTurns(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "The lorry is in the garage."})
	turns := runtime.GOMAXPROCS(0)
	m := heldModel{&toyModel{name: "toy"}, make(chan struct{}, 2*turns+2), make(chan struct{})}
	withModel(t, s, m)
	answers := make(chan error, turns+1)
	question := func() {
		_, err := s.Recall(t.Context(), amber.Query{Text: "lorry"})
		answers <- err
	}
	for range turns {
		go question()
		<-m.asked // it has its turn
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := s.Recall(ctx, amber.Query{Text: "lorry"})
	must.Kind(t, "a question that was given up", err, amber.KindUnreachable)
	soon, end := context.WithTimeout(t.Context(), 3*time.Second)
	defer end()
	must.Equal(t, "hits of a prompt", len(must.Get(s.Recall(soon, amber.Query{Text: "lorry", Reason: amber.RecallRequest}))(t).Hits), 1)
	go question() // waits for a turn
	close(m.let)
	for range turns + 1 {
		must.NoError(t, <-answers)
	}
}

// The passages that the store keeps for the next question follow the changes of memories.
func TestKeptPassagesFollowChanges(t *testing.T) {
	t.Parallel()
	s, clock := freshStore(t, amber.QueueOptions{})
	withModel(t, s, localToy{&toyModel{name: "toy"}})
	id := save(t, s, amber.WriteRequest{Content: "The lorry is in the garage.", Metadata: map[string]string{"seen": "once"}})
	save(t, s, amber.WriteRequest{Content: "The lorry is blue."})
	must.Do(t, s.SyncIndex(t.Context(), nil, nil))
	first := amber.At(clock.Now())
	clock.Advance(time.Hour)
	since := func(at amber.Time) (found []amber.MemoryID) {
		for _, h := range must.Get(s.Recall(t.Context(), amber.Query{Text: "lorry", Filter: amber.Filter{Since: at}}))(t).Hits {
			found = append(found, h.ID)
		}
		return found
	}
	later := first.Add(time.Minute)
	must.Equal(t, "of the first hour", len(since(first)), 2)
	must.Equal(t, "of the second hour", len(since(later)), 0)
	seen := map[string]string{"seen": "twice"}
	must.Get(s.Edit(t.Context(), amber.EditRequest{ID: id, Metadata: &seen}))(t)
	must.Equal(t, "of the second hour, after a change", since(later), []amber.MemoryID{id})
	must.Do(t, s.Delete(t.Context(), id))
	must.Equal(t, "after it was deleted", len(since(first)), 1)
}
