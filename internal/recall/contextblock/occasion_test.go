package contextblock_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// shop is a request of a new session of the project shop.
func shop(o wire.Occasion, goal string) wire.ContextRequest {
	return wire.ContextRequest{
		RecallInput: amber.RecallInput{Goal: goal, Identities: amber.Identities{ProjectID: "shop", SessionID: "now", UserID: "ann"}}, Occasion: o,
	}
}

func build(t *testing.T, s amber.Store, r wire.ContextRequest) wire.ContextBlock {
	t.Helper()
	return must.Get(contextblock.Build(t.Context(), s, policy.Conservative{}, r, rand.Reader))(t)
}

// talk stores a session of what was said in turn by the user and the agent.
func talk(t *testing.T, s amber.Store, id amber.SessionID, project string, said ...string) {
	t.Helper()
	must.Get(s.Sessions.StartSession(t.Context(), amber.SessionStart{ID: id, Project: project}))(t)
	for i, text := range said {
		role := amber.RoleUser
		if i%2 == 1 {
			role = amber.RoleAssistant
		}
		must.Get(s.Turns.AppendTurn(t.Context(), amber.Turn{SessionID: id, Role: role, Content: text, ProjectID: project}))(t)
	}
}

func inShop(kind amber.MemoryKind, trust amber.Trust, text string) amber.WriteRequest {
	return amber.WriteRequest{Kind: kind, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop"}, Content: text, Trust: trust}
}

const (
	askedCoupons = "Why is the coupon total rounded twice at the checkout?"
	saidCoupons  = "The coupon total was rounded in the cart and again at the checkout; the cart keeps cents now."
)

func TestStartTellsWhereWeLeftOffAndWhatStands(t *testing.T) {
	t.Parallel()
	s := newStore()
	id := amber.SessionID("0198c0de-0000-7000-8000-000000000001")
	talk(t, s, id, "shop", askedCoupons, saidCoupons)
	talk(t, s, "now", "shop", "the current session")
	for _, r := range []amber.WriteRequest{
		inShop(amber.Constraint, "", "Prices are never floats."),
		inShop(amber.ProjectFact, "", "We chose SQLite."),
		{Kind: amber.UserPreference, Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ann"}, Content: "Ann likes short answers."},
	} {
		must.Do(t, must.Err(s.LongTerm.Write(t.Context(), r)))
	}
	b := build(t, s, shop(wire.OccasionStart, ""))
	must.Says(t, "start", b.Text, "Where we left off:\n- ", ", session: asked: "+askedCoupons, "last answer: "+saidCoupons,
		"Standing decisions and constraints:\n- [constraint, project, ", "Prices are never floats.", "We chose SQLite.",
		"Preferences of the user:\n- [user_preference, user, ", "Ann likes short answers.")
	must.Hides(t, "start", b.Text, string(id), "the current session")
	must.Equal(t, "sessions", len(b.Sessions), 1)
}

func TestPromptTellsWhatIsRelevantOrNothing(t *testing.T) {
	t.Parallel()
	s := newStore()
	talk(t, s, "before", "shop", askedCoupons, saidCoupons, "thanks, run the tests again", "All tests pass.")
	for i, matter := range strings.Fields("invoices labels freight taxes refunds stock search images accounts letters") { // coupons are not all there is
		talk(t, s, amber.SessionID(fmt.Sprint("other", i)), "shop", "Why are the "+matter+" slow?", "The "+matter+" waited for a lock, which is gone.")
	}
	b := build(t, s, shop(wire.OccasionPrompt, "is the coupon total still rounded in the cart and at the checkout?"))
	must.Says(t, "prompt", b.Text, ", session] ", saidCoupons)
	must.Hides(t, "prompt", b.Text, "Where we left off")
	for _, quiet := range []string{"yes", "go on", "run the tests again", "thanks!", "looks good, commit and push it", "Who climbed Mount Fuji?", "", "…"} {
		must.Equal(t, "context of "+quiet, build(t, s, shop(wire.OccasionPrompt, quiet)).Text, "")
	}
}

// A question that was asked once and never answered is not put before the one who asks again; its answer is.
func TestAQuestionThatNothingAnsweredIsNoPassage(t *testing.T) {
	t.Parallel()
	s := newStore()
	talk(t, s, "before", "shop", "remind me why the coupon total is rounded twice?", "Which coupon total?")
	must.Hides(t, "asked before", build(t, s, shop(wire.OccasionPrompt, "remind me why the coupon total is rounded twice?")).Text, "Which coupon total")
	talk(t, s, "later", "shop", "remind me why the coupon total is rounded twice?", saidCoupons)
	must.Says(t, "answered", build(t, s, shop(wire.OccasionPrompt, "remind me why the coupon total is rounded twice?")).Text, saidCoupons)
}

// A question about earlier work gets its likely answer in one line; a command with the same words is not.
func TestPromptThatAsksIsToldWhatIsPerhaps(t *testing.T) {
	t.Parallel()
	s := newStore()
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.WorkspaceFact, "", "Voucher sums are kept in cents, since floats lost a penny."))))
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.WorkspaceFact, "", "The lake harbour opens in spring."))))
	b := func(text string) string {
		return must.Get(contextblock.Build(t.Context(), s, policy.Conservative{MinScore: 0.99}, shop(wire.OccasionPrompt, text), rand.Reader))(t).Text
	}
	must.Says(t, "asks", b("did we ever say how voucher sums and prices are kept in tables?"), "perhaps: ", "Voucher sums are kept in cents", "; memory_recall has more")
	must.Equal(t, "tells", b("print how voucher sums and prices are kept in tables"), "")
}

