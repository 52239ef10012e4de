package block

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/analyze"
	"github.com/amber-memory/amber/wire"
)

// What is put before a prompt.
const (
	maxPassages  = 5
	askPassages  = 32  // are looked at, since some may be known, or say the same
	passageBytes = 700 // of one passage
	fewWords     = 3   // a prompt with fewer content words says nothing on its own
	lastBytesOf  = 600 // of the last exchange, that stands for such a prompt
)

// question returns the text that passages are looked for with; "" for none. A prompt
// of a word or two goes on with what was said before it, so the last exchange of the
// session is the question; without one there is none.
func (b *builder) question(ctx context.Context) (string, error) {
	text := b.query.Text
	if b.r.Occasion != wire.OccasionPrompt || contentWords(text) >= fewWords {
		return text, nil
	}
	if b.r.SessionID == "" {
		return "", nil
	}
	turns, err := b.turns(ctx, b.r.SessionID, 8)
	if err != nil {
		return "", err
	}
	// The prompt itself may be stored already.
	if n := len(turns); n > 0 && turns[n-1].Role == amber.RoleUser {
		turns = turns[:n-1]
	}
	if len(turns) == 0 {
		return "", nil
	}
	var said []string
	for _, t := range turns[max(0, len(turns)-2):] {
		said = append(said, clip(t.Content, lastBytesOf/2))
	}
	return strings.Join(said, "\n"), nil
}

// contentWords counts the words of a text that say something.
func contentWords(text string) int {
	words, runs := analyze.Split(text)
	n := len(runs)
	parsed := analyze.Parse(text)
	for _, w := range words {
		if slices.Contains(parsed.Words, w) {
			n++
		}
	}
	if len(words) > 0 && len(parsed.Words) > 0 && !slices.ContainsFunc(parsed.Words, func(w string) bool { return len(w) > 2 }) {
		return 0
	}
	return n
}

// relevant adds the passages that are relevant to a text.
func (b *builder) relevant(ctx context.Context, text string) error {
	ctx, cancel := share(ctx, 0.5)
	defer cancel()
	q := b.query
	q.Text, q.Limit = clipQuery(text), askPassages
	q.Layers = []amber.RecallLayer{amber.LayerMemory, amber.LayerNote}
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
	asked := analyze.Parse(q.Text)
	for _, h := range found.Hits {
		if len(b.page.entries) == maxPassages {
			break
		}
		if h.Score < q.MinScore || !b.mayQuote(h) {
			continue
		}
		e, err := b.passage(ctx, h, asked)
		if err != nil {
			return err
		}
		if !b.isKnown(e.item) && !b.repeats(e) {
			b.page.add(e)
		}
	}
	return nil
}

func clipQuery(s string) string {
	if len(s) > amber.MaxQueryBytes {
		s = strings.ToValidUTF8(s[:amber.MaxQueryBytes], "")
	}
	return s
}

// passage is the entry of a hit.
func (b *builder) passage(ctx context.Context, h amber.Hit, asked analyze.Query) (entry, error) {
	why := fmt.Sprintf("relevant to the prompt: %.2f", h.Score)
	if h.Layer == amber.LayerMemory || h.Layer == "" {
		e := memoryEntry("", h, why)
		if h.Trust == amber.TrustDerived && len(e.body) > passageBytes {
			e.body = analyze.Snippet(harmless(h.Content), asked, passageBytes)
		}
		return e, nil
	}
	e := entry{label: label(h), hit: &h, item: itemOf(h.Layer, h.Owner, h.Title+"\x00"+h.Content, why)}
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
	e.body = speaker(h.Role) + clip(content, passageBytes/2) + "\n" + speaker(amber.RoleAssistant) + analyze.Snippet(harmless(answer), asked, passageBytes)
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
		said := plainWords(o.body)
		return strings.Contains(said, text) || strings.Contains(text, said)
	})
}

// plainWords are the words of a text with single spaces, without who said it and how it
// was cut.
func plainWords(s string) string {
	words, _ := analyze.Split(strings.TrimPrefix(strings.TrimPrefix(s, "User: "), "Assistant: "))
	return " " + strings.Join(words, " ") + " "
}
