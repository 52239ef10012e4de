package agent

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notefile"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/sqlcore"
)

// follow makes notes found. A note that is written through the agent comes into the index with its commit; a
// note that another program has committed comes into it before the next question.
func (a *Agent) follow() {
	if a.core == nil || a.notes == nil || a.absent {
		return
	}
	if a.plain.Notes != nil {
		a.plain.Notes = followedNotes{a.plain.Notes, a}
	}
	if a.plain.LongTerm != nil {
		a.plain.LongTerm = followedRecall{a.plain.LongTerm, a}
	}
	if a.plain.Everything != nil {
		a.plain.Everything = followedAsk{a.plain.Everything, a}
	}
}

// followedNotes are notes whose changes come into the index.
type followedNotes struct {
	amber.Notes
	a *Agent
}

func (n followedNotes) WriteNote(ctx context.Context, w amber.NoteWrite) (amber.Note, error) {
	note, err := n.Notes.WriteNote(ctx, w)
	if err == nil {
		noteIndex{n.a}.followed(ctx)
	}
	return note, err
}

func (n followedNotes) DeleteNote(ctx context.Context, name string, by amber.NoteBy) error {
	err := n.Notes.DeleteNote(ctx, name, by)
	if err == nil {
		noteIndex{n.a}.followed(ctx)
	}
	return err
}

// noteIndex is the index over the notes of an agent.
type noteIndex struct{ a *Agent }

// followed brings a change of notes into the index. The change is durable and the next
// question catches up, so a failure is a warning.
func (n noteIndex) followed(ctx context.Context) {
	if err := n.a.FollowNotes(ctx); err != nil {
		n.a.o.Warn("the note is stored and not in the index yet: " + err.Error())
	}
}

// followedRecall answers from notes as they are.
type followedRecall struct {
	amber.LongTerm
	a *Agent
}

// Recall implements [amber.LongTerm]. Where notes cannot be brought in, the answer says so.
func (l followedRecall) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	return afterNotes(ctx, l.a, q, func() (amber.RecallResult, error) { return l.LongTerm.Recall(ctx, q) })
}

// followedAsk is followedRecall for questions to everything.
type followedAsk struct {
	amber.Everything
	a *Agent
}

// Ask implements [amber.Everything].
func (e followedAsk) Ask(ctx context.Context, q amber.Query, leave amber.Leave) (amber.RecallResult, error) {
	return afterNotes(ctx, e.a, q, func() (amber.RecallResult, error) { return e.Everything.Ask(ctx, q, leave) })
}

// afterNotes brings in the notes that a query may find, and answers it.
func afterNotes(ctx context.Context, a *Agent, q amber.Query, answer func() (amber.RecallResult, error)) (amber.RecallResult, error) {
	missing := ""
	if asksNotes(q) {
		if err := a.FollowNotes(ctx); err != nil {
			missing = "the newest notes are not in the index: " + err.Error()
		}
	}
	result, err := answer()
	if result.Degraded == "" {
		result.Degraded = missing
	}
	return result, err
}

// asksNotes reports whether a query can find notes.
func asksNotes(q amber.Query) bool {
	n, _, err := q.Normalize()
	for _, l := range n.Layers {
		if l == amber.LayerNote {
			return err == nil && n.Text != ""
		}
	}
	return false
}

// followTries bounds how often other processes may be faster.
const followTries = 3

// FollowNotes brings the notes that were committed since into the index. Where nothing was,
// that takes a look at a file and at a row. Errors: those of git and of the store; refused
// where the store is only read and is behind.
func (a *Agent) FollowNotes(ctx context.Context) error {
	if a.core == nil || a.notes == nil || a.absent {
		return nil
	}
	var err error
	for range followTries {
		var behind bool
		var at string
		if at, behind, err = (noteIndex{a}).behind(ctx); err != nil || !behind {
			return err
		}
		if a.look || a.isReadOnly() {
			return amber.Errorf(amber.KindRefused, "index notes", "", "the store is only read").WithHint("amber index sync")
		}
		if err = (noteIndex{a}).catchUp(ctx, at); amber.KindOf(err) != amber.KindConflict {
			return err
		}
	}
	return err
}

