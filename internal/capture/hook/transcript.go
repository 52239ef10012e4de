package hook

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Files finds what a host leaves on disk. Some tell in a payload only where
// the words are, not the words.
type Files struct {
	Home string // of the user; absolute
	// Env reads a variable by which a host moves its folder; nil: none is set.
	Env func(name string) string
	// Wait waits a little for the host to write more, and reports false when it
	// has waited long enough. nil: nothing is waited for.
	Wait func() bool
}

// said is what the last turn of a transcript says.
type said struct {
	turn           string // its id, as the host has it
	prompt, answer value  // texts; absent when there are none
	whole          bool   // the turn has come to its end
}

// transcript is how the transcripts of a host are found and read.
type transcript struct {
	// folder is where transcripts are, and fits reports whether a path below it, with
	// slashes, is that of a session.
	folder func(Files) string
	fits   func(path, session string) bool
	// read returns what the last turn says. Lines come from the last one on.
	read func(d *draft, lines func(func(line string) bool)) said
}

// fillFromTranscript reads what was said in a turn that has ended, where the
// payload names a transcript and does not say it. A host writes the transcript
// while it runs the hook, so the end of the turn may have to be waited for.
func (d *draft) fillFromTranscript() {
	t := d.dialect.transcript
	if t == nil || d.in.Files == nil || d.ev.Kind != journal.HostTurnEnd || d.ev.Answer != "" {
		return
	}
	f := *d.in.Files
	path := cleanPath(d.raw.first("transcript_path", "transcriptPath").str())
	session := d.raw.scalar(d.dialect.sessionFields()...)
	var found said
	for size := int64(-1); ; {
		var err error
		size, err = f.look(*t, path, session, size, func(lines func(func(string) bool)) { found = t.read(d, lines) })
		if found.whole || errors.Is(err, errNoTranscript) || f.Wait == nil || !f.Wait() {
			break
		}
	}
	if d.ev.TurnID == "" {
		d.ev.TurnID = d.safeID(found.turn)
	}
	d.ev.Prompt = cmp.Or(d.ev.Prompt, d.clean.value(found.prompt.withoutContext()).str())
	d.ev.Answer = d.clean.value(found.answer).str()
}

// look reads a transcript, unless it still has the size it had, and returns its
// size; -1 with an error: it cannot be read.
func (f Files) look(t transcript, path, session string, size int64, read func(lines func(func(string) bool))) (int64, error) {
	file, err := f.open(t, path, session)
	if err != nil {
		return -1, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return -1, err
	}
	if !info.Mode().IsRegular() {
		return -1, errNoTranscript
	}
	if info.Size() != size {
		read(func(yield func(string) bool) { linesBackward(file, info.Size(), yield) })
	}
	return info.Size(), nil
}

// errNoTranscript is returned for what will never be a transcript of the session.
var errNoTranscript = errors.New("not a transcript of this session")

// open opens a transcript. Only a file in the host's own folder that is named
// after the session is one; no link leads out of the folder.
func (f Files) open(t transcript, path, session string) (fsx.File, error) {
	dir := t.folder(f)
	if !filepath.IsAbs(f.Home) || !filepath.IsAbs(path) || session == "" {
		return nil, errNoTranscript
	}
	name, err := below(dir, path)
	if err != nil {
		return nil, err
	}
	if !t.fits(filepath.ToSlash(name), session) {
		return nil, errNoTranscript
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fsx.In(root).OpenFile(name, os.O_RDONLY, 0)
}

// below returns the path below a folder, which may be named by a link.
func below(dir, path string) (string, error) {
	if name, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(name) {
		return name, nil
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	name, err := filepath.Rel(dir, path)
	if err == nil && !filepath.IsLocal(name) {
		err = errNoTranscript
	}
	return name, err
}

// exists reports whether a folder is there.
func (f Files) exists(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// isSessionFile reports whether a path ends in a file named after a session.
func isSessionFile(path, session string) bool {
	return strings.HasSuffix(path, "/"+session+".jsonl") && !strings.ContainsAny(session, `/\`)
}
