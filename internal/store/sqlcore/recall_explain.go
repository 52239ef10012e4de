package sqlcore

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// explain tells which terms of the query a passage has and where, and the parts of its score.
func (r *recaller) explain(asked []search.Asked, p search.Ranked, h amber.Hit) (*amber.Why, error) {
	fields := []search.NamedText{{Name: "title", Text: h.Title}}
	if h.Layer == amber.LayerMemory {
		m, err := sqlrows.ScanMemory(r.tx.Row(sqlrows.SelectMemory, h.ID))
		if err != nil {
			return nil, err
		}
		concepts, err := sqlrows.All(r.tx.Tx, sqlrows.ScanText, selectConcepts, h.ID)
		if err != nil {
			return nil, err
		}
		fields = search.MemoryTexts(m, concepts)
	} else {
		if h.Layer == amber.LayerNote {
			fields = append(fields, search.NamedText{Name: "name", Text: h.Owner})
		}
		fields = append(fields, search.NamedText{Name: "content", Text: h.Content})
	}
	fields = slices.DeleteFunc(fields, func(f search.NamedText) bool { return strings.TrimSpace(f.Text) == "" })
	return search.Explain(asked, p, fields), nil
}
