package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// recallState is what the Recall screen remembers beside its page.
type recallState struct {
	why  bool
	weak bool              // weak hits are shown, too
	at   wire.SnapshotMeta // answers come from this snapshot; zero: from now
}

// recallPage is screen 1: a question, and what answers it.
func (m recallScreen) recallPage() *window.Page {
	s := &recallState{why: true}
	p := &window.Page{Title: "Recall", Empty: m.nothingFound()}
	p.Field = &window.Field{
		Label: "recall", Help: "type a question · enter hits · esc keys: ? help, 1-9 screens · ctrl+c quit",
		Change: func(string) tea.Cmd { return m.recall(p, s) },
	}
	p.Load = m.recallLoad("", s)
	p.Look = func(r window.Row) window.Document { return m.hitDocument(r.Value.(amber.Hit), s.why) }
	p.Actions = []window.Action{
		window.Key("w", "why", "show or hide why each hit was found", func() tea.Cmd {
			s.why = !s.why
			p.DocOf = ""
			return m.Follow(p)
		}, nil),
		window.Key("l", "weak", "show or fold hits that are hardly relevant", func() tea.Cmd {
			s.weak = !s.weak
			return m.Reload(p)
		}, nil),
		window.Key("c", "context", "show the block of memory an agent would get for this question", func() tea.Cmd { return m.asContext(p.Field.Edit.String()) }, nil),
		window.Key("a", "as of", "answer from a snapshot, as it was then", func() tea.Cmd { return m.Push(m.asOfPage(p, s)) }, nil),
	}
	return p
}

// nothingFound says what recall sees, and how a memory is stored.
func (m recallScreen) nothingFound() string {
	if m.src.Ask != nil {
		return "Nothing was found. Recall asks every project, chat, session and note; screen 2 shows every memory.\n\nA memory is stored with\n" +
			"  amber remember \"We chose PostgreSQL for JSONB\"\nor here: leave the field with esc, then type\n  :remember \"We chose PostgreSQL for JSONB\""
	}
	sees := "memories that are global"
	if p := m.src.Identities.ProjectID; p != "" {
		sees += " or of the project " + p
	}
	return "Nothing was found. Recall sees " + sees + "; screen 2 shows every memory.\n\nA memory is stored with\n" +
		"  amber remember \"We chose PostgreSQL for JSONB\"\nor here: leave the field with esc, then type\n  :remember \"We chose PostgreSQL for JSONB\""
}

// recall asks for the hits of what was typed. One question is under way at a time.
func (m recallScreen) recall(p *window.Page, s *recallState) tea.Cmd {
	p.Load = m.recallLoad(p.Field.Edit.String(), s)
	p.Field.Label = "recall"
	if s.at.ID != "" {
		p.Field.Label = "recall as of " + window.Cut(labelOf(s.at), 30)
	}
	if p.Loading {
		p.Again = true
		return nil
	}
	return m.Reload(p)
}

// recallLoad asks a question of now, or of a snapshot. Weak hits are folded unless they are wanted.
func (m recallScreen) recallLoad(text string, s *recallState) func(ctx context.Context, after string) (window.Batch, error) {
	q := amber.Query{Text: text, Filter: amber.Filter{Identities: m.src.Identities}, Limit: window.PageSize, Explain: true}
	at, weak := s.at, s.weak
	return func(ctx context.Context, _ string) (window.Batch, error) {
		var b window.Batch
		result, err := m.recallAt(ctx, q, at)
		if err != nil {
			return b, err
		}
		shown, folded := wire.Fold(result.Hits)
		if weak {
			shown, folded = result.Hits, nil
		}
		if result.Hits = shown; m.asksAll(text, at) {
			b.Rows = groupedRows(wire.Grouped(result, m.src.Identities.ProjectID))
		} else {
			for _, h := range shown {
				b.Rows = append(b.Rows, hitRow(h))
			}
		}
		if b.Note = result.Degraded; b.Note == "" && len(folded) > 0 {
			b.Note = words.Count(len(folded), "weak hit", "weak hits") + ": l shows them"
		}
		return b, err
	}
}

// asksAll reports whether a question is put to everything: the field without words lists what the folder sees, and a snapshot answers
// for the project.
func (m recallScreen) asksAll(text string, at wire.SnapshotMeta) bool {
	return m.src.Ask != nil && at.ID == "" && strings.TrimSpace(text) != ""
}

