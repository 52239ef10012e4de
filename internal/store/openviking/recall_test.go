package openviking

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
)

// near makes the server find everything, nearest what a question has nothing in common with.
func near(string, string, string) float64 { return 0.9 }

func (w *world) recall(q amber.Query) amber.RecallResult {
	w.t.Helper()
	return must.Get(w.Recall(w.t.Context(), q))(w.t)
}

// found returns the hits of the server.
func found(r amber.RecallResult) (hits []amber.Hit) {
	for _, h := range r.Hits {
		if h.Provenance.Backend == backendName {
			hits = append(hits, h)
		}
	}
	return hits
}

func TestServerFindsWhatHasNoWordInCommon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.write(amber.WriteRequest{Title: "Indentation", Content: "Tabs everywhere.", Tags: []string{"go"}})
	w.feed()
	w.server.rank = near
	r := w.recall(amber.Query{Text: "whitespace convention", Explain: true})
	must.Equal(t, "degraded", r.Degraded, "")
	must.Equal(t, "hits", len(r.Hits), 1)
	h := r.Hits[0]
	uri := w.uris()[0]
	must.Equal(t, "hit", h, amber.Hit{
		ID: m.ID, Layer: amber.LayerMemory, Owner: string(m.ID), Score: h.Score, Title: m.Title, Kind: m.Kind, Scope: m.Scope,
		Snippet: m.Content, Content: m.Content, Trust: m.Trust, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		Provenance: amber.Provenance{Backend: "openviking", Locator: uri}, Why: h.Why,
	}, cmp.AllowUnexported(amber.Time{}))
	must.Hold(t, h.Why != nil && h.Why.Meaning == 0.9 && h.Why.Related, "why is %+v", h.Why)
	must.Hold(t, h.Score > 0 && h.Score < amber.AnswerScore, "score is %v", h.Score)
	must.Hold(t, w.recall(amber.Query{Text: "whitespace convention"}).Hits[0].Why == nil, "why without being asked")
}

func TestHitsBelowTheThresholdAreDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("Tabs everywhere.")
	w.feed()
	for score, want := range map[float64]int{0.5: 0, 0.74: 0, 0.75: 1, 1: 1, 7: 1, math.NaN(): 0, math.Inf(1): 1, math.Inf(-1): 0} {
		w.server.rank = func(string, string, string) float64 { return score }
		r := w.recall(amber.Query{Text: "whitespace convention"})
		must.Equal(t, fmt.Sprint(score), len(r.Hits), want)
		for _, h := range r.Hits {
			must.Hold(t, h.Score > 0 && h.Score < amber.AnswerScore, "score is %v", h.Score)
		}
	}
}

func TestServerIsNotAskedWhereItCannotHelp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("Tabs everywhere.")
	w.feed()
	w.server.set(nil)
	for _, q := range []amber.Query{{Text: " "}, {Text: "?!"}, {Text: "tabs", Layers: []amber.RecallLayer{amber.LayerNote}}} {
		r := w.recall(q)
		must.Equal(t, "degraded", r.Degraded, "")
	}
	w.recall(amber.Query{Text: "tabs", MinScore: amber.AnswerScore})
	must.Fail(w.Recall(t.Context(), amber.Query{Text: "tabs", Limit: -1}))(t, "limit", amber.KindInvalid)
	must.Equal(t, "finds", w.server.count("find"), 0)
}

func TestQuestionIsRedacted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }
	})
	w.recall(amber.Query{Text: "who has hunter2"})
	must.Equal(t, "finds", w.server.count("find who has [secret]"), 1)
}

