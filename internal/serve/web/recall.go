package web

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/wire"
)

// pageSize is how many rows a list has.
const pageSize = 50

// recallScreen is a question to the memory.
type recallScreen struct{ *visit }

func recallRoutes(p *Page) { p.get("/recall", withStore(recallScreen.recall)) }

// recallData is what the screen of recall shows.
type recallData struct {
	Text, Project, Layer, AsOf string
	Trusted, AsContext         bool
	Owner                      bool // may ask everything
	Layers                     []amber.RecallLayer
	Projects                   []string            // to choose from
	Snapshots                  []wire.SnapshotMeta // to choose from

	Asked    bool
	Hits     []hitRow   // those that are shown
	Weak     []hitRow   // those that are folded
	Groups   []hitGroup // of those that are shown, where everything was asked
	Degraded string
	SetAside []amber.SetAside // memories that cannot be read
	Context  *contextView
	Recent   *amber.Page[amber.Memory] // without a question
}

// hitGroup is what one project, or what belongs to none, has among the hits.
type hitGroup struct {
	wire.AskGroup
	Rows []hitRow
}

// contextView is the block an agent would get.
type contextView struct {
	wire.ContextBlock
	Bytes int
	Rows  []hitRow
}

func (v recallScreen) recall(ctx context.Context, store amber.Store) error {
	d := recallData{
		Text: v.query("q"), Layer: v.query("layer"), AsOf: v.query("as_of"),
		Trusted: v.query("trusted") != "", AsContext: v.query("context") != "", Layers: amber.RecallLayers(),
	}
	d.Asked, d.Owner = d.Text != "", v.owns()
	recent, err := store.Memories.List(ctx, amber.ListQuery{All: true, Limit: pageSize, Cursor: amber.Cursor(v.query("cursor"))})
	if err != nil {
		return err
	}
	d.chooseProject(v.visit, recent.Items)
	s := screen{Title: "Recall", Nav: "recall", Command: v.command("list", "--all")}
	if !d.Asked {
		d.Recent, d.SetAside = &recent, recent.SetAside
	} else {
		v.log.forget() // the list was for the choice of projects
		if s.Command, err = v.ask(ctx, store, &d); err != nil {
			return err
		}
	}
	if v.r.Header.Get("HX-Request") == "" { // while a visitor types, the page draws only the hits again
		d.Snapshots = v.snapshotChoice(ctx)
		if id := amber.SnapshotID(d.AsOf); id != "" && !slices.ContainsFunc(d.Snapshots, func(m wire.SnapshotMeta) bool { return m.ID == id }) {
			d.Snapshots = append(d.Snapshots, wire.SnapshotMeta{ID: id, Label: "snapshot " + shortID(id)})
		}
	}
	if d.Asked && d.Project == everything {
		v.log.forget() // the API has no such question
	}
	return v.render("recall", s, d)
}

// chooseProject finds the projects of what was remembered last. A visitor who has not chosen
// one asks for the latest: memories of a project are found only when it is named. The owner asks everything.
func (d *recallData) chooseProject(v *visit, recent []amber.Memory) {
	for _, m := range recent {
		if m.ProjectID != "" && !slices.Contains(d.Projects, m.ProjectID) {
			d.Projects = append(d.Projects, m.ProjectID)
		}
	}
	d.Project = v.query("project")
	whole := d.Owner && !d.AsContext && d.AsOf == "" // neither a snapshot nor a context is about everything
	if d.Project == everything && !whole {
		d.Project = ""
	}
	if !v.r.URL.Query().Has("project") || v.query("project") == everything && !whole {
		switch {
		case whole:
			d.Project = everything
		case len(d.Projects) > 0:
			d.Project = d.Projects[0]
		}
	}
	if d.Project != "" && d.Project != everything && !slices.Contains(d.Projects, d.Project) {
		d.Projects = append(d.Projects, d.Project)
	}
}

