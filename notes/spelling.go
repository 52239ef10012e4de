package notes

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/amber-memory/amber/internal/names"
)

// spelled returns the name under which a note is stored that is asked for by
// name. Where there is no file of exactly that name it is the one whose name
// differs only in how letters with marks are written; a note that is new gets
// the canonical spelling. What cannot be read is reported when it is opened.
func (r *repo) spelled(name string) string {
	if isASCII(name) {
		return name
	}
	elems := strings.Split(name, "/")
	dir := ""
	for i, elem := range elems {
		if i == len(elems)-1 {
			elem += suffix
		}
		found := r.like(dir, elem)
		if found == "" {
			return names.Canonical(path.Join(dir, path.Join(elems[i:]...)))
		}
		dir = path.Join(dir, found)
	}
	return strings.TrimSuffix(dir, suffix)
}

// like returns the entry of a folder that has the name elem, in this or in
// another spelling; "" where there is none.
func (r *repo) like(dir, elem string) string {
	entries, err := r.fsys.ReadDir(filepath.Join(r.dir, filepath.FromSlash(dir)))
	if err != nil {
		return ""
	}
	found := ""
	for _, e := range entries {
		if e.Name() == elem {
			return elem
		}
		if names.Same(e.Name(), elem) {
			found = e.Name()
		}
	}
	return found
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// spellings lists the names under which commits may hold a note: as it is
// stored, and in both forms.
func (r *repo) spellings(name string) []string {
	out := []string{r.spelled(name)}
	for _, s := range []string{name, norm.NFC.String(name), norm.NFD.String(name)} {
		known := false
		for _, o := range out {
			known = known || o == s
		}
		if !known {
			out = append(out, s)
		}
	}
	return out
}

// Twins returns the notes whose names differ only in spelling, each group by
// name. They were written before such names were one. Errors: those of
// [Dir.ListNotes].
func (d *Dir) Twins(ctx context.Context) ([][]string, error) {
	all, err := d.ListNotes(ctx)
	if err != nil {
		return nil, err
	}
	groups := map[string][]string{}
	var order []string
	for _, n := range all {
		key := names.Canonical(n.Name)
		if len(groups[key]) == 1 {
			order = append(order, key)
		}
		groups[key] = append(groups[key], n.Name)
	}
	var twins [][]string
	for _, key := range order {
		twins = append(twins, groups[key])
	}
	return twins, nil
}