func TestPromptTellsFivePassagesAtMost(t *testing.T) {
	t.Parallel()
	s := newStore()
	for i := range 12 {
		must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.WorkspaceFact, "", fmt.Sprintf("The coupon checkout number %d has a rounding of its own.", i)))))
	}
	b := build(t, s, shop(wire.OccasionPrompt, "coupon checkout rounding"))
	must.Equal(t, "passages", len(b.Memories), 5)
	must.Equal(t, "named", len(b.Items), 5)
}

// A prompt without words of its own goes on with what was said before it.
func TestShortPromptAsksWithTheLastExchange(t *testing.T) {
	t.Parallel()
	s := newStore()
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.WorkspaceFact, "", "The coupon rounding is done in cents."))))
	talk(t, s, "now", "shop", "what about the coupon rounding?", "Shall I change the coupon rounding to cents?", "yes")
	said := func(r wire.ContextRequest) string {
		return must.Get(contextblock.Build(t.Context(), s, policy.Conservative{MinScore: 0.1}, r, rand.Reader))(t).Text
	}
	r := shop(wire.OccasionPrompt, "yes")
	must.Says(t, "yes", said(r), "The coupon rounding is done in cents.")
	r.SessionID = "another"
	must.Equal(t, "yes without anything before it", said(r), "")
}

// A passage that the agent already has before it comes again only when it has changed, or when a
// compaction has dropped it.
func TestPassagesComeOnceInASession(t *testing.T) {
	t.Parallel()
	s := newStore()
	id := must.Get(s.LongTerm.Write(t.Context(), inShop(amber.Constraint, "", "Coupon prices are never rounded.")))(t).ID
	ask := shop(wire.OccasionPrompt, "may coupon prices be rounded?")
	first := build(t, s, ask)
	must.Says(t, "first", first.Text, "Coupon prices are never rounded.")
	ask.Known = first.Items
	must.Equal(t, "again", build(t, s, ask).Text, "")
	start := shop(wire.OccasionStart, "")
	start.Known = first.Items
	must.Equal(t, "at a start in the same session", build(t, s, start).Text, "")
	compacted := shop(wire.OccasionCompaction, "")
	compacted.Known = first.Items
	must.Says(t, "after a compaction", build(t, s, compacted).Text, "Coupon prices are never rounded.")
	changed := "Coupon prices are rounded down."
	must.Get(s.Editor.Edit(t.Context(), amber.EditRequest{ID: id, Content: &changed}))(t)
	must.Says(t, "changed", build(t, s, ask).Text, changed)
}

// The store remembers what was shown, as activity of the session.
func TestPassagesShownAreFoundInTheStore(t *testing.T) {
	t.Parallel()
	s := newStore()
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.Constraint, "", "Coupon prices are never rounded."))))
	ask := shop(wire.OccasionPrompt, "may coupon prices be rounded?")
	shown := build(t, s, ask).Items[0]
	did := func(at time.Duration, a ...amber.Activity) {
		t.Helper()
		when := amber.At(time.Now().Add(at))
		for i := range a {
			a[i].SessionID, a[i].FirstAt, a[i].LastAt, a[i].Count = "now", when, when, 1
		}
		i := amber.Ingestion{Journal: fmt.Sprintf("%032x", at), Host: "generic", Session: "now", Through: 1, LastAt: when, Steps: []amber.IngestStep{{
			At: when, Start: amber.SessionStart{ID: "now", Project: "shop"}, Activity: a,
		}}}
		must.Get(s.Ingest.Ingest(t.Context(), i))(t)
	}
	did(time.Second, amber.Activity{Kind: amber.ActivityContext, Name: string(shown.Layer) + " " + shown.Owner, Detail: shown.Digest})
	must.Equal(t, "again", build(t, s, ask).Text, "")
	did(2*time.Second, amber.Activity{Kind: amber.ActivityCompaction, Name: "auto"})
	must.Says(t, "after a compaction", build(t, s, ask).Text, "Coupon prices are never rounded.")
}

func TestCompactionTellsWhatTheSessionEstablished(t *testing.T) {
	t.Parallel()
	s := newStore()
	talk(t, s, "now", "shop", askedCoupons, saidCoupons, "yes", "Done.")
	decided := inShop(amber.ProjectFact, amber.TrustDerived, "The cart keeps cents.")
	decided.Title, decided.SessionID = "Decision: the cart", "now"
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), decided)))
	b := build(t, s, shop(wire.OccasionCompaction, ""))
	must.Says(t, "compaction", b.Text, "So far in this session:\n- ", "asked: "+askedCoupons, "decision: The cart keeps cents.", "last answer: Done.")
	must.Hides(t, "compaction", b.Text, "Where we left off")
}

