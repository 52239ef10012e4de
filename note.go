package amber

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Note is one Markdown document of the notes folder.
type Note struct {
	Name      string `json:"name"` // slash-separated, without ".md"
	Content   string `json:"content"`
	Bytes     int64  `json:"bytes"`
	Commit    string `json:"commit,omitempty"` // the commit that holds it
	UpdatedAt Time   `json:"updated_at"`
	NoteBy           // who wrote it, where it is read with its commit; lists leave it out
}

// NoteCommit is one change of a note.
type NoteCommit struct {
	Commit string `json:"commit"`
	At     Time   `json:"at"`
	Op     string `json:"op"` // write, delete or recover
	NoteBy
}

// NoteBy says who made a change of a note where that was not the owner. It is zero
// of the owner's changes, by any of the owner's programs.
type NoteBy struct {
	Trust  Trust  `json:"trust,omitempty" redact:"-"` // "": own
	Author Author `json:"author,omitzero"`
}

// Stored returns what a backend stores of b with a change: nothing where the owner made it.
func (b NoteBy) Stored() NoteBy {
	if !TrustOwn.Outranks(b.Trust) {
		return NoteBy{}
	}
	return b
}

// Check checks who makes a change, as a caller says it. The error is of kind invalid.
func (b NoteBy) Check() error {
	return cmp.Or(CheckOneOf("trust", b.Trust, append(Trusts(), "")...), b.Author.Check())
}

// NoteWrite is the text that a note gets, and who writes it.
type NoteWrite struct {
	Name    string `json:"-" redact:"id,note name"`
	Content string `json:"content" redact:"text"`
	NoteBy
}

// Notes is the folder of notes, every change a commit. Names that differ only
// in how letters with marks are written (NFC, NFD) are one note; a new one gets
// the name in NFC. Safe for concurrent use.
type Notes interface {
	// WriteNote stores the text of a note and commits it before it returns. Equal
	// content makes no commit. Errors: invalid, unsupported when there is no git.
	WriteNote(ctx context.Context, w NoteWrite) (Note, error)
	// ReadNote returns one note. Errors: not_found, invalid.
	ReadNote(ctx context.Context, name string) (Note, error)
	// ListNotes returns every note by name, without content.
	ListNotes(ctx context.Context) ([]Note, error)
	// DeleteNote removes a note and commits that, as a change made by by; its
	// history stays. Errors: not_found, invalid.
	DeleteNote(ctx context.Context, name string, by NoteBy) error
}

// NoteLog reads the history of notes. Safe for concurrent use.
type NoteLog interface {
	// LogNote returns the last limit changes of a note, newest first, also of
	// a deleted one. Errors: not_found when there never was such a note.
	LogNote(ctx context.Context, name string, limit int) ([]NoteCommit, error)
	// NoteAt returns a note as one of its last [MaxPageSize] changes left it.
	// Errors: not_found when no such change is known, and for one that deleted
	// the note.
	NoteAt(ctx context.Context, name, commit string) (Note, error)
}

// maxNoteName bounds a note name in bytes; the file name adds ".md" to it.
const maxNoteName = 200

// CheckNoteName brings a note name into its canonical form, without ".md",
// and checks it: relative, slash-separated, letters, digits, space and "._-@+,"
// in each element, no element that starts with a dot, ends with a dot or
// space, or means something to git or to a file system. The error is of kind
// invalid.
func CheckNoteName(name string) (string, error) {
	name = strings.TrimSuffix(name, ".md")
	fail := func(why string) (string, error) {
		return "", Errorf(KindInvalid, "check note name", "", "%.40q %s", name, why)
	}
	switch {
	case name == "":
		return fail("is empty")
	case len(name) > maxNoteName:
		return fail(fmt.Sprintf("is longer than %d bytes", maxNoteName))
	case !utf8.ValidString(name):
		return fail("is not valid UTF-8")
	case path.Clean(name) != name, strings.HasPrefix(name, "/"):
		return fail("is not a plain relative path")
	}
	for elem := range strings.SplitSeq(name, "/") {
		if why := badNoteElement(elem); why != "" {
			return fail(why)
		}
	}
	return name, nil
}

func badNoteElement(elem string) string {
	for _, r := range elem {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ._-@+,", r) {
			return fmt.Sprintf("contains %q", r)
		}
	}
	switch last := elem[len(elem)-1]; {
	case elem[0] == '.', elem[0] == ' ', elem[0] == '-':
		return "has an element that starts with a dot, a space or a dash"
	case last == '.', last == ' ':
		return "has an element that ends with a dot or a space"
	}
	// Case folding matters on file systems that ignore case; "git~1" is the
	// short name of ".git" on others.
	folded := strings.ToLower(elem)
	if strings.HasPrefix(folded, "git~") {
		return "means something to git"
	}
	base, _, _ := strings.Cut(folded, ".")
	switch base {
	case "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
		"lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9":
		return "is a device name on some systems"
	}
	return ""
}

// CheckNoteContent checks the text of a note. The error is of kind invalid.
func CheckNoteContent(content string) error {
	return CheckText("note", content, MaxContentBytes, Required)
}
