package storetest

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

func editChecks() []check {
	needs := []part{longTerm, memories, edits}
	return []check{
		{name: "edit/changes-each-field-alone", needs: needs, run: editEachField},
		{name: "edit/trust", needs: needs, run: editTrust},
		{name: "edit/keeps-earlier-revisions", needs: needs, run: editKeepsRevisions},
		{name: "edit/wrong-revision-conflicts", needs: needs, run: editWrongRevision},
		{name: "edit/nothing-changed-is-no-revision", needs: append(needs, changes), run: editNothing},
		{name: "edit/equal-memory-conflicts", needs: needs, run: editIntoDuplicate},
		{name: "edit/twins-may-be-edited-apart", needs: needs, run: editTwins},
		{name: "edit/refuses-invalid", needs: needs, run: editRefusesInvalid},
		{name: "edit/unknown-and-deleted-are-not-found", needs: needs, run: editNotFound},
		{name: "edit/logs-both-digests", needs: append(needs, changes), run: editLogs},
	}
}

// edit applies one edit.
func (w *world) edit(r amber.EditRequest) amber.Memory { return must(w.Editor.Edit(w.ctx, r)) }

func editEachField(w *world) {
	r := fullRequest()
	r.Topic = "deploy"
	want := w.write(r).Memory
	for name, step := range map[string]struct {
		edit  amber.EditRequest
		apply func(*amber.Memory)
	}{
		"kind":           {amber.EditRequest{Kind: new(amber.UserFact)}, func(m *amber.Memory) { m.Kind = amber.UserFact }},
		"title":          {amber.EditRequest{Title: new(" New ")}, func(m *amber.Memory) { m.Title = "New" }},
		"empty title":    {amber.EditRequest{Title: new("")}, func(m *amber.Memory) { m.Title = "" }},
		"content":        {amber.EditRequest{Content: new("new\ntext")}, func(m *amber.Memory) { m.Content = "new\ntext" }},
		"summary":        {amber.EditRequest{Summary: new("new")}, func(m *amber.Memory) { m.Summary = "new" }},
		"tags":           {amber.EditRequest{Tags: new([]string{"z", "y"})}, func(m *amber.Memory) { m.Tags = []string{"y", "z"} }},
		"no tags":        {amber.EditRequest{Tags: new([]string{})}, func(m *amber.Memory) { m.Tags = nil }},
		"metadata":       {amber.EditRequest{Metadata: new(metadata("v"))}, func(m *amber.Memory) { m.Metadata = metadata("v") }},
		"empty metadata": {amber.EditRequest{Metadata: new(map[string]string{})}, func(m *amber.Memory) { m.Metadata = nil }},
	} {
		w.tick()
		step.edit.ID, step.edit.IfRevision = want.ID, want.Revision
		got := w.edit(step.edit)
		step.apply(&want)
		want.ContentDigest, want.UpdatedAt, want.Author = amber.ContentDigest(want.Content), w.now(), amber.Author{}
		want.Revision++
		want.Origin = amber.Origin{Device: want.Origin.Device, Counter: want.Origin.Counter + 1, Clock: got.Origin.Clock}
		equal(got, want, "answer to an edit of %s", name)
		equal(w.get(want.ID), want, "memory after an edit of %s", name)
	}
}

// editTrust edits memories of every trust as callers of every trust.
func editTrust(w *world) {
	for i, trust := range amber.Trusts() {
		for j, by := range amber.Trusts() {
			m := w.write(amber.WriteRequest{Content: fmt.Sprint(i, " ", j), Trust: trust}).Memory
			r := amber.EditRequest{ID: m.ID, Tags: new([]string{"t"}), Trust: by, Author: amber.Author{Host: "h"}}
			if j > i {
				refused(only(w.Editor.Edit(w.ctx, r)), amber.KindRefused, "edit of a memory of trust %s by trust %s", trust, by)
				equal(w.get(m.ID), m, "memory after a refused edit")
				continue
			}
			got := w.edit(r)
			equal([]any{got.Trust, got.Author}, []any{trust, r.Author}, "trust after tags were edited by trust %s", by)
			said := trust
			if trust == amber.TrustAgent {
				said = by
			}
			r.Content = new(fmt.Sprint(i, " ", j, " edited"))
			equal(w.edit(r).Trust, said, "trust of %s after the text was edited by trust %s", trust, by)
			equal(w.edit(amber.EditRequest{ID: m.ID, Keep: true, Trust: by}).Trust, by, "trust of %s that trust %s keeps", trust, by)
		}
	}
}

func editKeepsRevisions(w *world) {
	first := w.write(fullRequest()).Memory
	w.tick()
	second := w.edit(amber.EditRequest{ID: first.ID, Content: new("second")})
	w.tick()
	third := w.edit(amber.EditRequest{ID: first.ID, Tags: new([]string{"third"})})
	equal(w.history(first.ID), []amber.Memory{first, second, third}, "history")
}

