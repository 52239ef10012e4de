package notefile

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
)

// Last returns the last change of a note under this spelling; false where there is none. Errors: damaged.
func (h *History) Last(ctx context.Context, name string) (c gitobj.Change, found bool, err error) {
	log, err := h.log(ctx, name, 1)
	if err != nil || len(log) == 0 {
		return c, false, err
	}
	return log[0], true, nil
}

func (h *History) log(ctx context.Context, name string, limit int) ([]gitobj.Change, error) {
	log, err := gitobj.FileLog(ctx, h.objects, h.head, name+Suffix, limit)
	return log, Unreadable(err)
}

// anyLog is the log under the first spelling of a name that commits hold; f are the notes as they are now.
func (h *History) anyLog(ctx context.Context, f Folders, name string, limit int) (log []gitobj.Change, err error) {
	for _, s := range Spellings(f, name) {
		if log, err = h.log(ctx, s, limit); err != nil || len(log) > 0 {
			return log, err
		}
	}
	return nil, nil
}

// Log returns the last limit changes of a note, newest first; a limit above [amber.MaxPageSize] is cut to it. f are the notes as they
// are now. Errors: not_found when no commit ever held such a note; damaged.
func (h *History) Log(ctx context.Context, f Folders, name string, limit int) ([]amber.NoteCommit, error) {
	log, err := h.anyLog(ctx, f, name, min(limit, amber.MaxPageSize))
	if err == nil && len(log) == 0 {
		err = NotFound()
	}
	var commits []amber.NoteCommit
	for _, c := range log {
		op := OpOf(Verb(c.Subject), isRemoved(c))
		commits = append(commits, amber.NoteCommit{Commit: c.OID, At: timeOf(c), Op: op, NoteBy: By(c.By)})
	}
	return commits, err
}

// isRemoved reports whether a change took the file away.
func isRemoved(c gitobj.Change) bool { return c.File.OID == "" }

// timeOf is when a commit was made.
func timeOf(c gitobj.Change) amber.Time { return amber.UnixMilli(c.Seconds * 1000) }

// Note is a note as a commit left it.
func Note(name, content string, c gitobj.Change) amber.Note {
	return amber.Note{Name: name, Content: content, Bytes: int64(len(content)), Commit: c.OID, UpdatedAt: timeOf(c), NoteBy: By(c.By)}
}

// NoteAt returns a note as one of its last [amber.MaxPageSize] changes left it. f are the notes as they are now. Errors: not_found when no
// such change is known, and for one that deleted the note; damaged.
func (h *History) NoteAt(ctx context.Context, f Folders, name, commit string) (note amber.Note, err error) {
	log, err := h.anyLog(ctx, f, name, amber.MaxPageSize)
	if err != nil {
		return note, err
	}
	at := slices.IndexFunc(log, func(c gitobj.Change) bool { return c.OID == commit })
	switch {
	case at < 0:
		return note, NotChanged(commit)
	case isRemoved(log[at]):
		return note, Deleted(commit)
	}
	content, err := h.Text(log[at].File.OID)
	if err != nil {
		return note, err
	}
	if amber.CheckNoteContent(string(content)) != nil {
		return note, NoText(commit)
	}
	return Note(name, string(content), log[at]), nil
}

// By returns who made a commit. Errors: damaged.
func (h *History) By(commit string) (amber.NoteBy, error) {
	c, err := h.commit(commit)
	return By(c.By), err
}

// Commit stores a commit that gives notes, by their names, the texts of blobs; one without an id takes the note away. The branch does not
// end with it before [History.Follow]. Errors: damaged; those of the objects.
func (h *History) Commit(message string, at time.Time, changes map[string]gitobj.Object) (gitobj.Change, error) {
	files := make(map[string]string, len(changes))
	var objects []gitobj.Object
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		blob := changes[name]
		if files[name+Suffix] = blob.OID; blob.OID != "" {
			objects = append(objects, blob)
		}
	}
	tree, made, err := gitobj.PutFiles(h.tree, h.root, files)
	if err != nil {
		return gitobj.Change{}, Unreadable(err)
	}
	c := gitobj.NewCommit(tree, h.head, message, at)
	if err := h.objects.Put(append(append(objects, made...), c)...); err != nil {
		return gitobj.Change{}, err
	}
	said, err := gitobj.ReadCommit(c.OID, c.Raw)
	return gitobj.Change{OID: c.OID, Commit: said}, err
}

// Follow makes the history end with a commit that it has made, once the branch does.
func (h *History) Follow(c gitobj.Change) { h.head, h.root = c.OID, c.Tree }