// ask asks what the form says, and returns the command that does.
func (v recallScreen) ask(ctx context.Context, store amber.Store, d *recallData) (string, error) {
	who := amber.Identities{ProjectID: d.Project}
	if d.AsContext {
		return v.askContext(ctx, d, who)
	}
	q := amber.Query{Text: d.Text, Filter: amber.Filter{Identities: who}, Explain: true, Limit: 20, Trusted: d.Trusted}
	words := []string{"recall", d.Text, "--explain"}
	if d.Layer != "" {
		q.Layers = []amber.RecallLayer{amber.RecallLayer(d.Layer)}
		words = append(words, "--layer", d.Layer)
	}
	result, err := amber.RecallResult{}, error(nil)
	if d.Project == everything {
		words[0] = "ask"
		return v.command(words...), v.askAll(ctx, d, q)
	}
	if d.Project != "" {
		words = append(words, "--project", d.Project)
	}
	if d.AsOf != "" {
		words = append(words, "--at", d.AsOf)
		var past *client.Past
		if past, err = v.remote.Snapshots().At(ctx, wire.SnapshotRef{ID: amber.SnapshotID(d.AsOf)}); err == nil {
			result, err = past.Recall(ctx, q)
		}
	} else {
		result, err = store.LongTerm.Recall(ctx, q)
	}
	shown, weak := wire.Fold(result.Hits)
	d.Hits, d.Weak, d.Degraded, d.SetAside = v.hitRows(shown), v.hitRows(weak), result.Degraded, result.SetAside
	return v.command(words...), err
}

// askAll asks everything.
func (v recallScreen) askAll(ctx context.Context, d *recallData, q amber.Query) error {
	q.Identities = amber.Identities{}
	result, err := v.askEverything(ctx, q)
	if err != nil {
		return err
	}
	shown, weak := wire.Fold(result.Hits)
	d.Weak = v.hitRows(weak)
	asked := wire.Grouped(amber.RecallResult{Hits: shown}, "")
	d.Hits, d.Degraded, d.SetAside = v.hitRows(asked.Hits), result.Degraded, result.SetAside
	rows := d.Hits
	for _, g := range asked.Groups {
		d.Groups = append(d.Groups, hitGroup{g, rows[:g.Hits]})
		rows = rows[g.Hits:]
	}
	return nil
}

// askContext asks for the block that an agent would get.
func (v recallScreen) askContext(ctx context.Context, d *recallData, who amber.Identities) (string, error) {
	words := []string{"context", d.Text, "--explain"}
	if d.Project != "" {
		words = append(words, "--project", d.Project)
	}
	block, err := v.remote.Context(ctx, wire.ContextRequest{RecallInput: amber.RecallInput{Goal: d.Text, Identities: who}, Explain: true})
	d.Context = &contextView{ContextBlock: block, Bytes: len(block.Text), Rows: v.hitRows(block.Memories)}
	return v.command(words...), err
}

// hitRow is a hit with the address of what it was taken from.
type hitRow struct {
	amber.Hit
	URL    string
	Likely wire.Likelihood
	Parts  []scorePart
}

// scorePart is one part of the reason of a hit.
type scorePart struct {
	Name, Meaning, Value string
}

func (v recallScreen) hitRows(hits []amber.Hit) []hitRow {
	rows := make([]hitRow, len(hits))
	for i, h := range hits {
		rows[i] = hitRow{Hit: h, URL: v.hitPath(h), Likely: wire.LikelihoodOf(h.Score)}
		if h.Why != nil {
			rows[i].Parts = parts(*h.Why)
		}
	}
	return rows
}

// hitPath is the address of what a hit was taken from.
func (v recallScreen) hitPath(h amber.Hit) string {
	switch {
	case h.ID != "":
		return v.path("memories", string(h.ID))
	case h.Layer == amber.LayerNote:
		return v.path("notes", h.Owner)
	case h.SessionID != "":
		return v.path("sessions", string(h.SessionID))
	}
	return v.path("sessions")
}

// parts are the parts of a score that are not zero.
func parts(w amber.Why) []scorePart {
	var out []scorePart
	for _, p := range []struct {
		name, meaning string
		value         float64
	}{
		{"words", "how much of the question its words answer", w.Words},
		{"meaning", "how near it is in meaning", w.Meaning},
		{"neighbours", "what the passages beside it add", w.Neighbours},
		{"session", "what the rest of its session adds", w.Session},
		{"speaker", "the question names who spoke", w.Speaker},
		{"time", "it is of the time the question names", w.Time},
		{"kind", "it is of the kind the question asks for", w.Kind},
		{"trust", "what it loses because it came from elsewhere unsigned", w.Trust},
		{"feedback", "how near it is to the best hit", w.Feedback},
		{"wording", "what the wording of the question adds to every hit", w.Wording},
	} {
		if p.value != 0 {
			out = append(out, scorePart{p.name, p.meaning, fmt.Sprintf("%+.2f", p.value)})
		}
	}
	return out
}