// TestWalls plants, renames and moves files among 1 000 memories of all scopes, and asks in the name of many people:
// none of them gets a memory that the primary would not show.
func TestWalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	random := newRandom(7)
	all := map[amber.MemoryID]amber.Memory{}
	for i := range 1000 {
		m := w.write(randomRequest(random, fmt.Sprint("memory number ", i)))
		all[m.ID] = m
	}
	w.feed()
	salt := 0
	w.server.rank = func(_, uri, _ string) float64 {
		h := fnv.New32()
		fmt.Fprint(h, salt, uri)
		return 0.76 + float64(h.Sum32()%1000)/5000
	}
	w.plant(random)
	seen := 0
	for i := range 150 {
		q := randomQuery(random)
		w.server.lawless, salt = i%2 == 0, i
		r := w.recall(q)
		seen += len(found(r))
		must.Equal(t, "degraded", r.Degraded, "")
		must.Hold(t, len(r.Hits) <= q.Limit, "%d hits, the limit is %d", len(r.Hits), q.Limit)
		for j, h := range r.Hits {
			m, ok := all[h.ID]
			must.Hold(t, ok && h.Content == m.Content && h.Title == m.Title, "question %d: hit %d has another text: %+v", i, j, h)
			must.Hold(t, allowed(q, m), "question %d: %+v is not for %+v", i, m, q)
			must.Hold(t, j == 0 || h.Score <= r.Hits[j-1].Score, "question %d: the score of hit %d rises", i, j)
		}
	}
	must.Hold(t, seen > 500, "only %d hits of the server were looked at", seen)
}

// allowed is what a question may see, in other words than those of the store.
func allowed(q amber.Query, m amber.Memory) bool {
	sees := map[amber.Scope]bool{
		amber.ScopeGlobal: true, amber.ScopeSession: q.SessionID != "" && q.SessionID == m.SessionID, amber.ScopeUser: q.UserID != "" && q.UserID == m.UserID,
		amber.ScopeProject: q.ProjectID != "" && q.ProjectID == m.ProjectID, amber.ScopeWorkspace: q.WorkspaceID != "" && q.WorkspaceID == m.WorkspaceID,
	}[m.Scope]
	kind := len(q.Kinds) == 0 || strings.Contains(fmt.Sprint(q.Kinds), string(m.Kind))
	tag := len(q.Tags) == 0 || q.Tags[0] == m.Tags[0]
	at := m.UpdatedAt.UnixMilli()
	timely := (q.Since.IsZero() || at >= q.Since.UnixMilli()) && (q.Until.IsZero() || at < q.Until.UnixMilli())
	distrusted := q.Trusted && (m.Trust == amber.TrustImported || m.Trust == amber.TrustDerived) || q.Local && m.Trust == amber.TrustImported
	return sees && kind && tag && timely && !distrusted
}

// plant puts files where they do not belong: copies in folders of others, under ids of others, with other digests, and
// texts that no memory has.
func (w *world) plant(random *rand.Rand) {
	uris := w.uris()
	for i, uri := range uris {
		other := uris[random.Intn(len(uris))]
		switch i % 5 {
		case 0: // moved
			w.server.files[folderOf(other)+uri[len(folderOf(uri)):]] = w.server.files[uri]
			delete(w.server.files, uri)
		case 1: // renamed: the id of one, the digest of another
			w.server.files[uri[:len(uri)-15]+other[len(other)-15:]] = w.server.files[uri]
		case 2: // named after another id in a folder of its own
			w.server.files[folderOf(uri)+other[len(folderOf(other)):]] = "planted"
		case 3:
			w.server.files[uri] = "other text under a right name"
		}
	}
	w.server.files[folderOf(uris[0])+"/planted.md"] = "planted"
	w.server.files["viking://user/default/memories/amber/default.other/global-0/constraint/"+uris[0][len(folderOf(uris[0]))+1:]] = "planted"
}

func randomQuery(r *rand.Rand) amber.Query {
	q := amber.Query{Text: "nothing in common", Limit: 1 + r.Intn(20), Trusted: r.Intn(3) == 0, Local: r.Intn(3) == 0}
	if ids := randomIdentities(r); r.Intn(4) > 0 {
		q.Identities = ids
	}
	if r.Intn(3) == 0 {
		q.Kinds = []amber.MemoryKind{amber.MemoryKinds()[r.Intn(8)], amber.MemoryKinds()[r.Intn(8)]}
	}
	if r.Intn(4) == 0 {
		q.Tags = []string{fmt.Sprint("tag", r.Intn(3))}
	}
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if r.Intn(4) == 0 {
		q.Since = amber.At(base.Add(time.Duration(r.Intn(4000)) * time.Millisecond))
	}
	if r.Intn(4) == 0 {
		q.Until = amber.At(base.Add(time.Duration(r.Intn(4000)) * time.Millisecond))
	}
	return q
}

func TestWallsLetThroughWhatTheAskerSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := amber.Identities{SessionID: "s", UserID: "u", ProjectID: "p", WorkspaceID: "w"}
	for _, s := range amber.Scopes() {
		w.write(amber.WriteRequest{Content: "scope " + string(s), Scope: s, Identities: ids})
	}
	w.feed()
	w.server.rank = near
	must.Equal(t, "everything", len(found(w.recall(amber.Query{Text: "zzz", Filter: amber.Filter{Identities: ids}}))), 5)
	must.Equal(t, "nobody", len(found(w.recall(amber.Query{Text: "zzz"}))), 1)
	must.Equal(t, "one scope", len(found(w.recall(amber.Query{Text: "zzz", Filter: amber.Filter{Scope: amber.ScopeUser, Identities: ids}}))), 1)
}

func TestStaleFileIsNoHitAndIsMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("the old text")
	w.feed()
	old := w.uris()[0]
	w.edit(m.ID, "the new text")
	w.feed()
	w.server.files[old] = "the old text" // it comes back
	delete(w.server.files, w.uris()[0])
	w.server.rank = near
	must.Equal(t, "hits", len(found(w.recall(amber.Query{Text: "zzz"}))), 0)
	w.feed()
	w.equal("after the recall told the feeder")
	must.Equal(t, "hits", len(found(w.recall(amber.Query{Text: "zzz"}))), 1)
}

// loads counts the memories that are read one by one.
type loads struct {
	amber.MemoryReader
	ids []amber.MemoryID
}

func (l *loads) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	l.ids = append(l.ids, id)
	return l.MemoryReader.Get(ctx, id)
}

func TestOnlyMemoriesWithAPlaceInTheAnswerAreLoaded(t *testing.T) {
	t.Parallel()
	counted := &loads{}
	w := newWorld(t, func(o *Options) { counted.MemoryReader, o.Primary.Memories = o.Primary.Memories, counted })
	answer := w.say("tabs everywhere")
	var others []amber.Memory
	for i := range 20 {
		others = append(others, w.say(fmt.Sprint("unlike ", i)))
	}
	w.feed()
	stale := strings.Replace(w.uris()[0], string(answer.ID), string(others[7].ID), 1)
	w.server.files[stale] = "of another memory"
	w.server.rank = func(_, uri, _ string) float64 {
		switch {
		case uri == stale:
			return 1
		case strings.Contains(uri, string(answer.ID)):
			return 0.95
		case strings.Contains(uri, string(others[7].ID)), strings.Contains(uri, string(others[3].ID)):
			return 0.9
		}
		return 0.8
	}
	counted.ids = nil
	r := w.recall(amber.Query{Text: "tabs", Limit: 3})
	must.Equal(t, "hits", order(r.Hits), fmt.Sprint(answer.ID, others[3].ID, others[7].ID))
	must.Equal(t, "loaded: a stale file, then two hits", counted.ids, []amber.MemoryID{others[7].ID, others[3].ID, others[7].ID})
	must.Equal(t, "told to the feeder", w.takeSuspects(), []string{stale})
}

func TestDeletedMemoryIsNoHitBeforeTheFeederKnows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("a text")
	w.feed()
	w.server.rank = near
	must.Do(t, w.Delete(t.Context(), m.ID))
	must.Equal(t, "hits", len(w.recall(amber.Query{Text: "zzz"}).Hits), 0)
}

func hit(id string, score float64) amber.Hit {
	return amber.Hit{ID: amber.MemoryID(id), Owner: id, Layer: amber.LayerMemory, Score: score}
}

func rel(id string, near float64) related { return related{Hit: hit(id, 0), near: near} }