// behind returns the commit that the index has the notes of, and whether there is another one.
func (n noteIndex) behind(ctx context.Context) (at string, behind bool, err error) {
	at, head, err := heads(ctx, n.a.notes, n.a.core)
	return at, at != head, err
}

// heads returns the commit that an index has the notes of, and the one that the notes are at.
func heads(ctx context.Context, n *notes.Dir, s *sqlcore.Contracts) (at, head string, err error) {
	if head, err = n.Head(ctx); err != nil {
		return "", "", err
	}
	at, err = s.NotesHead(ctx)
	return at, head, err
}

// waitingNotes counts the notes whose last commit is not in the index yet: those that were
// written and those that were deleted. Notes that cannot be read count as one: what brings
// them in says why it cannot.
func waitingNotes(ctx context.Context, n *notes.Dir, s *sqlcore.Contracts) int64 {
	at, head, err := heads(ctx, n, s)
	if err != nil {
		return 1
	}
	if at == head {
		return 0
	}
	differ, extra, err := compareNotes(ctx, n, s, head)
	if err != nil {
		return 1
	}
	return int64(differ + extra)
}

// compareNotes compares the notes of the index with those of a commit: how many of the commit
// are missing in the index or say something else there, and how many are not in the commit.
func compareNotes(ctx context.Context, n *notes.Dir, s *sqlcore.Contracts, commit string) (differ, extra int, err error) {
	want := map[string]string{}
	if commit != "" { // else nothing was committed yet
		if want, err = n.Blobs(ctx, commit); err != nil {
			return 0, 0, err
		}
	}
	got, err := s.NoteBlobs(ctx)
	if err != nil {
		return 0, 0, err
	}
	for name, blob := range want {
		if got[name] != blob {
			differ++
		}
	}
	for name := range got {
		if want[name] == "" {
			extra++
		}
	}
	return differ, extra, nil
}

// catchUp brings the changes since a commit into the index.
func (n noteIndex) catchUp(ctx context.Context, at string) error {
	c, err := n.a.notes.Since(ctx, at)
	if err != nil {
		return err
	}
	return n.a.core.PutNotes(ctx, changesOf(at, c))
}

func changesOf(at string, c notefile.Committed) sqlcore.NoteChanges {
	return sqlcore.NoteChanges{From: at, To: c.Head, Whole: c.Whole, Written: c.Notes, Removed: c.Removed}
}

// renew brings all notes into the index anew.
func (n noteIndex) renew(ctx context.Context) error {
	if n.a.core == nil || n.a.notes == nil || n.a.absent {
		return nil
	}
	at, err := n.a.core.NotesHead(ctx)
	if err != nil {
		return err
	}
	c, err := n.a.notes.Since(ctx, "")
	if err != nil {
		return err
	}
	return n.a.core.PutNotes(ctx, changesOf(at, c))
}

// check compares the notes of the index with those of the commit that it is of. The
// error is of kind damaged.
func (n noteIndex) check(ctx context.Context) error {
	if n.a.core == nil || n.a.notes == nil || n.a.absent {
		return nil
	}
	at, behind, err := n.behind(ctx)
	if err != nil || behind {
		return err
	}
	differ, extra, err := compareNotes(ctx, n.a.notes, n.a.core, at)
	if err != nil {
		return err
	}
	if differ+extra > 0 {
		return &amber.Error{
			Op: "check index", Kind: amber.KindDamaged, Hint: "amber index rebuild",
			Err: fmt.Errorf("%d notes of commit %s are missing in the index or say something else there, %d are not in the commit", differ, at, extra),
		}
	}
	return nil
}
