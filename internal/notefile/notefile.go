// Package notefile is what every keeper of notes as files of a git history agrees on: which file a note is in, under
// which spelling it is found, what a commit says of it, and the words of its errors.
package notefile

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
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

// Moved is the answer to a writer whose branch somebody else moved.
func Moved(err error) error { return Error(amber.KindConflict, "move the branch main", err, "") }

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