func order(hits []amber.Hit) (ids string) {
	for _, h := range hits {
		ids += h.Owner
	}
	return ids
}

func TestHitsAreDealtBehindAnswers(t *testing.T) {
	t.Parallel()
	more := []related{rel("x", 1), rel("b", 0.5), rel("y", 0)}
	for _, tc := range []struct {
		name    string
		primary []amber.Hit
		change  func(*amber.Query)
		want    string
	}{
		{"behind answers", []amber.Hit{hit("a", 0.9), hit("b", 0.25), hit("c", 0.24), hit("d", 0)}, nil, "abxcyd"},
		{"known and farther down", []amber.Hit{hit("c", 0.2), hit("d", 0.1), hit("e", 0.1), hit("b", 0.01)}, nil, "xcdbye"},
		{"known and in front", []amber.Hit{hit("b", 0.2), hit("c", 0.1)}, nil, "xbcy"},
		{"no answers", []amber.Hit{hit("c", 0.2)}, nil, "xcby"},
		{"answers alone", []amber.Hit{hit("a", 0.9)}, nil, "axby"},
		{"nothing", nil, nil, "xby"},
		{"limit", []amber.Hit{hit("a", 0.9), hit("c", 0.1), hit("d", 0.1)}, func(q *amber.Query) { q.Limit = 4 }, "axcb"},
		{"full of answers", []amber.Hit{hit("a", 0.9), hit("c", 0.8)}, func(q *amber.Query) { q.Limit = 2 }, "ac"},
		{"min score", []amber.Hit{hit("a", 0.9)}, func(q *amber.Query) { q.MinScore = 0.1 }, "axb"},
		{"high min score", []amber.Hit{hit("a", 0.9)}, func(q *amber.Query) { q.MinScore = amber.AnswerScore }, "a"},
	} {
		q := amber.Query{Limit: 8}
		if tc.change != nil {
			tc.change(&q)
		}
		must.Equal(t, tc.name, order(insert(tc.primary, more, q)), tc.want)
	}
}

// However the server ranks: what the primary is sure of stays in front, nothing else becomes an
// answer, a hit of the primary goes back to twice its place at most and scores no less, and scores
// never rise.
func TestPlacesAreBounded(t *testing.T) {
	t.Parallel()
	random := newRandom(11)
	names := strings.Split("abcdefghijklmnopqrst", "")
	for range 2000 {
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var primary []amber.Hit
		var more []related
		score, near, sure := random.Float64(), 1.0, 0
		for _, id := range names[:random.Intn(10)] {
			score *= random.Float64()
			if primary = append(primary, hit(id, score)); score >= amber.AnswerScore {
				sure++
			}
		}
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, id := range names[:random.Intn(10)] {
			near *= random.Float64()
			more = append(more, rel(id, near))
		}
		hits := insert(primary, more, amber.Query{Limit: 50})
		must.Equal(t, "answers", order(hits[:sure]), order(primary[:sure]))
		for i, h := range hits {
			must.Hold(t, i < sure || h.Score < amber.AnswerScore, "hit %d scores %v", i, h.Score)
			must.Hold(t, i == 0 || h.Score <= hits[i-1].Score, "the score of hit %d rises", i)
		}
		for i, h := range primary[sure:] {
			at := strings.Index(order(hits[sure:]), h.Owner)
			must.Hold(t, at >= 0 && at+1 <= 2*(i+1) && hits[sure+at].Score >= h.Score, "%s goes from place %d to %d", h.Owner, i+1, at+1)
		}
	}
}

