package agent

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/recall/packs"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// indexCode is the check of how far the index is.
const indexCode = "index"

// packsCode is the check of the packs that a home has; there is none for a home without.
const packsCode = "models"

// model is what makes vectors; nil where nothing does, or the configuration is not known.
func (d *doctor) model() search.Model {
	if d.agent == nil || d.ConfigErr != nil {
		return nil
	}
	m, err := NewModel(d.agent.config.Search, d.agent.o.Home, d.agent.o.Getenv)
	if err != nil {
		return nil
	}
	return m
}

// checkIndex says how far the index is. Records that are not in it yet are found later, which is no failure.
func (d *doctor) checkIndex(ctx context.Context, agent *home.Agent, store *sqlite.Store) {
	s, err := store.IndexStatus(ctx)
	if err != nil {
		d.judge(indexCode, err, "")
		return
	}
	s.Waiting += d.waitingNotes(ctx, agent, store)
	model := "by words alone"
	if s.Model != "" {
		model = fmt.Sprintf("%d with vectors of %s", s.Vectors, s.Model)
	}
	note := ""
	if d.agent != nil {
		note = modelNote(d.agent.config.Search, d.agent.o.Home)
	}
	if note != "" {
		model += ": " + note
	}
	d.checkPacks()
	if s.Waiting > 0 || s.Pending > 0 {
		d.warn(indexCode, "amber index sync", "%s, %s; %s for the index and %s for a vector", words.Count(s.Passages, "passage", "passages"), model,
			words.Count(s.Waiting, "record or note waits", "records and notes wait"), words.Count(s.Pending, "passage", "passages"))
		return
	}
	d.judge(indexCode, nil, "%s, %s", words.Count(s.Passages, "passage", "passages"), model)
}

// checkPacks says which packs the home has that cannot be used. With deep all of each file is read.
func (d *doctor) checkPacks() {
	all, err := packs.List(d.o.Home, d.Deep)
	if err != nil {
		d.warn(packsCode, "amber index models list", "%v", err)
		return
	}
	for _, p := range all {
		switch {
		case p.Problem != "":
			d.warn(packsCode, "amber index models add "+p.Name+" FILE", "the pack %s is not used: %s", p.Name, p.Problem)
		case p.Installed:
			d.judge(packsCode, nil, "the pack %s: %s", p.Name, p.Model)
		}
	}
}

// waitingNotes counts the notes that are committed and not in the index yet.
func (d *doctor) waitingNotes(ctx context.Context, agent *home.Agent, store *sqlite.Store) int64 {
	dir, err := notes.New(notes.Options{Guard: snapshot.NotesGuard(agent), Clock: d.o.Clock})
	if err != nil {
		return 0 // the check of notes says why
	}
	return waitingNotes(ctx, dir, store.Contracts)
}
