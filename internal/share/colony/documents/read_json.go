package documents

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
)

// MaxJSON bounds the JSON of documents: every byte of a text may be written as an
// escape of six characters.
const MaxJSON = 6 * colony.DefaultMaxBytes

// ParseJSON reads documents from one JSON object of names and texts. It takes all
// of them or none. Errors: invalid when text is not such an object, names a
// document twice, or holds too much; quota for too many documents.
func ParseJSON(text string) (Set, error) {
	const op = "read documents"
	docs, err := colony.ParseDocuments([]byte(text))
	if err != nil {
		return Set{}, err
	}
	total := 0
	for _, name := range docs.Names() {
		n := len(docs[name])
		if n > MaxDocumentBytes {
			return Set{}, amber.Errorf(amber.KindInvalid, op, short(name), "the text has %d bytes, want at most %d", n, MaxDocumentBytes)
		}
		total += n
	}
	if total > colony.DefaultMaxBytes {
		return Set{}, amber.Errorf(amber.KindInvalid, op, "", "the texts have %d bytes in all, want at most %d", total, colony.DefaultMaxBytes)
	}
	return Set{Documents: docs}, nil
}
