package documents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
)

// Plan is what a restore changes. A target that changes after the plan was made
// is not written over.
type Plan struct {
	Written   []string `json:"written"`
	Replaced  []string `json:"replaced"` // the names of Written that exist with another text
	Unchanged []string `json:"unchanged"`

	docs   colony.Documents
	before map[string]Found // by name of Written
}

// NewPlan finds out what restoring docs to a target changes. Errors: refused when
// one of them cannot be written; then none may be.
func NewPlan(ctx context.Context, to Target, docs colony.Documents) (Plan, error) {
	p := Plan{Written: []string{}, Replaced: []string{}, Unchanged: []string{}, docs: docs, before: map[string]Found{}}
	refused := to.Refuses(docs)
	for _, name := range docs.Names() {
		if refused[name] != "" {
			continue
		}
		f, err := to.Look(ctx, name, docs[name])
		switch {
		case amber.KindOf(err) == amber.KindRefused:
			refused[name] = reason(err)
		case err != nil:
			return p, err
		case f.Same:
			p.Unchanged = append(p.Unchanged, name)
		default:
			p.Written = append(p.Written, name)
			p.before[name] = f
			if f.Exists {
				p.Replaced = append(p.Replaced, name)
			}
		}
	}
	return p, refusal(refused, len(docs))
}

// maxRefused is how many names an error lists.
const maxRefused = 5

// refusal is the error for names that cannot be written, nil without any.
func refusal(refused map[string]string, of int) error {
	if len(refused) == 0 {
		return nil
	}
	var listed []string
	for _, name := range slices.Sorted(maps.Keys(refused))[:min(len(refused), maxRefused)] {
		listed = append(listed, fmt.Sprintf("%q %s", short(name), refused[name]))
	}
	if more := len(refused) - maxRefused; more > 0 {
		listed = append(listed, fmt.Sprintf("and %d more", more))
	}
	return &amber.Error{
		Op: "restore documents", Kind: amber.KindRefused,
		Err:  fmt.Errorf("nothing was written, because %d of %d documents cannot be: %s", len(refused), of, strings.Join(listed, ", ")),
		Hint: "amber vault restore - prints the documents; --dir writes them to another folder",
	}
}

// Write carries out the plan. Documents that were written before an error stay,
// and a new plan goes on from there. Errors: conflict when a document has changed
// since the plan was made; those of the target.
func (p Plan) Write(ctx context.Context, to Target) error {
	for i, name := range p.Written {
		err := ctx.Err()
		if err == nil {
			err = to.Write(ctx, name, p.docs[name], p.before[name])
		}
		if err != nil {
			return &amber.Error{
				Op: "restore documents", Kind: amber.KindOf(err), ID: short(name),
				Err:  fmt.Errorf("stopped after %d of %d documents: %w", i, len(p.Written), err),
				Hint: "run the restore again: documents that are written stay",
			}
		}
	}
	return nil
}
