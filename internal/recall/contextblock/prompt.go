package contextblock

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/wire"
)

// Limits of the passages that are put before a prompt.
const (
	maxPassages  = 5
	askPassages  = 16  // are looked at, since some may be known, or say the same
	passageBytes = 520 // of one passage
	lastBytesOf  = 600 // of the last exchange, which replaces a prompt without words of its own

	// The score of a hit is how likely it is relevant to a question about everything. A person who
	// works in a project and names two things or more asks about the project: the odds of passages
	// from the project are better by this much for each thing, up to a bound.
	oddsOfName  = 1.75
	projectOdds = 10
	enoughNames = 2
	// A passage beside a relevant one needs this much of its relevance.
	followers = 0.3
	// A question about earlier work needs this much of the relevance of another prompt, and is told the best passage in a line
	// from the other share on.
	askingShare  = 0.7
	perhapsShare = 0.16
	perhapsBytes = 200
)

// question is what passages are looked for with.
type question struct {
	text string // "" for none
	// odds says how much likelier passages of the project are relevant than their score says.
	odds float64
	// earlier says that it asks about earlier work.
	earlier bool
}

// question returns the question of a prompt. A prompt that names nothing and asks nothing, as
// "yes" or "run the tests again", goes on with what was said before it, so the last exchange
// of the session is the question; without one there is none.
func (b *builder) question(ctx context.Context) (question, error) {
	q := question{text: b.query.Text, odds: 1}
	names := specific(q.text)
	q.earlier = b.r.Occasion == wire.OccasionPrompt && asksEarlier(q.text, b.r.ProjectID)
	if names >= enoughNames {
		q.odds = min(projectOdds, oddsOfName*float64(names))
	}
	if b.r.Occasion != wire.OccasionPrompt || names > 0 || q.earlier || asks(q.text) {
		return q, nil
	}
	said, err := b.lastSaid(ctx)
	if specific(said) < enoughNames {
		said = ""
	}
	return question{text: said, odds: 1}, err
}

// lastSaid returns what was said last in the session, but for the prompt itself.
func (b *builder) lastSaid(ctx context.Context) (string, error) {
	if b.r.SessionID == "" {
		return "", nil
	}
	turns, err := b.turns(ctx, b.r.SessionID, 8)
	if n := len(turns); n > 0 && turns[n-1].Role == amber.RoleUser { // it may be stored already
		turns = turns[:n-1]
	}
	var said []string
	for _, t := range turns[max(0, len(turns)-2):] {
		said = append(said, beginning(t.Content, lastBytesOf/2))
	}
	return strings.Join(said, "\n"), err
}

// relevance is how likely a hit is relevant to a person who works in the project.
func (b *builder) relevance(h amber.Hit, odds float64) float64 {
	if h.ProjectID == "" || h.ProjectID != b.r.ProjectID {
		odds = 1
	}
	return odds * h.Score / (odds*h.Score + 1 - h.Score)
}

// relevant adds the passages that are relevant to a question.
func (b *builder) relevant(ctx context.Context, asked question) error {
	q := b.query
	q.Text, q.Limit, q.Local = clip.Bytes(asked.text, amber.MaxQueryBytes), askPassages, true
	if !q.Prompted() {
		q.Reason = amber.RecallRequest
	}
	q.MinScore = 0                                    // relevance is judged below
	q.Layers = []amber.RecallLayer{amber.LayerMemory} // a note belongs to no project: nothing says who may see it unasked
	if b.ofSessions() {
		q.Layers = append(q.Layers, amber.LayerExchange, amber.LayerSession)
	}
	if len(q.Kinds) > 0 || len(q.Tags) > 0 {
		q.Layers = nil
	}
	found, err := b.LongTerm.Recall(ctx, q)
	if err != nil {
		return err
	}
	b.degraded = found.Degraded
	if err := b.choose(ctx, found.Hits, asked); err != nil || !asked.earlier || len(b.page.entries) > 0 {
		return err
	}
	return b.perhaps(ctx, found.Hits, asked)
}

