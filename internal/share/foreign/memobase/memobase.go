// Package memobase reads profiles of Memobase: what is known of a user, below topics.
package memobase

import (
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is the format.
var Format = foreign.Format{
	Name: "memobase", Title: "Memobase", Detect: detect, Read: read,
}

const list = "profiles"

func detect(t *foreign.Tree) foreign.Match { return t.DetectDocuments(fits) }

// fits reports whether a document holds profiles: in a list of that name, in an answer of the server, or alone.
func fits(s foreign.Sample) bool {
	if isProfile(s.First[list]) || isProfile(s.First[""]) {
		return true
	}
	for _, p := range s.Members.Sub("data").List(list) {
		o, _ := p.(map[string]any)
		return isProfile(o)
	}
	return false
}

func isProfile(o foreign.Object) bool {
	return o.Has("id", "content") && o.Sub("attributes").Has("topic", "sub_topic")
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	seen := map[string]bool{}
	for _, f := range t.Documents(fits) {
		r := &reader{file: f, o: o, to: to, seen: seen}
		if err := r.read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// reader reads one document.
type reader struct {
	file foreign.File
	o    foreign.Options
	to   foreign.Sink
	seen map[string]bool // ids
}

func (r *reader) read(ctx context.Context) error {
	return foreign.ReadDocument(r.file, r.to.Skip, foreign.Document{
		Element: func(name string, n int64, raw []byte) error {
			if name != "" && name != list {
				return nil
			}
			o, err := foreign.ParseObject(raw)
			if err != nil {
				r.to.Skip(r.file.Place(fmt.Sprintf("profile %d", n)), "profile %v", err)
				return ctx.Err()
			}
			return r.profile(ctx, n, o)
		},
		Member: func(name string, raw []byte) error {
			if o, err := foreign.ParseObject(raw); err == nil && name == "data" {
				return r.answer(ctx, o)
			}
			return nil
		},
	})
}

// answer reads the profiles in an answer of the server.
func (r *reader) answer(ctx context.Context, o foreign.Object) error {
	for i, v := range o.List(list) {
		p, _ := v.(map[string]any)
		if err := r.profile(ctx, int64(i+1), p); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) profile(ctx context.Context, n int64, o foreign.Object) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m, why := r.memory(r.file.Place(fmt.Sprintf("profile %d", n)), o)
	if why != "" {
		r.to.Skip(m.Place, "%s", why)
		return nil
	}
	r.seen[m.Key[0]] = true
	return r.to.Memory(m)
}

func (r *reader) memory(at foreign.Place, o foreign.Object) (m foreign.Memory, why string) {
	id, attributes := o.Text("id"), o.Sub("attributes")
	m = foreign.Memory{
		Place: at, Key: foreign.Key{id}, Kind: amber.UserFact, Scope: amber.ScopeUser,
		Identities: amber.Identities{UserID: r.o.User, ProjectID: r.o.Project}, Content: strings.TrimSpace(o.Text("content")),
		Topic: strings.Trim(attributes.Text("topic")+"-"+attributes.Text("sub_topic"), "-"),
	}
	switch {
	case id == "":
		return m, "profile has no id"
	case r.seen[id]:
		return m, "id " + id + " is there before"
	case m.Content == "":
		return m, "profile is empty"
	}
	if err := m.TakeTimes(o.Text("created_at"), o.Text("updated_at")); err != nil {
		return m, err.Error()
	}
	m.Keep(o.Without("id", "content", "attributes", "created_at", "updated_at").With("attributes", attributes.Without("topic", "sub_topic")))
	return m, ""
}
