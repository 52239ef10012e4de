package httpapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// noteName is in the path of what concerns one note.
type noteName struct {
	Name string `path:"name" doc:"the name of the note, its slashes as %2F"`
}

// noteMatch is what a change of a note is based on.
type noteMatch struct {
	noteName
	IfMatch string `header:"If-Match" doc:"the ETag the change is based on"`
}

// repeats: once it is done, what it was based on is not there any more.
func (m noteMatch) repeats() bool { return m.IfMatch == "" }

// writeNote asks to store a note.
type writeNote struct {
	noteMatch
	Body struct {
		Content string `json:"content"`
	} `body:"json"`
}

func noteReadRoutes(a *API) {
	handle(a, operation{
		id: "note.list", bound: true, method: "GET", path: agentPath + "/notes", scope: wire.TokenRead, summary: "List notes by name, without content",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Page[amber.Note]], error) {
		return items(ag.Store.Notes.ListNotes(ctx))
	})

	handle(a, operation{
		id: "note.get", bound: true, method: "GET", path: agentPath + "/notes/{name}", scope: wire.TokenRead, summary: "Read one note",
	}, func(ctx context.Context, ag *server.Agent, in noteName) (answer[amber.Note], error) {
		n, err := ag.Store.Notes.ReadNote(ctx, in.Name)
		return tagged(n, noteTag(n), err)
	})

	type log struct {
		noteName
		Limit *int `query:"limit" doc:"the most items; default 50, at most 1000"`
	}
	handle(a, operation{
		id: "note.log", bound: true, method: "GET", path: agentPath + "/notes/{name}/log", scope: wire.TokenRead,
		summary: "List the last changes of a note, newest first; the history of a deleted note is listed too",
	}, func(ctx context.Context, ag *server.Agent, in log) (answer[amber.Page[amber.NoteCommit]], error) {
		return items(ag.Store.NoteLog.LogNote(ctx, in.Name, atMost(in.Limit)))
	})

	type change struct {
		noteName
		Commit string `path:"commit" doc:"the commit of the change"`
	}
	handle(a, operation{
		id: "note.at", bound: true, method: "GET", path: agentPath + "/notes/{name}/log/{commit}", scope: wire.TokenRead, summary: "Read one note as a change left it",
	}, func(ctx context.Context, ag *server.Agent, in change) (answer[amber.Note], error) {
		return got(ag.Store.NoteLog.NoteAt(ctx, in.Name, in.Commit))
	})
}

func noteWriteRoutes(a *API) {
	handle(a, operation{
		id: "note.write", bound: true, method: "PUT", path: agentPath + "/notes/{name}", scope: wire.TokenWrite, mutates: true, echo: []string{"name"},
		summary: "Store a note and commit it",
	}, func(ctx context.Context, ag *server.Agent, in writeNote) (answer[amber.Note], error) {
		var n amber.Note
		err := a.changeNote(ctx, ag, in.noteMatch, func() (err error) {
			n, err = ag.Store.Notes.WriteNote(ctx, in.Name, in.Body.Content)
			return err
		})
		return tagged(n, noteTag(n), err)
	})

	handle(a, operation{
		id: "note.delete", bound: true, method: "DELETE", path: agentPath + "/notes/{name}", scope: wire.TokenWrite, mutates: true,
		summary: "Remove a note and commit that; its history stays",
	}, func(ctx context.Context, ag *server.Agent, in noteMatch) (answer[nothing], error) {
		return done(a.changeNote(ctx, ag, in, func() error { return ag.Store.Notes.DeleteNote(ctx, in.Name) }))
	})
}

// noteTag is the entity tag of a note.
func noteTag(n amber.Note) string {
	if n.Commit != "" {
		return n.Commit
	}
	return amber.ContentDigest(n.Content)
}

// changeNote calls fn if the note is still the one that is expected. One request
// at a time changes notes of an agent, tools of agent hosts among them, so what
// If-Match was compared with is what is replaced. A process that changes the note beside
// the server is not kept waiting, and the comparison may be of the moment before.
// Errors: conflict when it is another; invalid; unreachable when ctx ends while
// others are before; those of fn.
func (a *API) changeNote(ctx context.Context, ag *server.Agent, m noteMatch, fn func() error) error {
	const op = "change note"
	name, err := amber.CheckNoteName(m.Name)
	if err != nil {
		return err
	}
	want, err := ifMatch(m.IfMatch)
	if err != nil {
		return err
	}
	unlock, err := a.o.Desk.Alone(ctx, ag.Tenant, ag.ID)
	if err != nil {
		return err
	}
	defer unlock()
	if m.IfMatch != "" {
		stored, err := ag.Store.Notes.ReadNote(ctx, name)
		switch {
		case amber.KindOf(err) == amber.KindNotFound:
			return amber.Errorf(amber.KindConflict, op, name, "the note was deleted meanwhile")
		case err != nil:
			return err
		case want != "" && want != noteTag(stored):
			return amber.Errorf(amber.KindConflict, op, name, "the note was changed meanwhile")
		}
	}
	return fn()
}
