package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// recallState is what the Recall screen remembers beside its page.
type recallState struct {
	why bool
	at  wire.SnapshotMeta // answers come from this snapshot; zero: from now
}

// recallPage is screen 1: a question, and what answers it.
func (m recallScreen) recallPage() *page {
	s := &recallState{why: true}
	p := &page{title: "Recall", empty: m.nothingFound()}
	p.field = &field{
		label: "recall", help: "type a question · enter hits · esc keys: ? help, 1-9 screens · ctrl+c quit",
		change: func(string) tea.Cmd { return m.recall(p, s) },
	}
	p.load = m.recallLoad("", s.at)
	p.look = func(r row) document { return m.hitDocument(r.value.(amber.Hit), s.why) }
	p.actions = []action{
		{"w", "why", "show or hide why each hit was found", func() tea.Cmd {
			s.why = !s.why
			p.docOf = ""
			return m.follow(p)
		}, nil},
		{"c", "context", "show the block of memory an agent would get for this question", func() tea.Cmd { return m.asContext(p.field.edit.String()) }, nil},
		{"a", "as of", "answer from a snapshot, as it was then", func() tea.Cmd { return m.push(m.asOfPage(p, s)) }, nil},
	}
	return p
}

// nothingFound says what recall sees, and how a memory is stored.
func (m recallScreen) nothingFound() string {
	sees := "memories that are global"
	if p := m.src.Identities.ProjectID; p != "" {
		sees += " or of the project " + p
	}
	return "Nothing was found. Recall sees " + sees + "; screen 2 shows every memory.\n\nA memory is stored with\n" +
		"  amber remember \"We chose PostgreSQL for JSONB\"\nor here: leave the field with esc, then type\n  :remember \"We chose PostgreSQL for JSONB\""
}

// recall asks for the hits of what was typed. One question is under way at a time.
func (m recallScreen) recall(p *page, s *recallState) tea.Cmd {
	p.load = m.recallLoad(p.field.edit.String(), s.at)
	p.field.label = "recall"
	if s.at.ID != "" {
		p.field.label = "recall as of " + cut(labelOf(s.at), 30)
	}
	if p.loading {
		p.again = true
		return nil
	}
	return m.reload(p)
}

// recallLoad asks a question of now, or of a snapshot.
func (m recallScreen) recallLoad(text string, at wire.SnapshotMeta) func(ctx context.Context, after string) (batch, error) {
	q := amber.Query{Text: text, Filter: amber.Filter{Identities: m.src.Identities}, Limit: pageSize, Explain: true}
	return func(ctx context.Context, _ string) (batch, error) {
		var b batch
		result, err := m.recallAt(ctx, q, at)
		for _, h := range result.Hits {
			b.rows = append(b.rows, hitRow(h))
		}
		b.note = result.Degraded
		return b, err
	}
}

// recallAt answers a query from now or from a snapshot.
func (m recallScreen) recallAt(ctx context.Context, q amber.Query, at wire.SnapshotMeta) (amber.RecallResult, error) {
	if at.ID == "" {
		return m.src.Store.LongTerm.Recall(ctx, q)
	}
	snapshots, err := m.src.Snapshots(ctx)
	if err != nil {
		return amber.RecallResult{}, err
	}
	view, err := snapshots.At(ctx, snapshotScreen(m).ref(at.ID))
	if err != nil {
		return amber.RecallResult{}, err
	}
	defer view.Close() // nothing was written
	return view.Recall(ctx, q)
}

// hitRow is a hit in the list: how likely it is relevant, and its first words.
func hitRow(h amber.Hit) row {
	id := string(h.ID)
	if id == "" {
		id = string(h.Layer) + " " + h.Owner + " " + h.Provenance.Locator
	}
	title := h.Title
	if title == "" {
		title = h.Snippet
	}
	if title == "" {
		title = h.Content
	}
	return row{id: id, lead: fmt.Sprintf("%.2f ", h.Score), title: title, side: string(h.Layer), text: h.Content, command: hitCommand(h), value: h}
}