// recallAt answers a query from now or from a snapshot.
func (m recallScreen) recallAt(ctx context.Context, q amber.Query, at wire.SnapshotMeta) (amber.RecallResult, error) {
	if m.asksAll(q.Text, at) {
		return m.src.Ask(ctx, q)
	}
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
func hitRow(h amber.Hit) window.Row {
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
	return window.Row{ID: id, Lead: wire.LikelihoodOf(h.Score).Dots() + " ", Title: title, Side: string(h.Layer), Text: h.Content, Command: hitCommand(h), Value: h}
}

// groupedRows are hits by project, each with the name of its group.
func groupedRows(asked wire.Asked) (rows []window.Row) {
	for i, hits := range asked.Of() {
		for _, h := range hits {
			r := hitRow(h)
			r.Extra = asked.Groups[i].Name
			rows = append(rows, r)
		}
	}
	return rows
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

func (m recallScreen) hitDocument(h amber.Hit, why bool) window.Document {
	d := window.Document{}
	if h.Title != "" {
		d = d.Head(h.Title)
	}
	trust := ""
	if h.Trust != "" {
		trust = "trust " + string(h.Trust)
	}
	session := ""
	if h.SessionID != "" {
		session = "session " + string(h.SessionID)
	}
	likely := wire.LikelihoodOf(h.Score)
	d = d.Text(likely.Dots()+" "+string(likely)).
		Facts(string(h.Layer), string(h.Role), string(h.Kind), string(h.Scope), trust, m.When(h.UpdatedAt), session)
	if why && h.Why != nil && (len(h.Why.Terms) > 0 || h.Why.Words != 0 || h.Why.Meaning != 0) {
		d = whyDocument(d, h)
	}
	return d.Blank().Text(h.Content)
}

// whyDocument shows the score of a hit and what made it.
func whyDocument(d window.Document, h amber.Hit) window.Document {
	w := h.Why
	d = d.Blank().Head("why").Text(fmt.Sprintf("score %.2f", h.Score))
	for _, t := range w.Terms {
		d = d.Text(fmt.Sprintf("%q in %s", t.Term, strings.Join(t.Fields, ", ")))
	}
	d = d.Text(cli.ScoreParts(w))
	if w.Newer {
		d = d.Text("newer than another one about the same")
	}
	return d
}

// asContext opens the block of memory that an agent would get.
func (m recallScreen) asContext(goal string) tea.Cmd {
	m.Say("making the context …")
	r := wire.ContextRequest{RecallInput: amber.RecallInput{Goal: goal, Identities: m.src.Identities}, Explain: true}
	return window.Known(m.Shell, func(ctx context.Context) (wire.ContextBlock, error) { return m.src.Context(ctx, r) }, func(b wire.ContextBlock) tea.Cmd {
		d := window.Document{}.Facts(cli.ByteSize(int64(len(b.Text))), words.Count(int64(len(b.Items)), "passage", "passages"), fmt.Sprintf("%d left out", b.Omitted), b.Degraded)
		switch {
		case !b.Decision.Effective:
			d = d.Warn("nothing is recalled: " + b.Decision.BlockedReason)
		case b.Text == "":
			d = d.Dim("The block is empty: nothing in memory is about this.")
		}
		return m.PushDocument("Context", d.Blank().Text(b.Text))
	})
}

// asOfPage lets the user choose the snapshot that answers.
func (m recallScreen) asOfPage(recall *window.Page, s *recallState) *window.Page {
	now := window.Row{ID: "now", Title: "now", Side: "the live agent", Value: wire.SnapshotMeta{}}
	p := &window.Page{Title: "As of", Look: func(r window.Row) window.Document {
		return window.Document{}.Dim("enter answers from here").Blank().Text(r.Title)
	}}
	p.Load = func(ctx context.Context, after string) (window.Batch, error) {
		b, err := snapshotScreen(m).listSnapshots(ctx, after)
		if after == "" && err == nil {
			b.Rows = append([]window.Row{now}, b.Rows...)
		}
		return b, err
	}
	p.Open = func(r window.Row) tea.Cmd {
		s.at = r.Value.(wire.SnapshotMeta)
		return tea.Batch(m.Pop(), m.recall(recall, s))
	}
	return p
}
