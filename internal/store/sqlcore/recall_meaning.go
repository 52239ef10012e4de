package sqlcore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
)

// meaning is the vector of a question, which is made while its words are looked up.
type meaning struct {
	model  string                                      // see [search.SpaceOf]
	level  func(cosine float64, question bool) float64 // see [search.Levelled]
	here   bool                                        // the model is part of this process
	made   chan struct{}                               // closed when vector and err are set
	vector search.Vector
	err    error
	// until is when a question that has a deadline goes on without: what words find is
	// better than no answer.
	until <-chan time.Time
	late  bool
	// crowded says that the vector was not begun.
	crowded bool
	stop    context.CancelFunc // what is not waited for any more
}

// LittleTime is so little that a crowded machine has none for a vector, which takes milliseconds
// of a processor of its own.
const LittleTime = 500 * time.Millisecond

// spaceMeaning is what a question means to a model, which may be the same as to another one of its space.
type spaceMeaning struct {
	of string // the model whose passages are compared
	*meaning
}

// askedOf returns the models that know a question.
func askedOf(model search.Model, q amber.Query) (of []search.Model) {
	if strings.TrimSpace(q.Text) == "" {
		return nil
	}
	for _, m := range search.Each(model) {
		if search.Knows(m, q.Text, true) {
			of = append(of, m)
		}
	}
	return of
}

// begin begins to make vectors of the question: those of this process, or those that come over a network. It leaves out those of
// several models that have vectors of no passage.
func (r *recaller) begin(ctx context.Context, s *Contracts, here bool) error {
	for _, m := range r.of {
		if _, local := m.(search.Local); local != here || slices.ContainsFunc(r.meanings, func(had spaceMeaning) bool { return had.of == m.Name() }) {
			continue
		}
		if here && len(r.of) > 1 && r.past == nil {
			if has, err := r.tx.HasVectors(m.Name()); err != nil || !has {
				if err != nil {
					return err
				}
				continue
			}
		}
		one := spaceMeaning{of: m.Name()}
		for _, had := range r.meanings {
			if had.model == search.SpaceOf(m) {
				one.meaning = had.meaning
			}
		}
		if one.meaning == nil {
			one.meaning = s.meaning(ctx, m, r.ask.Text)
		}
		r.meanings = append(r.meanings, one)
	}
	return nil
}

// stop ends the making of vectors that are not waited for any more.
func (r *recaller) stop() {
	for _, m := range r.meanings {
		m.stop()
	}
}

// meaning begins to make the vector of a question in a model.
func (s *Contracts) meaning(ctx context.Context, model search.Model, text string) *meaning {
	_, here := model.(search.Local)
	m := &meaning{model: search.SpaceOf(model), here: here, made: make(chan struct{})}
	if l, ok := model.(search.Levelled); ok {
		m.level = l.Level(text)
	}
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		m.until = time.After(left / 3)
		m.crowded = here && left < LittleTime && s.o.Crowded != nil && s.o.Crowded()
	}
	ctx, m.stop = context.WithCancel(ctx)
	var known bool
	if m.vector, known = s.asked.Get(m.model, text); known {
		close(m.made)
		return m
	}
	if m.crowded {
		close(m.made)
		return m
	}
	go func() {
		defer close(m.made)
		defer func() {
			if r := recover(); r != nil { // words answer the question
				m.err = amber.Errorf(amber.KindInternal, "make vectors", m.model, "panic: %v", r)
			}
		}()
		vectors, err := search.Embed(ctx, model, []string{text}, true)
		if m.err = err; err == nil {
			m.vector = vectors[0]
			s.asked.Put(m.model, text, m.vector)
		}
	}()
	return m
}

// wait returns the vector; nil where there is none, or it is not made in time.
func (m *meaning) wait() search.Vector {
	if m.late {
		return nil
	}
	select {
	case <-m.made:
		return m.vector
	case <-m.until:
		m.late = true
		m.stop()
		return nil
	}
}

// failed says why an answer is by words alone; "" where it is not.
func (m *meaning) failed() string {
	m.wait()
	switch {
	case m.crowded && m.vector == nil:
		return "the answer is by words alone: the machine is busy, and there was little time"
	case m.late:
		return "the answer is by words alone: what the question means was not known soon enough"
	case m.err != nil:
		return fmt.Sprintf("the answer is by words alone: %v", m.err)
	}
	return ""
}