func TestReciprocalRanks(t *testing.T) {
	t.Parallel()
	primary := []amber.Hit{hit("a", 0.9), hit("b", 0.6), hit("c", 0.1)}
	more := []related{rel("c", 1), rel("x", 0.5), rel("b", 0.4)}
	hits := merge(primary, more, amber.Query{Limit: 8})
	must.Equal(t, "order", order(hits), "cbax")
	for i := 1; i < len(hits); i++ {
		must.Hold(t, hits[i].Score <= hits[i-1].Score, "the score of hit %d rises: %+v", i, hits)
	}
	must.Equal(t, "limit", order(merge(primary, more, amber.Query{Limit: 2})), "cb")
	w := newWorld(t, func(o *Options) { o.Fusion = FusionRRF })
	w.say("tabs and spaces")
	w.say("nothing in common")
	w.feed()
	w.server.rank = near
	must.Equal(t, "hits", len(w.recall(amber.Query{Text: "tabs"}).Hits), 2)
	w.server.set(nil)
	w.recall(amber.Query{Text: "tabs", MinScore: amber.RelevantScore})
	must.Equal(t, "finds, since the order may change", w.server.count("find"), 1)
}

func TestRecallWithoutTheServerSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("tabs everywhere")
	w.feed()
	for _, err := range []error{unreachable("find"), amber.Errorf(amber.KindRefused, "find", "", "bad key"), amber.Errorf(amber.KindDamaged, "find", "", "<html>")} {
		w.circuit = circuit{}
		w.server.set(func(op, _ string, _ int) (error, bool) { return err, op == "never" })
		r := w.recall(amber.Query{Text: "tabs"})
		must.Hold(t, len(r.Hits) == 1 && r.Hits[0].ID == m.ID, "hits are %+v", r.Hits)
		must.Says(t, "degraded", r.Degraded, "OpenViking did not answer: ", err.Error())
	}
	r := degraded(amber.RecallResult{Degraded: "some passages have no meaning yet"}, unreachable("find"))
	must.Says(t, "degraded", r.Degraded, "some passages have no meaning yet; OpenViking")
}

func TestCircuitLeavesAServerAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("tabs everywhere")
	w.feed()
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	for range 10 {
		must.Hold(t, w.recall(amber.Query{Text: "tabs"}).Degraded != "", "an outage is not said")
	}
	must.Equal(t, "calls", w.server.count(""), 3)
	must.Says(t, "degraded", w.recall(amber.Query{Text: "tabs"}).Degraded, "OpenViking was not asked: the server has failed")
	w.now.pass(circuitRest)
	w.recall(amber.Query{Text: "tabs"})
	w.recall(amber.Query{Text: "tabs"})
	must.Equal(t, "calls with one probe", w.server.count(""), 4)
	w.server.set(nil)
	w.now.pass(circuitRest)
	must.Equal(t, "degraded", w.recall(amber.Query{Text: "tabs"}).Degraded, "")
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	w.recall(amber.Query{Text: "tabs"})
	w.recall(amber.Query{Text: "tabs"})
	must.Equal(t, "calls after it was back", w.server.count(""), 2)
}

func TestCircuitHasOneProbeAtATime(t *testing.T) {
	t.Parallel()
	var c circuit
	enter := func(now time.Time) bool {
		may, tries := c.enter(now)
		must.Hold(t, !tries || may && c.failures >= circuitFailures, "tries a server that has not failed")
		return may
	}
	now := time.Unix(1, 0)
	for range circuitFailures {
		must.Hold(t, enter(now), "closed too early")
		c.leave(now, failed)
	}
	must.Hold(t, !enter(now.Add(circuitRest-1)), "open too early")
	now = now.Add(circuitRest)
	must.Hold(t, enter(now) && !enter(now), "want one probe")
	c.leave(now, undecided)
	must.Hold(t, enter(now) && !enter(now), "want one more probe after one that told nothing")
	c.leave(now, failed)
	must.Hold(t, !enter(now), "want a rest after a probe that failed")
	now = now.Add(circuitRest)
	must.Hold(t, enter(now), "want a probe")
	c.leave(now, answered)
	for range 2 {
		must.Hold(t, enter(now), "want everybody after a probe that was answered")
	}
}

