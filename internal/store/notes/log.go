package notes

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/gitrun"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// logged is a commit and what the note became by it: the id of the blob, gitobj.ZeroOID when it was removed.
type logged struct {
	amber.NoteCommit
	blob string
}

// LogNote returns the last limit changes of a note, newest first, also of a deleted one; a limit above
// [amber.MaxPageSize] is cut to it. Changes that a person committed by hand count as write or delete. Errors: not_found
// when no commit ever held such a note; invalid; unsupported when there is no git; damaged; unreachable when git hangs.
func (d *Dir) LogNote(ctx context.Context, name string, limit int) ([]amber.NoteCommit, error) {
	const op = "read note history"
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, amber.Errorf(amber.KindInvalid, op, name, "limit is not positive")
	}
	var commits []amber.NoteCommit
	err = d.guard.Read(ctx, func(dir string) error {
		log, err := d.repoAt(dir).anyHistory(ctx, name, min(limit, amber.MaxPageSize))
		if err == nil && len(log) == 0 {
			err = notefile.NotFound()
		}
		for _, l := range log {
			commits = append(commits, l.NoteCommit)
		}
		return err
	})
	if err != nil {
		return nil, wrap(op, name, err)
	}
	return commits, nil
}

// NoteAt returns a note as one of its last [amber.MaxPageSize] changes left it. Errors: not_found when no such change is
// known, and for one that deleted the note; those of [Dir.LogNote].
func (d *Dir) NoteAt(ctx context.Context, name, commit string) (note amber.Note, err error) {
	if name, err = amber.CheckNoteName(name); err != nil {
		return note, err
	}
	err = d.guard.Read(ctx, func(dir string) error {
		r := d.repoAt(dir)
		log, err := r.anyHistory(ctx, name, amber.MaxPageSize)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(log, func(l logged) bool { return l.Commit == commit })
		switch {
		case at < 0:
			return notefile.NotChanged(commit)
		case log[at].blob == gitobj.ZeroOID:
			return notefile.Deleted(commit)
		}
		note, err = r.noteOf(ctx, name, log[at])
		return err
	})
	return note, wrap("read note", name, err)
}

// noteOf returns a note as a commit left it.
func (r *repo) noteOf(ctx context.Context, name string, l logged) (amber.Note, error) {
	one, blob := []string{name}, map[string]string{name: l.blob}
	sizes, err := r.sizes(ctx, one, blob)
	if err != nil {
		return amber.Note{}, err
	}
	texts, err := r.blobs(ctx, one, blob, sizes)
	if err != nil {
		return amber.Note{}, err
	}
	text, ok := texts[name]
	if !ok || amber.CheckNoteContent(text) != nil {
		return amber.Note{}, notefile.NoText(l.Commit)
	}
	return amber.Note{Name: name, Content: text, Bytes: int64(len(text)), Commit: l.Commit, UpdatedAt: l.At, NoteBy: l.NoteBy}, nil
}

// anyHistory is history under the first spelling of a name that commits hold.
func (r *repo) anyHistory(ctx context.Context, name string, limit int) (log []logged, err error) {
	for _, s := range notefile.Spellings(r, name) {
		if log, err = r.history(ctx, s, limit); err != nil || len(log) > 0 {
			return log, err
		}
	}
	return nil, nil
}

// history returns the last limit commits that changed a note, newest first; none when there is no repository yet.
func (r *repo) history(ctx context.Context, name string, limit int) ([]logged, error) {
	ready, err := r.vet()
	if err != nil || !ready {
		return nil, err
	}
	known, err := r.hasBranch()
	if err != nil || !known {
		return nil, err
	}
	// The first parents are Amber's own line of commits, into which a merge by hand counts as one change.
	out, err := r.query(ctx, "log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--max-count="+strconv.Itoa(limit), logFormat,
		branch, "--", name+notefile.Suffix)
	if errors.Is(err, gitrun.ErrExit) {
		return nil, damagedRepo(err)
	}
	if err != nil {
		return nil, err
	}
	return parseLog(string(out))
}

// logFormat asks for a line ">commit seconds subject", and behind a NUL what the commit says of who made it.
const logFormat = "--format=>%H %ct %s%x00%(trailers:key=" + gitobj.ByTrailer + ",valueonly,unfold,separator=%x20)"

// parseLog reads pairs of lines, that of [logFormat] and ":mode mode blob blob letter<TAB>path".
func parseLog(out string) ([]logged, error) {
	var log []logged
	err := eachLogged(out, func(l logged, file string) {
		if file == "" {
			log = append(log, l)
		} else {
			log[len(log)-1] = l
		}
	})
	return log, err
}

// eachLogged calls fn with every commit, without a file, and then with each of its files.
func eachLogged(out string, fn func(l logged, file string)) error {
	var l logged
	var verb string
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, ">"):
			about, by, _ := strings.Cut(line[1:], "\x00")
			f := strings.SplitN(about, " ", 3)
			if len(f) != 3 {
				return errors.New("git log answers in an unknown form")
			}
			seconds, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				return errors.New("git log answers in an unknown form")
			}
			verb = notefile.Verb(f[2])
			l = logged{NoteCommit: amber.NoteCommit{Commit: f[0], At: amber.UnixMilli(seconds * 1000), Op: verb, NoteBy: notefile.By(by)}}
			fn(l, "")
		case strings.HasPrefix(line, ":") && l.Commit != "":
			about, file, _ := strings.Cut(line, "\t")
			if f := strings.Fields(about); len(f) == 5 {
				l.blob = f[3]
			}
			l.Op = notefile.OpOf(verb, l.blob == gitobj.ZeroOID)
			fn(l, file)
		}
	}
	return nil
}