// slow is a long-term memory that does not answer.
type slow struct{ amber.LongTerm }

func (slow) Recall(ctx context.Context, _ amber.Query) (amber.RecallResult, error) {
	<-ctx.Done()
	return amber.RecallResult{}, context.Cause(ctx)
}

// told keeps the last query that has a text.
type told struct {
	amber.LongTerm
	last *amber.Query
}

func (l told) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	if q.Text != "" {
		*l.last = q
	}
	return l.LongTerm.Recall(ctx, q)
}

// asIs is a policy that says nothing about why it recalls.
type asIs struct{ policy.Conservative }

func (p asIs) Recall(in amber.RecallInput) (amber.Query, amber.Decision) {
	q, d := p.Conservative.Recall(in)
	q.Reason = ""
	return q, d
}

// Passages for a prompt are recalled as for a prompt, whatever the policy says: a question has
// another likelihood.
func TestPromptIsRecalledAsPrompt(t *testing.T) {
	t.Parallel()
	for _, p := range []amber.Policy{policy.Conservative{}, asIs{}} {
		s := newStore()
		var last amber.Query
		s.LongTerm = told{s.LongTerm, &last}
		must.Get(contextblock.Build(t.Context(), s, p, shop(wire.OccasionPrompt, "the coupon checkout"), rand.Reader))(t)
		must.Hold(t, last.Prompted(), "asked with %+v", last)
	}
}

// If recall takes too long, the block contains what is known without it, and says that it is late.
func TestLateContextIsWhatStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		talk(t, s, "before", "shop", askedCoupons, saidCoupons)
		must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.Constraint, "", "Prices are never floats."))))
		s.LongTerm = slow{s.LongTerm}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		b, err := contextblock.Build(ctx, s, policy.Conservative{}, shop(wire.OccasionPrompt, "the coupon checkout"), rand.Reader)
		must.Do(t, err)
		must.Hold(t, b.Late && strings.Contains(b.Degraded, "in time"), "late %v: %q", b.Late, b.Degraded)
		must.Says(t, "late", b.Text, askedCoupons, "Prices are never floats.")
	})
}

// A goal without an occasion is answered with what is relevant, and where we left off.
func TestGoalWithoutAnOccasion(t *testing.T) {
	t.Parallel()
	s := newStore()
	talk(t, s, "before", "shop", "paint the door", "It is green.")
	for _, text := range []string{"Prices are never floats.", "Coupon totals are rounded at the checkout."} {
		must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.Constraint, "", text))))
	}
	b := build(t, s, shop("", "rounding of coupon totals at the checkout"))
	must.Says(t, "goal", b.Text, "Coupon totals are rounded", "Where we left off:", "paint the door")
	must.Hides(t, "goal", b.Text, "never floats")
	must.Says(t, "no goal", build(t, s, shop("", "")).Text, "Coupon totals are rounded", "Where we left off:", "never floats")
}

// A block shows a memory that a person wrote, however much rules have found since.
func TestStartTellsOwnMemoriesBehindManyDerivedOnes(t *testing.T) {
	t.Parallel()
	s := newStore()
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.WorkspaceFact, "", "The coupon rounding is done in cents."))))
	for i := range 350 {
		w := inShop(amber.SessionSummary, amber.TrustDerived, fmt.Sprintf("Session %d.", i))
		must.Do(t, must.Err(s.LongTerm.Write(t.Context(), w)))
	}
	must.Says(t, "start", build(t, s, shop(wire.OccasionStart, "")).Text, "The coupon rounding is done in cents.")
}

// everything is a backend that does not know how to list trusted memories alone.
type everything struct{ amber.MemoryReader }

func (e everything) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	q.Trust = ""
	return e.MemoryReader.List(ctx, q)
}

func TestStartWithABackendThatListsEverything(t *testing.T) {
	t.Parallel()
	s := newStore()
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.WorkspaceFact, "", "The coupon rounding is done in cents."))))
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), inShop(amber.WorkspaceFact, amber.TrustDerived, "The lorry is green."))))
	s.Memories = everything{s.Memories}
	text := build(t, s, shop(wire.OccasionStart, "")).Text
	must.Says(t, "start", text, "The coupon rounding is done in cents.")
	must.Hides(t, "start", text, "lorry")
}

// broken is a list of sessions that panics.
type broken struct{ amber.Sessions }

func (broken) ListSessions(context.Context, amber.SessionQuery) (amber.Page[amber.Session], error) {
	panic("out of order")
}

// A panic beside recall is an error of the request, and does not end the process.
func TestPanicOfALatePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.LongTerm, s.Sessions = slow{s.LongTerm}, broken{s.Sessions}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := contextblock.Build(ctx, s, policy.Conservative{}, shop(wire.OccasionPrompt, "the coupon checkout"), rand.Reader)
		must.Kind(t, "context with a panic", err, amber.KindInternal)
	})
}
