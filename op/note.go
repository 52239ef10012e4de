package op

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// NoteName names a note.
type NoteName struct {
	Name string `path:"name" doc:"the name of the note, its slashes as %2F"`
}

// NoteList lists notes.
var NoteList = do(Row{
	ID: "note.list", HTTP: "GET /notes", Scope: wire.TokenRead, Kind: Bound, Doc: "List notes by name, without content",
}, func(ctx context.Context, c *Call, _ None) (amber.Page[amber.Note], error) {
	return items(c.Store.Notes.ListNotes(ctx))
})

// NoteGet reads a note.
var NoteGet = do(Row{
	ID: "note.get", HTTP: "GET /notes/{name}", Scope: wire.TokenRead, Kind: Bound | Tagged, Holds: HoldsText, Doc: "Read one note",
}, func(ctx context.Context, c *Call, in NoteName) (amber.Note, error) {
	n, err := c.Store.Notes.ReadNote(ctx, in.Name)
	c.Tag = noteTag(n)
	return n, err
})

// NoteLogIn asks for the changes of a note.
type NoteLogIn struct {
	NoteName
	Limit *int `query:"limit" doc:"the most items; default 50, at most 1000"`
}

// NoteLog lists the changes of a note.
var NoteLog = do(Row{
	ID: "note.log", HTTP: "GET /notes/{name}/log", Scope: wire.TokenRead, Kind: Bound,
	Doc: "List the last changes of a note, newest first; the history of a deleted note is listed too",
}, func(ctx context.Context, c *Call, in NoteLogIn) (amber.Page[amber.NoteCommit], error) {
	return items(c.Store.NoteLog.LogNote(ctx, in.Name, atMost(in.Limit)))
})

// NoteAtIn names a change of a note.
type NoteAtIn struct {
	NoteName
	Commit string `path:"commit" doc:"the commit of the change"`
}

// NoteAt reads a note as a change left it.
var NoteAt = do(Row{
	ID: "note.at", HTTP: "GET /notes/{name}/log/{commit}", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsText, Doc: "Read one note as a change left it",
}, func(ctx context.Context, c *Call, in NoteAtIn) (amber.Note, error) {
	return c.Store.NoteLog.NoteAt(ctx, in.Name, in.Commit)
})

// NoteMatch is what a change of a note is based on.
type NoteMatch struct {
	NoteName
	IfMatch string `header:"If-Match" doc:"the ETag the change is based on"`
}

// repeats: once it is done, what it was based on is not there any more.
func (m NoteMatch) repeats() bool { return m.IfMatch == "" }

// NoteWriteIn asks to store a note.
type NoteWriteIn struct {
	NoteMatch
	Body amber.NoteWrite `body:"json"`
}

// NoteWrite stores a note.
var NoteWrite = do(Row{
	ID: "note.write", HTTP: "PUT /notes/{name}", Scope: wire.TokenWrite, Kind: Changes | Bound | Tagged | Keyed, Echo: []string{"name"}, Holds: HoldsText,
	Fails: []amber.Kind{amber.KindQuota}, Doc: "Store a note and commit it",
}, func(ctx context.Context, c *Call, in NoteWriteIn) (n amber.Note, err error) {
	in.Body.Name = in.Name
	if err := in.Body.NoteBy.Check(); err != nil {
		return amber.Note{}, err
	}
	err = c.changeNote(ctx, in.NoteMatch, func() (err error) {
		n, err = c.Store.Notes.WriteNote(ctx, in.Body)
		return err
	})
	c.Tag = noteTag(n)
	return n, err
})

// NoteDeleteIn asks to remove a note. The query names who removes it, since the request has no body.
type NoteDeleteIn struct {
	NoteMatch
	Trust   amber.Trust     `query:"trust" doc:"the trust of the caller, to lower that of the token; the commit says it"`
	Host    string          `query:"author_host" doc:"the program that speaks, where the caller is the owner's"`
	Agent   string          `query:"author_agent" doc:"the agent in it"`
	Session amber.SessionID `query:"author_session" doc:"its session"`
	Token   string          `query:"author_token" doc:"the name of its token"`
}

func (in NoteDeleteIn) by() amber.NoteBy {
	return amber.NoteBy{Trust: in.Trust, Author: amber.Author{Host: in.Host, Agent: in.Agent, Session: in.Session, Token: in.Token}}
}

// NoteDelete removes a note.
var NoteDelete = do(Row{
	ID: "note.delete", HTTP: "DELETE /notes/{name}", Scope: wire.TokenWrite, Kind: Changes | Bound | Keyed, Doc: "Remove a note and commit that; its history stays",
}, func(ctx context.Context, c *Call, in NoteDeleteIn) (None, error) {
	if err := in.by().Check(); err != nil {
		return None{}, err
	}
	return None{}, c.changeNote(ctx, in.NoteMatch, func() error { return c.Store.Notes.DeleteNote(ctx, in.Name, in.by()) })
})

// noteTag is the entity tag of a note.
func noteTag(n amber.Note) string {
	if n.Commit != "" {
		return n.Commit
	}
	return amber.ContentDigest(n.Content)
}

// changeNote calls fn if the note is still the one that is expected. One request at a time changes notes of an agent, tools of agent hosts
// among them, so what If-Match was compared with is what is replaced. A process that changes the note beside the server is not kept
// waiting, and the comparison may be of the moment before. Errors: conflict when it is another; invalid; unreachable when ctx ends while
// others are before; those of fn.
func (c *Call) changeNote(ctx context.Context, m NoteMatch, fn func() error) error {
	const op = "change note"
	name, err := amber.CheckNoteName(m.Name)
	if err != nil {
		return err
	}
	want, err := ifMatch(m.IfMatch)
	if err != nil {
		return err
	}
	unlock, err := c.House.Alone(ctx, c.Tenant, c.ID)
	if err != nil {
		return err
	}
	defer unlock()
	if m.IfMatch != "" {
		stored, err := c.Store.Notes.ReadNote(ctx, name)
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
