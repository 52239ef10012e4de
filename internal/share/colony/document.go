package colony

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// maxDocuments bounds the documents of a snapshot.
const maxDocuments = 100_000

// Documents are texts by name, which a snapshot holds. An empty name and an empty
// text are valid.
type Documents map[string]string

// Names returns the names, sorted by code point.
func (d Documents) Names() []string { return slices.Sorted(maps.Keys(d)) }

// Canonical returns the documents as the bytes that are hashed: an object in the
// one spelling that docs/format/colony.md gives. Errors: invalid when there are none, or
// one is not UTF-8; quota when there are too many.
func (d Documents) Canonical() ([]byte, error) {
	switch {
	case len(d) == 0:
		return nil, amber.Errorf(amber.KindInvalid, "write documents", "", "there is no document")
	case len(d) > maxDocuments:
		return nil, amber.Errorf(amber.KindQuota, "write documents", "", "%d documents, want at most %d", len(d), maxDocuments)
	}
	for name, text := range d {
		if !utf8.ValidString(name) || !utf8.ValidString(text) {
			return nil, amber.Errorf(amber.KindInvalid, "write documents", quote(name), "the document is not UTF-8")
		}
	}
	return d.canonical(), nil
}

// canonical makes no value, which would take more room than the texts.
func (d Documents) canonical() []byte {
	names := d.Names()
	size := 2
	for _, name := range names {
		size += len(name) + len(d[name]) + len(`"":"",`)
	}
	b := append(make([]byte, 0, size), '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRaw(append(appendRaw(b, name), ':'), d[name])
	}
	return append(b, '}')
}

// Digest returns "sha256:" and the digest of the canonical bytes, which is what a
// manifest declares of a snapshot that is not encrypted. Errors as [Documents.Canonical].
func (d Documents) Digest() (string, error) {
	b, err := d.Canonical()
	if err != nil {
		return "", err
	}
	return digest(b), nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return digestPrefix + hex.EncodeToString(sum[:])
}

const digestPrefix = "sha256:"

// isDigest reports whether s is a digest in its one spelling.
func isDigest(s string) bool {
	if len(s) != len(digestPrefix)+2*sha256.Size || s[:len(digestPrefix)] != digestPrefix {
		return false
	}
	return isHex(s[len(digestPrefix):])
}

func isHex(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 2*sha256.Size
}

var errTooMany = fmt.Errorf("more than %d documents", maxDocuments)

// ParseDocuments reads an object whose members are texts, in any spelling that
// JSON has. Errors: invalid when it is anything else, or has a name twice; quota
// when there are too many.
func ParseDocuments(b []byte) (Documents, error) {
	docs, err := decode(b, func(name string) error { return fmt.Errorf("the name %s appears twice", quote(name)) })
	if err == nil {
		return docs, nil
	}
	kind := amber.KindInvalid
	if errors.Is(err, errTooMany) {
		kind = amber.KindQuota
	}
	return nil, &amber.Error{Op: "read documents", Kind: kind, Err: err}
}

// decodeDocuments reads an object whose members are strings, in any spelling.
// The last of a name counts. Unlike a value it costs little more than the texts.
func decodeDocuments(b []byte) (Documents, error) {
	return decode(b, func(string) error { return nil })
}

// decode asks what to do about a name that is there twice.
func decode(b []byte, twice func(name string) error) (Documents, error) {
	r, err := newReader(b)
	if err != nil {
		return nil, err
	}
	if open, err := r.tokens.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("want a JSON object")
	}
	docs := make(Documents)
	for r.tokens.More() {
		name, err := r.text()
		if err != nil {
			return nil, err
		}
		if _, there := docs[name]; there {
			if err := twice(name); err != nil {
				return nil, err
			}
		}
		if docs[name], err = r.text(); err != nil {
			return nil, err
		}
		if len(docs) > maxDocuments {
			return nil, errTooMany
		}
	}
	return docs, nil
}