// hitCommand shows what a hit was taken from.
func hitCommand(h amber.Hit) string {
	switch h.Layer {
	case amber.LayerExchange, amber.LayerSession:
		return "amber session show " + string(h.SessionID)
	case amber.LayerActivity:
		return "amber session activity " + string(h.SessionID)
	case amber.LayerNote:
		return "amber note show " + quoted(h.Owner)
	}
	return "amber get " + string(h.ID)
}

// scoreBar draws a score in ten steps.
func scoreBar(score float64) string {
	full := min(max(int(score*10+0.5), 0), 10)
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", 10-full) + "]"
}

func (m recallScreen) hitDocument(h amber.Hit, why bool) document {
	d := document{}
	if h.Title != "" {
		d = d.head(h.Title)
	}
	trust := ""
	if h.Trust != "" {
		trust = "trust " + string(h.Trust)
	}
	session := ""
	if h.SessionID != "" {
		session = "session " + string(h.SessionID)
	}
	d = d.text(fmt.Sprintf("%s %.2f", scoreBar(h.Score), h.Score)).
		facts(string(h.Layer), string(h.Role), string(h.Kind), string(h.Scope), trust, m.when(h.UpdatedAt), session)
	if why && h.Why != nil && (len(h.Why.Terms) > 0 || h.Why.Words != 0 || h.Why.Meaning != 0) {
		d = whyDocument(d, h.Why)
	}
	return d.blank().text(h.Content)
}

// whyDocument shows what made the score.
func whyDocument(d document, w *amber.Why) document {
	d = d.blank().head("why")
	for _, t := range w.Terms {
		d = d.text(fmt.Sprintf("%q in %s", t.Term, strings.Join(t.Fields, ", ")))
	}
	parts := []string{fmt.Sprintf("words %.3f", w.Words)}
	for _, part := range []struct {
		name  string
		value float64
	}{
		{"meaning", w.Meaning},
		{"neighbours", w.Neighbours},
		{"session", w.Session},
		{"speaker", w.Speaker},
		{"time", w.Time},
		{"kind", w.Kind},
		{"trust", w.Trust},
		{"near the best", w.Feedback},
		{"wording", w.Wording},
	} {
		if part.value != 0 {
			parts = append(parts, fmt.Sprintf("%s %.3f", part.name, part.value))
		}
	}
	d = d.text(strings.Join(parts, ", "))
	if w.Newer {
		d = d.text("newer than another one about the same")
	}
	return d
}

// asContext opens the block of memory that an agent would get.
func (m recallScreen) asContext(goal string) tea.Cmd {
	m.say("making the context …")
	r := wire.ContextRequest{RecallInput: amber.RecallInput{Goal: goal, Identities: m.src.Identities}, Explain: true}
	return known(m.shell, func(ctx context.Context) (wire.ContextBlock, error) { return m.src.Context(ctx, r) }, func(b wire.ContextBlock) tea.Cmd {
		d := document{}.facts(cli.ByteSize(int64(len(b.Text))), words.Count(int64(len(b.Items)), "passage", "passages"), fmt.Sprintf("%d left out", b.Omitted), b.Degraded)
		switch {
		case !b.Decision.Effective:
			d = d.warn("nothing is recalled: " + b.Decision.BlockedReason)
		case b.Text == "":
			d = d.dim("The block is empty: nothing in memory is about this.")
		}
		return m.pushDocument("Context", d.blank().text(b.Text))
	})
}

// asOfPage lets the user choose the snapshot that answers.
func (m recallScreen) asOfPage(recall *page, s *recallState) *page {
	now := row{id: "now", title: "now", side: "the live agent", value: wire.SnapshotMeta{}}
	p := &page{title: "As of", look: func(r row) document { return document{}.dim("enter answers from here").blank().text(r.title) }}
	p.load = func(ctx context.Context, after string) (batch, error) {
		b, err := snapshotScreen(m).listSnapshots(ctx, after)
		if after == "" && err == nil {
			b.rows = append([]row{now}, b.rows...)
		}
		return b, err
	}
	p.open = func(r row) tea.Cmd {
		s.at = r.value.(wire.SnapshotMeta)
		return tea.Batch(m.pop(), m.recall(recall, s))
	}
	return p
}
