package openviking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// leastFound is asked for at least: some of what is found is dropped.
const leastFound = 16

// Recall implements [amber.LongTerm]: the primary's answer with what the server finds beyond it.
// The server is asked at the same time, for at most the find timeout. Where it does not answer,
// the result is the primary's, and says so.
func (s *Store) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	asked, _, err := q.Normalize()
	if err != nil || !worthAsking(asked) || !s.matters(asked) {
		return s.o.Primary.LongTerm.Recall(ctx, q)
	}
	later := s.ask(ctx, asked)
	result, err := s.o.Primary.LongTerm.Recall(ctx, q)
	if err != nil {
		later.cancel()
		<-later.done
		return result, err
	}
	found, err := later.wait(ctx)
	var more []related
	if err == nil {
		more, err = s.check(ctx, asked, found, result.Hits)
	}
	if _, left := errors.AsType[noTime](err); left {
		return result, nil // hooks have less time than the server needs: that is how it is
	}
	if err != nil {
		return degraded(result, err), nil
	}
	if s.o.Fusion == FusionRRF {
		result.Hits = merge(result.Hits, more, asked)
	} else {
		result.Hits = insert(result.Hits, more, asked)
	}
	return result, nil
}

// matters reports whether the server can change an answer: hits that the primary is sure of stay as
// they are, but for their order with reciprocal ranks.
func (s *Store) matters(q amber.Query) bool {
	return q.MinScore < amber.AnswerScore || s.o.Fusion == FusionRRF
}

// worthAsking reports whether a question is one by words that memories can answer.
func worthAsking(q amber.Query) bool {
	if !slices.Contains(q.Layers, amber.LayerMemory) || strings.TrimSpace(q.Text) == "" {
		return false
	}
	parsed := analyze.Parse(q.Text)
	return len(parsed.Words)+len(parsed.Runs) > 0
}

// degraded says in a result why the server has no part in it.
func degraded(r amber.RecallResult, why error) amber.RecallResult {
	if r.Degraded != "" {
		r.Degraded += "; "
	}
	said := "OpenViking did not answer: "
	if _, ok := errors.AsType[notAsked](why); ok {
		said = "OpenViking was not asked: "
	}
	r.Degraded += said + clip.Marked(clip.Printed(why.Error()), maxReason)
	return r
}

// notAsked is why the server was not asked.
type notAsked struct{ error }

// noTime says that a hook has less time than the server is given.
type noTime struct{ error }

// answer is what the server says, later.
type answer struct {
	cancel context.CancelFunc
	done   chan struct{} // closed once found and err are set
	found  []api.Found
	err    error
	most   time.Duration // that a question waits; 0: until it is done
}

func (a *answer) wait(ctx context.Context) ([]api.Found, error) {
	if a.most == 0 {
		<-a.done
		return a.found, a.err
	}
	t := time.NewTimer(a.most)
	defer t.Stop()
	select {
	case <-a.done:
		return a.found, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.C:
		return nil, fmt.Errorf("the server has failed, and is tried again: no answer within %v", a.most)
	}
}

// trialShare is the part of the find timeout that a question waits which tries a server that has
// failed. The server has all of it: others are asked again as soon as it has answered.
const trialShare = 8

// ask begins to ask the server.
func (s *Store) ask(ctx context.Context, q amber.Query) *answer {
	a := &answer{cancel: func() {}, done: make(chan struct{})}
	tries, err := s.mayAsk(ctx, q)
	if err != nil {
		a.err = err
		close(a.done)
		return a
	}
	if tries {
		a.most = s.o.FindTimeout / trialShare
		ctx = context.WithoutCancel(ctx) // the caller may have stopped waiting for the answer
	}
	ctx, a.cancel = context.WithTimeout(ctx, s.o.FindTimeout)
	go func() {
		defer close(a.done)
		defer a.cancel()
		a.found, a.err = s.find(ctx, q)
	}()
	return a
}

// promptShare is the part of the time left that a question of a hook may give to the server.
const promptShare = 3

// mayAsk says why the server is not asked now. Where it may be, the circuit has been entered; tries
// says that it is a server that has failed.
func (s *Store) mayAsk(ctx context.Context, q amber.Query) (tries bool, err error) {
	now := s.o.Clock()
	if deadline, ok := ctx.Deadline(); ok && q.Prompted() {
		if left := deadline.Sub(now); left < promptShare*s.o.FindTimeout {
			return false, noTime{fmt.Errorf("%v are left for the question, want %v", left.Round(time.Millisecond), promptShare*s.o.FindTimeout)}
		}
	}
	may, tries := s.circuit.enter(now)
	if !may {
		return false, notAsked{fmt.Errorf("the server has failed, and is left alone for %v", circuitRest)}
	}
	return tries, nil
}

// find asks the server for the files that are nearest to a question.
func (s *Store) find(ctx context.Context, q amber.Query) (found []api.Found, err error) {
	defer func() { s.circuit.leave(s.o.Clock(), s.judge(ctx, err)) }()
	l, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	targets := l.targets(q.Filter, s.o.leaves)
	text := trim(s.o.Redact(q.Text))
	if len(targets) == 0 || text == "" {
		return nil, nil
	}
	limit := max(leastFound, 2*q.Limit)
	found, err = s.o.Server.Find(ctx, api.Query{Text: text, Targets: targets, Limit: limit})
	return found[:min(len(found), limit)], err
}

// judge says what an error tells about the server. A question that was called off tells nothing;
// a wrong one neither.
func (s *Store) judge(ctx context.Context, err error) outcome {
	switch {
	case err == nil:
		return answered
	case context.Cause(ctx) == context.Canceled, amber.KindOf(err) == amber.KindInvalid:
		return undecided
	case amber.KindOf(err) == amber.KindUnreachable:
		s.outage.Store(true)
	}
	return failed
}
