// Package notefile is what every keeper of notes as files of a git history agrees on: which file a note is in, under
// which spelling it is found, what a commit says of it, and the words of its errors.
package notefile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
)

// Suffix is the end of the name of a note's file.
const Suffix = ".md"

// MaxEntries bounds how many files and folders a list of notes looks at.
const MaxEntries = 100_000

// The verbs that commit messages begin with.
const (
	OpWrite   = "write"
	OpDelete  = "delete"
	OpRecover = "recover"
)

// NameOf returns the name of the note in the file at a slash-separated path; false when the
// file is not a note.
func NameOf(file string) (string, bool) {
	name, found := strings.CutSuffix(file, Suffix)
	if !found {
		return "", false
	}
	canonical, err := amber.CheckNoteName(name)
	return name, err == nil && canonical == name
}

// Subject is the message of a commit that changes notes.
func Subject(verb string, names ...string) string {
	if len(names) == 1 {
		return verb + " " + names[0]
	}
	return fmt.Sprintf("%s %d notes", verb, len(names))
}

// Message is the message of a commit that changes notes, with a trailer that says who made the change: none for the owner.
func Message(by amber.NoteBy, verb string, names ...string) string {
	message := Subject(verb, names...)
	if by == (amber.NoteBy{}) {
		return message
	}
	said, _ := json.Marshal(by) // strings alone
	return message + "\n\n" + gitobj.ByTrailer + ": " + string(said)
}

// By reads the trailer of a message: who made the change. Without one it was the owner. People may write commits by hand, so a
// trailer never makes a change more than an agent's, and one that cannot be read makes it the change of an unknown agent.
func By(trailer string) amber.NoteBy {
	if trailer == "" {
		return amber.NoteBy{}
	}
	var by amber.NoteBy
	if err := json.Unmarshal([]byte(trailer), &by); err != nil || by.Check() != nil {
		return amber.NoteBy{Trust: amber.TrustAgent}
	}
	by.Trust = by.Trust.AtMost(amber.TrustAgent)
	return by
}

// Verb is what a message begins with.
func Verb(message string) string {
	verb, _, _ := strings.Cut(message, " ")
	return verb
}

// OpOf returns the verb of a message; for one that Amber did not write, what the commit did.
func OpOf(verb string, removed bool) string {
	switch {
	case verb == OpWrite, verb == OpDelete, verb == OpRecover:
		return verb
	case removed:
		return OpDelete
	}
	return OpWrite
}

// CheckText checks what the file of a note holds before it is handed out. The error is of kind damaged.
func CheckText(content []byte) error {
	switch {
	case len(content) > amber.MaxContentBytes:
		return TooLarge()
	case !utf8.Valid(content):
		return badFile("the file is not valid UTF-8")
	}
	return nil
}

// TooLarge is the answer to a file that is too large for a note. It is of kind damaged.
func TooLarge() error {
	return badFile(fmt.Sprintf("the file has more than %d bytes", amber.MaxContentBytes))
}

func badFile(why string) error {
	return Error(amber.KindDamaged, "read the file of the note", errors.New(why), "")
}

// NotFound is the answer for a note that is not there.
func NotFound() error { return Error(amber.KindNotFound, "", errors.New("no such note"), "") }

// NotChanged is the answer for a commit that is none of the known changes of a note.
func NotChanged(commit string) error {
	return noCommit("commit %.80q is none of the last %d changes of the note", commit, amber.MaxPageSize)
}

// Deleted is the answer for a commit that left no note.
func Deleted(commit string) error { return noCommit("commit %.80q deleted the note", commit) }

// NoText is the answer for a commit that left something else than a note.
func NoText(commit string) error {
	return noCommit("commit %.80q holds no text of the note that can be read", commit)
}

func noCommit(format string, args ...any) error {
	return Error(amber.KindNotFound, "", fmt.Errorf(format, args...), "")
}

// TooMany is the answer where there are more than [MaxEntries].
func TooMany() error {
	return Error(amber.KindQuota, "", fmt.Errorf("more than %d files and folders", MaxEntries), "")
}

// Damaged is the answer to a history that cannot be read.
func Damaged(err error) error {
	return Error(amber.KindDamaged, "check the repository of the notes", err, "amber snapshot restore ID --only notes")
}

// Moved is the answer to a writer whose branch another process moved from the commit head.
func Moved(head string) error {
	err := fmt.Errorf("the branch is at another commit, expected %s", cmp.Or(head, "none"))
	return Error(amber.KindConflict, "move the branch main", err, "")
}

// NotMain is the answer to a repository with another branch checked out.
func NotMain() error {
	return Error(amber.KindConflict, "check the repository of the notes", errors.New("the branch that is checked out is not main"), "git checkout main")
}

// Error is an [amber.Error] without a subject.
func Error(k amber.Kind, op string, err error, hint string) error {
	return &amber.Error{Op: op, Kind: k, Err: err, Hint: hint}
}

// Wrap names the operation and its subject; the kind stays that of err.
func Wrap(op, id string, err error) error {
	if err == nil {
		return nil
	}
	return &amber.Error{Op: op, Kind: amber.KindOf(err), ID: id, Err: err}
}