// perhaps adds the best passage in one line, where a question about earlier work has found nothing that is sure.
func (b *builder) perhaps(ctx context.Context, hits []amber.Hit, asked question) error {
	words := analyze.Parse(clip.Bytes(asked.text, amber.MaxQueryBytes))
	for _, h := range hits {
		relevance := b.relevance(h, asked.odds)
		if relevance < perhapsShare*b.query.MinScore {
			return nil
		}
		if !b.mayQuote(h) {
			continue
		}
		if ok, err := b.isEvidence(h.Content, h, func() (string, error) { return b.answerTo(ctx, h) }); err != nil {
			return err
		} else if !ok {
			continue
		}
		e, err := b.passage(ctx, h, words, relevance)
		if err != nil {
			return err
		}
		if b.isKnown(e.item) {
			continue
		}
		e.label, e.tail = "perhaps: "+e.label, ""
		e.body = beginning(e.body, perhapsBytes) + "; memory_recall has more"
		b.page.add(e)
		return nil
	}
	return nil
}

// choose adds the best hits: the first has to be relevant, and those behind it nearly so.
func (b *builder) choose(ctx context.Context, hits []amber.Hit, asked question) error {
	words := analyze.Parse(clip.Bytes(asked.text, amber.MaxQueryBytes))
	least := b.query.MinScore
	if b.r.Occasion == "" { // a person asked
		least *= followers
	}
	if asked.earlier {
		least *= askingShare
	}
	for _, h := range hits {
		if len(b.page.entries) == maxPassages {
			break
		}
		relevance := b.relevance(h, asked.odds)
		if relevance < least || !b.mayQuote(h) {
			continue
		}
		if ok, err := b.isEvidence(h.Content, h, func() (string, error) { return b.answerTo(ctx, h) }); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		least = min(least, followers*b.query.MinScore)
		e, err := b.passage(ctx, h, words, relevance)
		if err != nil {
			return err
		}
		if !b.isKnown(e.item) && !b.repeats(e) {
			b.page.add(e)
		}
	}
	return nil
}

// passage is the entry of a hit.
func (b *builder) passage(ctx context.Context, h amber.Hit, asked analyze.Query, relevance float64) (entry, error) {
	why := fmt.Sprintf("relevant to the prompt: %.2f", relevance)
	if h.Layer == amber.LayerMemory || h.Layer == "" {
		e := memoryEntry("", h, why)
		if h.Trust == amber.TrustDerived && len(e.body) > passageBytes {
			e.body = analyze.Snippet(harmless(h.Content), asked, passageBytes)
		}
		return e, nil
	}
	owner := h.Owner
	if h.Layer == amber.LayerNote && h.Title != "" { // a section of it
		owner += "#" + h.Title
	}
	e := entry{label: label(h), hit: &h, item: itemOf(h.Layer, owner, h.Title+"\x00"+h.Content, why)}
	content := harmless(h.Content)
	if h.Layer != amber.LayerExchange {
		e.body = analyze.Snippet(content, asked, passageBytes)
		return e, nil
	}
	e.body = speaker(h.Role) + analyze.Snippet(content, asked, passageBytes)
	if h.Role != amber.RoleUser {
		return e, nil
	}
	answer, err := b.answerTo(ctx, h)
	if err != nil || answer == "" {
		return e, err
	}
	e.body = speaker(h.Role) + beginning(content, passageBytes/2) + "\n" + speaker(amber.RoleAssistant) + analyze.Snippet(harmless(answer), asked, passageBytes)
	return e, nil
}

func speaker(r amber.Role) string {
	if r == amber.RoleUser {
		return "User: "
	}
	return "Assistant: "
}

// answerTo returns what was answered to a turn of the user.
func (b *builder) answerTo(ctx context.Context, h amber.Hit) (string, error) {
	turns, err := b.turns(ctx, h.SessionID, 200)
	for i, t := range turns {
		if string(t.ID) == h.Owner && i+1 < len(turns) && turns[i+1].Role == amber.RoleAssistant {
			return turns[i+1].Content, err
		}
	}
	return "", err
}

// repeats reports whether another entry says what e says.
func (b *builder) repeats(e entry) bool {
	text := plainWords(e.body)
	return slices.ContainsFunc(b.page.entries, func(o entry) bool {
		if e.trust().Outranks(o.trust()) { // what is trusted less does not speak for it
			return false
		}
		said := plainWords(o.body)
		return strings.Contains(said, text) || strings.Contains(text, said)
	})
}

// trust is that of the passage of an entry; what Amber itself says is the owner's.
func (e entry) trust() amber.Trust {
	if e.hit == nil {
		return amber.TrustOwn
	}
	return e.hit.Trust
}

// plainWords are the words of a text with single spaces, without who said it and how it
// was cut.
func plainWords(s string) string {
	words, _ := analyze.Split(strings.TrimPrefix(strings.TrimPrefix(s, "User: "), "Assistant: "))
	return " " + strings.Join(words, " ") + " "
}