// A question that tries a server again after a rest does not wait for it as long as others do. The
// server is asked again as soon as it has answered.
func TestTrialHoldsNoQuestionUp(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	w := newWorld(t, func(o *Options) { o.FindTimeout, o.Server = time.Minute, late{o.Server, answer} })
	w.say("tabs everywhere")
	at := w.now.read()
	w.circuit.trip(at, at)
	w.now.pass(circuitRest)
	q, _, err := amber.Query{Text: "tabs"}.Normalize()
	must.Do(t, err)
	ctx, leave := context.WithCancel(t.Context())
	trial := w.ask(ctx, q)
	must.Equal(t, "what a question waits at most", trial.most, time.Minute/trialShare)
	trial.most = time.Millisecond
	_, err = trial.wait(ctx)
	must.Says(t, "trial", err.Error(), "tried again: no answer within 1ms")
	leave()
	must.Says(t, "meanwhile", w.recall(amber.Query{Text: "tabs"}).Degraded, "OpenViking was not asked")
	close(answer)
	<-trial.done
	must.Equal(t, "degraded afterwards", w.recall(amber.Query{Text: "tabs"}).Degraded, "")
}

// late answers a question once the test lets it.
type late struct {
	Server
	answer chan struct{}
}

func (l late) Find(_ context.Context, q api.Query) ([]api.Found, error) {
	<-l.answer
	return l.Server.Find(context.Background(), q)
}

func TestWrongQuestionsDoNotOpenTheCircuit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed()
	w.server.set(func(op, _ string, _ int) (error, bool) {
		return amber.Errorf(amber.KindInvalid, op, "", "no"), false
	})
	for range 10 {
		must.Says(t, "degraded", w.recall(amber.Query{Text: "tabs"}).Degraded, "did not answer")
	}
	must.Equal(t, "finds", w.server.count("find"), 10)
}

func TestSlowServerIsWaitedForOnlySoLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.FindTimeout, o.Server = time.Millisecond, stuck{o.Server} })
	w.say("tabs everywhere")
	r := w.recall(amber.Query{Text: "tabs"})
	must.Equal(t, "hits", len(r.Hits), 1)
	must.Says(t, "degraded", r.Degraded, "did not answer")
}

// stuck never answers a question.
type stuck struct{ Server }

func (stuck) Find(ctx context.Context, _ api.Query) ([]api.Found, error) {
	<-ctx.Done()
	return nil, amber.Errorf(amber.KindUnreachable, "find", "", "%w", ctx.Err())
}

func TestPromptsAskOnlyWhenThereIsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("tabs everywhere")
	w.feed()
	w.server.set(nil)
	ask := func(reason amber.RecallReason, left time.Duration) string {
		ctx := laterContext{t.Context(), w.now.read().Add(left)}
		return must.Get(w.Recall(ctx, amber.Query{Text: "tabs", Reason: reason}))(t).Degraded
	}
	must.Equal(t, "hook in a hurry", ask(amber.RecallRequest, 2*time.Second), "") // as every hook by default
	must.Equal(t, "finds", w.server.count("find"), 0)
	must.Equal(t, "hook with time", ask(amber.RecallRequest, 3*time.Second), "")
	must.Equal(t, "asked by hand", ask(amber.RecallManual, time.Second), "")
	must.Equal(t, "finds", w.server.count("find"), 2)
}

// laterContext has a deadline of the fake clock.
type laterContext struct {
	context.Context
	at time.Time
}

func (c laterContext) Deadline() (time.Time, bool) { return c.at, true }

func TestPrimaryErrorsAreItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	must.Fail(w.Recall(ctx, amber.Query{Text: "tabs"}))(t, "recall", amber.KindUnreachable)
	must.Hold(t, w.circuit.failures == 0, "a question that was called off counts as a failure")
}

func TestManyAskAndFeedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.rank = near
	done := make(chan struct{})
	for i := range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for j := range 20 {
				switch i {
				case 0:
					_, _ = w.Feed(t.Context(), Budget{})
				case 1:
					_, _ = w.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("memory ", j)})
				default:
					r, err := w.Recall(t.Context(), amber.Query{Text: "zzz"})
					must.NoError(t, err)
					must.Hold(t, len(r.Hits) == len(found(r)), "hits of the primary: %+v", r.Hits)
				}
			}
		}()
	}
	for range 4 {
		<-done
	}
	w.feed()
	w.equal("in the end")
}
