package cogx

import (
	"cmp"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// fact gives out a relation of two things, and a memory where the fact says something in words. A fact whose ends are
// not both there is a memory alone.
func (r *reader) fact(x record) error {
	subject, object := x.Text("subject_ref"), x.Text("object_ref")
	from, hasFrom := r.refs[subject]
	to, hasTo := r.refs[object]
	if !hasFrom && r.raw[subject] || !hasTo && r.raw[object] {
		r.lost++
		return nil
	}
	both := hasFrom && hasTo
	if both {
		if err := r.relate(x, from, to); err != nil {
			return err
		}
	}
	if both && (x.own != nil || x.Text("fact_text") == "") {
		return nil
	}
	m, ok := r.factMemory(x)
	if !ok {
		return nil
	}
	if err := r.say(x, m); err != nil {
		return err
	}
	for _, end := range []foreign.Key{from, to} {
		if end == nil {
			continue
		}
		if err := r.to.Relation(foreign.Relation{Place: x.at, From: m.Key, To: end, Type: "related", CreatedAt: m.CreatedAt}); err != nil {
			return err
		}
	}
	return nil
}

// relate makes a relation of a fact, but none from a thing to itself.
func (r *reader) relate(x record, from, to foreign.Key) error {
	if slices.Equal(from, to) {
		return nil
	}
	strength, ok := x.Number("confidence")
	if !ok || strength < 0 || strength > 1 {
		strength = 1
	}
	return r.to.Relation(foreign.Relation{Place: x.at, From: from, To: to, Type: x.Text("predicate"), Strength: strength, CreatedAt: x.created})
}

// factMemory makes a memory of the words of a fact. The memory of a fact that no longer holds says so.
func (r *reader) factMemory(x record) (foreign.Memory, bool) {
	m := r.base(x, "subject_ref", "predicate", "object_ref", "fact_text", "valid_at", "invalid_at", "confidence")
	spoken := strings.TrimSpace(strings.Join([]string{x.Text("subject_ref"), x.Text("predicate"), x.Text("object_ref")}, " "))
	m.Content = cmp.Or(x.Text("fact_text"), spoken)
	m.Metadata = map[string]string{}
	for _, name := range []string{"subject_ref", "predicate", "object_ref", "confidence"} {
		if s := x.Text(name); s != "" {
			m.Metadata[strings.TrimSuffix(name, "_ref")] = s
		}
	}
	for _, name := range []string{"valid_at", "invalid_at"} {
		at, err := timeOf(x.Object, name)
		if err != nil {
			r.to.Skip(x.at, "%s: %v", name, err)
			return m, false
		}
		if !at.IsZero() {
			m.Metadata[name] = at.String()
		}
	}
	if m.Metadata["invalid_at"] != "" {
		m.Tags = []string{"invalid"}
	}
	return m, true
}

// restore takes what Amber wrote about a memory.
func (r *reader) restore(m *foreign.Memory, x record) {
	own := x.own
	m.TakeOwn(own, r.o.Project)
	for name := range own.Sub("metadata") {
		if m.Metadata == nil {
			m.Metadata = map[string]string{}
		}
		m.Metadata[name] = own.Sub("metadata").Text(name)
	}
	for _, v := range own.List("source_refs") {
		ref, _ := v.(map[string]any)
		m.SourceRefs = append(m.SourceRefs, amber.SourceRef{Kind: foreign.Object(ref).Text("kind"), Value: foreign.Object(ref).Text("value")})
	}
	if x.system == "amber" && own.Text("kind") != "" {
		m.Foreign = nil
	}
	if f := own.Sub("foreign"); f != nil {
		m.Foreign = f
	}
}
