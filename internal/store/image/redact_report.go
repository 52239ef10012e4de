package image

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire"
)

// place notes where something was found. Keys are named as they are now.
func (d *redaction) place(r *redactedRow) {
	for i, n := range r.found {
		if n > 0 {
			d.note(r.table.Name+"/"+r.label()+"/"+r.table.Columns[i].Name, n)
		}
	}
}

func (d *redaction) note(path string, n int64) {
	switch {
	case n == 0:
	case len(d.places) == wire.MaxRedactionPlaces:
		d.more++
	default:
		d.places = append(d.places, wire.RedactionPlace{Part: d.part(), Path: path, Count: n})
	}
}

// label names a row.
func (r *redactedRow) label() string {
	names := r.table.label
	if names == nil {
		names = r.table.Key
	}
	parts := make([]string, len(names))
	for i, name := range names {
		if c := r.column(name); c >= 0 {
			parts[i] = clip.Name(r.new[c])
		} else {
			parts[i] = fmt.Sprint(r.key[i]) // a number
		}
	}
	return strings.Join(parts, "/")
}

func (d *redaction) part() string {
	part, _, _ := strings.Cut(d.header.Schema.File, ".")
	return part
}

// finish returns the report of what was done.
func (d *redaction) finish() wire.RedactionReport {
	r := wire.RedactionReport{
		Rules: []wire.RedactionCount{}, Places: append([]wire.RedactionPlace{}, d.places...), More: d.more,
		Scanned: d.scanned, Notes: d.notes(),
	}
	for rule, n := range d.matches {
		r.Matches += n
		r.Rules = append(r.Rules, wire.RedactionCount{Rule: rule, Count: n})
	}
	slices.SortFunc(r.Rules, func(a, b wire.RedactionCount) int { return cmp.Compare(a.Rule, b.Rule) })
	return r
}

// notes says what else was changed, and what could not be looked for.
func (d *redaction) notes() []string {
	plain, dropped := d.secrets.Left()
	if d.shared {
		plain, dropped = 0, 0 // the caller that shares them reports them
	}
	notes := []string{}
	for _, n := range []struct {
		count int64
		what  string
	}{
		{d.vectors, "vectors were removed: they were made of text that was rewritten"},
		{d.topics, "memories have another id: it was made of a topic that was rewritten"},
		{d.answers, "idempotency answers were forgotten: the texts of their requests are not known"},
		{d.forgotten, "rows about sync were removed: they tell about this machine"},
		{d.emptied, "digests were emptied: their texts are not in the file"},
		{int64(plain), "findings are too short or too plain to be looked for elsewhere; they were removed where they were recognised"},
		{int64(dropped), "findings were too many to be looked for elsewhere; they were removed where they were recognised"},
		{int64(d.allowed), "findings are part of something public, such as a digest, and were not looked for elsewhere"},
	} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d %s", d.header.Schema.File, n.count, n.what))
		}
	}
	return notes
}
