package sqlrows

import (
	"encoding/json"

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
