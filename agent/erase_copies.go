package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// copiesInNotes names the notes that hold a text of one of the revisions. The
// memory is gone by then, so a note that cannot be read is no error but a
// place that was not searched.
func copiesInNotes(ctx context.Context, notes amber.Notes, revisions []amber.Memory) []string {
	if len(revisions) == 0 {
		return nil
	}
	list, err := notes.ListNotes(ctx)
	if amber.KindOf(err) == amber.KindUnsupported {
		return nil
	}
	if err != nil {
		return []string{"notes, which were not searched: " + err.Error()}
	}
	var names []string
	for _, n := range list {
		note, err := notes.ReadNote(ctx, n.Name)
		switch {
		case amber.KindOf(err) == amber.KindNotFound: // deleted meanwhile
		case err != nil:
			names = append(names, "note "+n.Name+", which was not searched: "+err.Error())
		case slices.ContainsFunc(revisions, func(m amber.Memory) bool {
			return strings.Contains(note.Content, strings.TrimSpace(m.Content))
		}):
			names = append(names, "note "+n.Name+" and its history in git")
		}
	}
	return names
}

// copiesInState names the documents of runtime state that hold a text of one of the revisions, as such or
// escaped in JSON. It names a document that cannot be read as a place that was not searched.
func copiesInState(ctx context.Context, documents amber.Documents, revisions []amber.Memory) []string {
	if len(revisions) == 0 {
		return nil
	}
	list, err := documents.ListDocuments(ctx)
	if amber.KindOf(err) == amber.KindUnsupported {
		return nil
	}
	if err != nil {
		return []string{"documents of runtime state, which were not searched: " + err.Error()}
	}
	var names []string
	for _, d := range list {
		doc, err := documents.ReadDocument(ctx, d.Name)
		switch {
		case amber.KindOf(err) == amber.KindNotFound: // deleted meanwhile
		case err != nil:
			names = append(names, "document "+d.Name+" of runtime state, which was not searched: "+err.Error())
		case slices.ContainsFunc(revisions, func(m amber.Memory) bool { return jsonHolds(doc.Document, strings.TrimSpace(m.Content)) }):
			names = append(names, "document "+d.Name+" of runtime state; amber state delete "+d.Name)
		}
	}
	return names
}

// jsonHolds reports whether a text is inside a string of a JSON document, however the strings are escaped.
func jsonHolds(doc json.RawMessage, text string) bool {
	tokens := json.NewDecoder(bytes.NewReader(doc))
	tokens.UseNumber() // none is too large
	for {
		t, err := tokens.Token()
		if err != nil {
			return false
		}
		if s, ok := t.(string); ok && strings.Contains(s, text) {
			return true
		}
	}
}