func editWrongRevision(w *world) {
	first := w.write(fullRequest()).Memory
	second := w.edit(amber.EditRequest{ID: first.ID, IfRevision: 1, Summary: new("second")})
	for _, rev := range []int64{1, 3, 99} {
		_, err := w.Editor.Edit(w.ctx, amber.EditRequest{ID: first.ID, IfRevision: rev, Summary: new("lost")})
		refused(err, amber.KindConflict, "edit of revision %d", rev)
	}
	equal(w.get(first.ID), second, "memory after refused edits")
	equal(w.edit(amber.EditRequest{ID: first.ID, Summary: new("any")}).Revision, 3, "revision after an edit of whatever it is")
}

func editNothing(w *world) {
	m := w.write(fullRequest()).Memory
	w.tick()
	got := w.changed(func() {
		equal(w.edit(amber.EditRequest{ID: m.ID}), m, "answer to an edit of nothing")
		equal(w.edit(amber.EditRequest{
			ID: m.ID, IfRevision: 1, Content: &m.Content, Title: &m.Title, Kind: &m.Kind,
			Tags: new([]string{"ops", "deploy", "ops"}), Metadata: &m.Metadata, Summary: &m.Summary,
		}), m, "answer to an edit to the same")
	})
	equal(got, nil, "entries of edits that change nothing")
	equal(w.history(m.ID), []amber.Memory{m}, "history")
}

func editIntoDuplicate(w *world) {
	taken := w.fact("taken")
	topical := w.write(amber.WriteRequest{Topic: "t", Content: "topical"})
	id := w.fact("free")
	for content, other := range map[string]amber.MemoryID{"taken": taken, "topical": topical.ID} {
		_, err := w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, Content: &content})
		refused(err, amber.KindConflict, "edit to the content %q of another memory", content)
		hold(strings.Contains(err.Error(), string(other)), "the conflict %q does not name the memory %s", err, other)
	}
	equal(w.get(id).Content, "free", "content after refused edits")
	equal(w.get(topical.ID), topical.Memory, "the other memory")
	w.edit(amber.EditRequest{ID: id, Title: new("T"), Content: new("taken")})
	_, err := w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, Title: new("")})
	refused(err, amber.KindConflict, "edit of the title to that of another memory")
	must0(w.LongTerm.Delete(w.ctx, taken))
	equal(w.edit(amber.EditRequest{ID: id, Title: new("")}).Content, "taken", "content that became free by a delete")
}

// Two topics may hold equal memories; an edit of one that leaves what makes
// them equal alone makes no duplicate that was not there.
func editTwins(w *world) {
	a := w.write(amber.WriteRequest{Topic: "a", Content: "same"}).ID
	b := w.write(amber.WriteRequest{Topic: "b", Content: "same"}).ID
	equal(w.edit(amber.EditRequest{ID: a, Summary: new("noted"), Tags: new([]string{"t"})}).Revision, 2, "revision of an edited twin")
	w.edit(amber.EditRequest{ID: a, Content: new("other")})
	refused(only(w.Editor.Edit(w.ctx, amber.EditRequest{ID: a, Content: new("same")})), amber.KindConflict, "edit back to a duplicate")
	equal(w.get(b).Revision, 1, "revision of the other twin")
}

func editRefusesInvalid(w *world) {
	m := w.write(fullRequest()).Memory
	for name, r := range map[string]amber.EditRequest{
		"unknown kind":       {Kind: new(amber.MemoryKind("rumour"))},
		"empty content":      {Content: new(" ")},
		"NUL in content":     {Content: new("a\x00")},
		"content too long":   {Content: new(strings.Repeat("x", amber.MaxContentBytes+1))},
		"title of two lines": {Title: new("a\nb")},
		"empty tag":          {Tags: new([]string{""})},
		"bad metadata":       {Metadata: new(map[string]string{"": "v"})},
	} {
		r.ID = m.ID
		refused(only(w.Editor.Edit(w.ctx, r)), amber.KindInvalid, "edit with %s", name)
	}
	equal(w.get(m.ID), m, "memory after refused edits")
}

func editNotFound(w *world) {
	refused(only(w.Editor.Edit(w.ctx, amber.EditRequest{ID: unknownID, Content: new("x")})), amber.KindNotFound, "edit an unknown memory")
	id := w.fact("gone")
	must0(w.LongTerm.Delete(w.ctx, id))
	refused(only(w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, Content: new("x")})), amber.KindNotFound, "edit a deleted memory")
}

func editLogs(w *world) {
	id := w.fact("old")
	equal(w.logs("an edit", func() { w.edit(amber.EditRequest{ID: id, Content: new("new")}) }), amber.Change{
		At: w.now(), Op: amber.OpUpdate, Scope: amber.ChangeMemory, Key: string(id),
		OldDigest: amber.ContentDigest("old"), NewDigest: amber.ContentDigest("new"),
	}, "entry of an edit")
}

func metadata(v string) map[string]string { return map[string]string{"k": v} }
