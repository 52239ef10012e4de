package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// maxRefused is how many names are told that cannot be written.
const maxRefused = 5

// planRestore finds out what is to be written. Errors: refused when anything
// cannot be.
func planRestore(ctx context.Context, to documentTarget, r *vaultRestored) error {
	r.Written, r.Replaced, r.Unchanged = []string{}, []string{}, []string{}
	r.before = map[string]found{}
	refused := to.Refuses(r.Documents)
	for _, name := range slices.Sorted(maps.Keys(r.Documents)) {
		if refused[name] != "" {
			continue
		}
		f, err := to.Look(ctx, name, r.Documents[name])
		switch {
		case amber.KindOf(err) == amber.KindRefused:
			refused[name] = reason(err)
		case err != nil:
			return err
		case f.same:
			r.Unchanged = append(r.Unchanged, name)
		default:
			r.Written = append(r.Written, name)
			r.before[name] = f
			if f.there {
				r.Replaced = append(r.Replaced, name)
			}
		}
	}
	return refusal(refused)
}

// refusal is the error for names that cannot be written, nil for none.
func refusal(refused map[string]string) error {
	if len(refused) == 0 {
		return nil
	}
	var told []string
	for _, name := range slices.Sorted(maps.Keys(refused))[:min(len(refused), maxRefused)] {
		told = append(told, fmt.Sprintf("%q %s", oneLine(name, 80), refused[name]))
	}
	if more := len(refused) - maxRefused; more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	return &amber.Error{
		Op: "restore documents", Kind: amber.KindRefused,
		Err:  fmt.Errorf("nothing was written, because %s cannot be: %s", count(int64(len(refused)), "document", "documents"), strings.Join(told, ", ")),
		Hint: "amber vault export-merge prints all of them; --dir names another folder",
	}
}

// writeDocuments carries out a plan.
func writeDocuments(ctx context.Context, to documentTarget, r vaultRestored) error {
	for i, name := range r.Written {
		err := ctx.Err()
		if err == nil {
			err = to.Write(ctx, name, r.Documents[name], r.before[name])
		}
		if err != nil {
			return &amber.Error{
				Op: "restore documents", Kind: amber.KindOf(err), ID: oneLine(name, 80), Err: fmt.Errorf("%d of %d are written: %w", i, len(r.Written), err),
				Hint: "run it again: what is written stays",
			}
		}
	}
	return nil
}
