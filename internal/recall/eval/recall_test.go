package eval

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// fakeAgent answers each question with hits that a test has written down.
type fakeAgent struct {
	answers map[string][]Hit
	fail    string // the call that fails
	begin   amber.Time
	loaded  []string
	asked   []string
	closed  bool
	indexed bool
}

var errMade = errors.New("made up")

func (a *fakeAgent) failing(call string) error {
	if a.fail == call {
		return errMade
	}
	return nil
}

func (a *fakeAgent) Remember(_ context.Context, m Memory) (string, error) {
	a.loaded = append(a.loaded, m.Key)
	return "id-" + m.Key, a.failing("remember")
}

func (a *fakeAgent) Hear(_ context.Context, s Session) error {
	a.loaded = append(a.loaded, string(s.ID))
	return a.failing("hear")
}

func (a *fakeAgent) Index(context.Context) error { a.indexed = true; return a.failing("index") }

func (a *fakeAgent) Ask(_ context.Context, text string, at amber.Time, layers []amber.RecallLayer, limit int) (Answer, error) {
	a.asked = append(a.asked, said(text, at, layers, limit))
	return Answer{Hits: a.answers[text], Degraded: map[bool]string{true: "late"}[text == "now?"]}, a.failing("ask")
}

func (a *fakeAgent) Size() (int64, error) { return 1000, a.failing("size") }

func (a *fakeAgent) Close() error { a.closed = true; return a.failing("close") }

// ticking is a clock that goes a millisecond with every look.
func ticking() amber.Clock {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(time.Millisecond)
		return now
	}
}

// recalled measures a set with an agent.
func recalled(t *testing.T, text string, a *fakeAgent, o RecallOptions) (RecallReport, error) {
	t.Helper()
	r := must.Get(Open(file(t, text)))(t)
	defer func() { must.Do(t, r.Close()) }()
	o.Clock, o.Open = ticking(), func(_ context.Context, begin amber.Time) (Agent, error) {
		a.begin = begin
		return a, a.failing("open")
	}
	return Recall(t.Context(), r, o)
}

func TestRecallOfMemories(t *testing.T) {
	t.Parallel()
	a := &fakeAgent{answers: map[string][]Hit{
		"which?": {{Owner: "id-b", Score: .9}, {Owner: "id-a", Score: .4}},
		"now?":   {{Owner: "id-b", Score: .8}, {Owner: "id-a", Score: .7}},
		"both?":  {{Owner: "id-a", Score: .6}},
		"else?":  {{Owner: "id-a", Score: .3}},
	}}
	var progress int64
	r := must.Get(recalled(t, memories, a, RecallOptions{MinScore: .5, BM25: true, Each: true, Progress: func(n int64) { progress = n }}))(t)
	must.Equal(t, "begin", a.begin.String(), "2026-01-02T03:04:05.000Z")
	must.Equal(t, "loaded, oldest first", said(a.loaded, a.indexed, a.closed), "[a b] true true")
	must.Equal(t, "asked", a.asked[0], "which? 2026-11-10T20:00:00.000Z [] 64")
	must.Equal(t, "counts", said(r.Set, r.Format, r.Cases, r.Memories, r.Turns, r.Questions, r.Skipped, r.Degraded, progress), "set.json memories 1 2 0 4 0 1 6")
	must.Equal(t, "all", r.All.Scores, Scores{N: 3, First: 2. / 3, Any5: 2. / 3, Any10: 2. / 3, Frac: (1 + 1 + .5) / 3, MRR: (.5 + 1 + 1) / 3})
	must.Equal(t, "classes", said(len(r.Classes), r.Classes[0].Class, r.Classes[1].Class, r.Classes[2].Class), "3 paraphrase time multi")
	kept := 2. / 3
	must.Equal(t, "silence", *r.Silence, Silence{MinScore: .5, None: 1, NonePrecision: 1, Kept: kept, Shown: 1, Mean: (1 + kept) / 2})
	must.Equal(t, "latency", r.Latency, Latency{N: 4, P50: 1, P95: 1, P99: 1})
	must.Equal(t, "load", r.Load, Load{Seconds: .001, IndexSeconds: .001, Bytes: 1000})
	must.Hold(t, len(r.Outcomes) == 4 && r.Outcomes[0].Rank == 2 && r.Answerable == nil, "outcomes %+v", r.Outcomes)
	must.Hold(t, r.All.Baseline.N == 3 && r.All.Baseline.First == 0 && r.All.Ratio.First == nil && r.BaselineLatency.N == 4, "baseline %+v", r.All.Baseline)
}

func TestRecallOfConversationsAsksExchanges(t *testing.T) {
	t.Parallel()
	a := &fakeAgent{answers: map[string][]Hit{"Who?": {{Owner: "D2:1", Score: .2}}}}
	r := must.Get(recalled(t, locomo, a, RecallOptions{}))(t)
	must.Equal(t, "asked", a.asked[0], "Who? 2023-06-03T10:05:00.000Z [exchange] 64")
	must.Equal(t, "counts", said(r.Turns, r.Questions, r.Skipped, r.All.N, r.Answerable.N), "3 3 1 3 2")
	must.Equal(t, "frac", r.Classes[0].Frac, .5)
	must.Hold(t, r.Silence == nil && r.All.Baseline == nil && r.Outcomes == nil, "silence %v, baseline %v", r.Silence, r.All.Baseline)
	a = &fakeAgent{}
	must.Get(recalled(t, locomo, a, RecallOptions{Layers: []amber.RecallLayer{amber.LayerSession}}))(t)
	must.Equal(t, "asked of a layer", a.asked[0], "Who? 2023-06-03T10:05:00.000Z [session] 64")
}

func TestRecallReportsEveryError(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"open", "remember", "index", "size", "ask", "close"} {
		a := &fakeAgent{fail: call}
		_, err := recalled(t, memories, a, RecallOptions{})
		must.Is(t, call, err, errMade)
		must.Hold(t, a.closed == (call != "open"), "%s: closed %v", call, a.closed)
	}
	_, err := recalled(t, locomo, &fakeAgent{fail: "hear"}, RecallOptions{})
	must.Is(t, "hear", err, errMade)
	_, err = recalled(t, "[]", &fakeAgent{}, RecallOptions{})
	must.Kind(t, "no case", err, amber.KindInvalid)
	_, err = recalled(t, memories+locomo[1:len(locomo)-1], &fakeAgent{}, RecallOptions{})
	must.Kind(t, "two formats", err, amber.KindInvalid, "memories", "locomo")
}
