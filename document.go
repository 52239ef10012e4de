package amber

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Bounds of documents of runtime state. They are small: a snapshot copies the
// ones that changed while the writers wait.
const (
	MaxDocumentBytes     = 256 << 10 // one document, compact
	MaxDocuments         = 256       // of one agent
	MaxDocumentNameBytes = 64
)

// The names of documents that Amber and the bundles of other systems know.
const (
	StateExtractCursor     = "extract_cursor"     // how far an extractor has read
	StateLastConsolidation = "last_consolidation" // the last run that merged memories
)

// Document is one small JSON document of runtime state: where a reader stands,
// when something ran last. Programs keep their own under names of their own.
type Document struct {
	Name string `json:"name"`
	// Revision is the digest of the document without white space. Equal
	// documents have equal revisions, also after a restore.
	Revision string          `json:"revision,omitempty"`
	Bytes    int64           `json:"bytes"`
	Document json.RawMessage `json:"document,omitempty"` // left out of lists
	// Damage says why the document cannot be read; only in lists, and without
	// a revision.
	Damage string `json:"damage,omitempty"`
}

// NewDocument makes a document of what is stored: without white space, and with
// its revision. Errors: invalid for a name or a document that is not taken.
func NewDocument(name string, doc json.RawMessage) (Document, error) {
	w, err := DocumentWrite{Name: name, Document: doc}.Normalize()
	if err != nil {
		return Document{}, err
	}
	return w.Result(), nil
}

// DocumentWrite asks to store a document.
type DocumentWrite struct {
	Name     string          `json:"name" redact:"id,document name"`
	Document json.RawMessage `json:"document" redact:"raw"`
	// IfRevision is the revision that the write replaces; "": any, or none.
	IfRevision string `json:"if_revision,omitempty" redact:"-"`
	// IfAbsent stores the document only where there is none of that name.
	IfAbsent bool `json:"if_absent,omitempty"`
}

// Normalize takes the white space out of the document and checks every rule.
// The error is of kind invalid.
func (w DocumentWrite) Normalize() (DocumentWrite, error) {
	w.Document = compact(w.Document)
	err := cmp.Or(CheckDocumentName(w.Name), CheckRevision(w.IfRevision), checkJSON("document", w.Document))
	switch {
	case err != nil:
	case len(w.Document) > MaxDocumentBytes:
		err = Errorf(KindInvalid, "check document", w.Name, "document has %d bytes, the limit is %d", len(w.Document), MaxDocumentBytes)
	case w.IfAbsent && w.IfRevision != "":
		err = Errorf(KindInvalid, "check document", w.Name, "if_absent and if_revision exclude each other")
	}
	return w, err
}

// Result is the document that the write stores; w is normalized.
func (w DocumentWrite) Result() Document {
	return Document{Name: w.Name, Revision: ContentDigest(string(w.Document)), Bytes: int64(len(w.Document)), Document: w.Document}
}

// Allow checks the conditions of the write against the revision that is stored,
// "" for none, and the number of documents that are stored. Errors: conflict;
// quota when there are [MaxDocuments] and this is one more. Backends ask it in
// the turn in which they write.
func (w DocumentWrite) Allow(stored string, count int) error {
	if err := allowRevision("write document", w.Name, w.IfRevision, stored); err != nil {
		return err
	}
	switch {
	case w.IfAbsent && stored != "":
		e := Errorf(KindConflict, "write document", w.Name, "a document of this name exists, expected none")
		e.Hint = "amber state get " + w.Name + " --json, then write with --if-revision"
		return e
	case stored == "" && count >= MaxDocuments:
		e := Errorf(KindQuota, "write document", w.Name, "the agent has %d documents, the limit is %d", count, MaxDocuments)
		e.Hint = "amber state list, then amber state delete NAME for what is not needed"
		return e
	}
	return nil
}

// AllowDelete checks that the stored revision is the expected one; "" expects
// any. The error is of kind conflict.
func AllowDelete(name, ifRevision, stored string) error {
	return allowRevision("delete document", name, ifRevision, stored)
}

func allowRevision(op, name, want, stored string) error {
	if want == "" || want == stored {
		return nil
	}
	// The stored revision is not told: it is a digest of what only readers may
	// know.
	found := "the document does not exist"
	if stored != "" {
		found = "another revision is stored"
	}
	e := Errorf(KindConflict, op, name, "expected revision %s, %s", want, found)
	e.Hint = "amber state get " + name + " --json shows the revision"
	return e
}

// Documents keeps the runtime state of an agent: small JSON documents by name.
// A snapshot captures them and a restore brings them back; one that is not in
// the snapshot is gone after the restore. Safe for concurrent use, also by
// several processes.
type Documents interface {
	// PutDocument stores a document, new or over the one of that name, if the
	// conditions of the write hold. Errors: invalid, conflict, quota; damaged
	// when IfRevision is set and what is stored cannot be read.
	PutDocument(ctx context.Context, w DocumentWrite) (Document, error)
	// ReadDocument returns one document. Errors: invalid, not_found, damaged.
	ReadDocument(ctx context.Context, name string) (Document, error)
	// ListDocuments returns every document by name, without its text. A
	// damaged one is among them and says so.
	ListDocuments(ctx context.Context) ([]Document, error)
	// DeleteDocument removes a document, also a damaged one; with a revision
	// only that one. Errors: invalid; not_found; conflict when another
	// revision is stored.
	DeleteDocument(ctx context.Context, name, ifRevision string) error
}

// CheckDocumentName checks a name: 1 to 64 of a-z, 0-9, ".", "_" and "-",
// beginning and ending with a letter or digit, no two dots in a row. It is part
// of a file name. The error is of kind invalid.
func CheckDocumentName(name string) error {
	fail := func(why string) error {
		return Errorf(KindInvalid, "check document name", "", "%.40q %s", name, why)
	}
	switch {
	case name == "":
		return Errorf(KindInvalid, "check document name", "", "the name is empty")
	case len(name) > MaxDocumentNameBytes:
		return fail(fmt.Sprintf("has %d bytes, the limit is %d", len(name), MaxDocumentNameBytes))
	case strings.Contains(name, ".."):
		return fail("has two dots in a row")
	}
	for i := range len(name) {
		c := name[i]
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		edge := i == 0 || i == len(name)-1
		if !plain && (edge || c != '.' && c != '_' && c != '-') {
			return fail("is not 1 to 64 of a-z, 0-9, dot, _ and -, beginning and ending with a letter or digit")
		}
	}
	if why := badNoteElement(name); why != "" {
		return fail(why)
	}
	return nil
}

// CheckRevision checks the revision of a document, "" for none: 64 hexadecimal
// digits in lower case. The error is of kind invalid.
func CheckRevision(revision string) error {
	hex := strings.Trim(revision, "0123456789abcdef") == ""
	if revision == "" || hex && len(revision) == 64 {
		return nil
	}
	return Errorf(KindInvalid, "check revision", "", "%.40q is not a revision: want the 64 hexadecimal digits that a read returned", revision)
}
