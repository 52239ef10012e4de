package sqlrows

import (
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
)

// authorText is an author as its column holds it: JSON, and nothing for the zero value.
func authorText(a amber.Author) (string, error) {
	if a == (amber.Author{}) {
		return "", nil
	}
	return Marshal(a)
}

func parseAuthor(table, id, text string) (a amber.Author, err error) {
	if text == "" {
		return a, nil
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return a, NotJSON(table, id, "author")
	}
	return a, nil
}

// AuthorsSince is the first schema of memory.db with the columns of authors.
const AuthorsSince = 10

// WithoutAuthors returns a query of [MemoryColumns] or [RelationColumns] for a file that does not have the columns of authors,
// with the values that a migration gives them.
func WithoutAuthors(query string) string {
	query = strings.ReplaceAll(query, MemoryColumns, strings.TrimSuffix(MemoryColumns, "author")+"''")
	return strings.ReplaceAll(query, RelationColumns, strings.TrimSuffix(RelationColumns, "trust, author")+"'agent', ''")
}
