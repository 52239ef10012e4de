package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func writeChecks() []check {
	return []check{
		{name: "memory/health", needs: []part{longTerm}, run: healthAnswers},
		{name: "memory/write-keeps-every-field", needs: []part{longTerm, memories}, run: writeKeepsEveryField},
		{name: "memory/write-fills-defaults", needs: []part{longTerm, memories}, run: writeFillsDefaults},
		{name: "memory/write-without-scope-is-for-its-identity-alone", needs: []part{longTerm, memories}, run: identityIsScope},
		{name: "memory/write-every-scope-and-kind", needs: []part{longTerm, memories}, run: writeEveryScopeAndKind},
		{name: "memory/kinds-have-common-names", needs: []part{longTerm, memories}, run: writeTakesNamesOfKinds},
		{name: "memory/write-refuses-invalid", needs: []part{longTerm, memories}, run: writeRefusesInvalid},
		{name: "memory/write-up-to-the-limits", needs: []part{longTerm, memories}, run: writeUpToTheLimits},
		{name: "memory/get-unknown", needs: []part{memories}, run: getUnknown},
		{name: "memory/revision-and-counter-grow-by-one", needs: []part{longTerm, memories, edits}, run: revisionsGrowByOne},
		{name: "memory/stamps-grow-when-the-clock-goes-back", needs: []part{longTerm, memories, edits}, run: stampsGrow},
	}
}

// ids are identities for every scope.
func ids() amber.Identities {
	return amber.Identities{SessionID: "session-1", UserID: "user-1", ProjectID: "project-1", WorkspaceID: "workspace-1"}
}

// unknownID is the id of no memory.
const unknownID amber.MemoryID = "00000000-0000-7000-8000-000000000000"

// fullRequest is a write with every field set.
func fullRequest() amber.WriteRequest {
	return amber.WriteRequest{
		Kind:       amber.Constraint,
		Scope:      amber.ScopeProject,
		Identities: ids(),
		Title:      "Deploy window",
		Content:    "Deploy on Tuesday.\n\tNever on Friday: \"rollback\" takes a day; 100% sure_of 'it' \\ 🚢",
		Summary:    "when to deploy",
		Tags:       []string{"deploy", "ops"},
		Metadata:   map[string]string{"author": "ada", "note": "a\nb"},
		SourceRefs: []amber.SourceRef{{Kind: "request_id", Value: "r-1"}, {Kind: "file", Value: "docs/deploy.md"}},
		Reason:     amber.WriteObservation,
		Trust:      amber.TrustImported,
		Author:     amber.Author{Host: "claude-code", Agent: "reviewer", Session: "session-1", Token: "laptop"},
	}
}

func healthAnswers(w *world) {
	h := must(w.LongTerm.Health(w.ctx))
	hold(h.Backend != "", "health names no backend")
	equal(h.Status, amber.Healthy, "status of a fresh store")
}

func writeKeepsEveryField(w *world) {
	r := fullRequest()
	ack := w.write(r)
	_, err := amber.ParseMemoryID(string(ack.ID))
	must0(err)
	hold(ack.ID[14] == '7', "id %s is not a UUID of version 7", ack.ID)
	want := amber.Memory{
		ID: ack.ID, Kind: r.Kind, Scope: r.Scope, Identities: r.Identities,
		Title: r.Title, Content: r.Content, Summary: r.Summary, Tags: r.Tags, Metadata: r.Metadata, SourceRefs: r.SourceRefs,
		Trust: r.Trust, Author: r.Author, Origin: amber.Origin{Device: ack.Origin.Device, Counter: 1, Clock: ack.Origin.Clock},
		Revision: 1, ContentDigest: amber.ContentDigest(r.Content), CreatedAt: w.now(), UpdatedAt: w.now(),
	}
	hold(!ack.Deduplicated, "the first write is deduplicated")
	equal(ack.Memory, want, "answer to the write")
	equal(w.get(ack.ID), want, "memory read back")
	equal(w.history(ack.ID), []amber.Memory{want}, "history of a new memory")
	hold(ack.Origin.Device != "", "the origin names no device")
	hold(ack.Origin.Clock != 0, "the origin has no clock")
}

func writeFillsDefaults(w *world) {
	ack := w.write(amber.WriteRequest{Content: "water boils at 100 degrees", Title: "  boiling  ", Tags: []string{" b ", "a", "b"}})
	equal(ack.Kind, amber.WorkspaceFact, "default kind")
	equal(ack.Scope, amber.ScopeGlobal, "default scope")
	equal(ack.Trust, amber.TrustOwn, "default trust")
	equal(ack.Title, "boiling", "title without spaces around it")
	equal(ack.Tags, []string{"a", "b"}, "tags sorted, trimmed, each once")
	equal(w.get(ack.ID), ack.Memory, "memory read back")
}

// identityIsScope writes with every set of identities and no scope: the memory
// belongs to the narrowest of them, and a reader with others does not see it.
func identityIsScope(w *world) {
	for set := range 1 << (len(amber.Scopes()) - 1) {
		r, want := amber.WriteRequest{Content: fmt.Sprint("of set ", set)}, amber.ScopeGlobal
		for i, s := range slices.Backward(amber.Scopes()[:len(amber.Scopes())-1]) {
			if set&(1<<i) != 0 {
				r.Identities, want = with(r.Identities, s, ids().For(s)), s
			}
		}
		m := w.get(w.write(r).ID)
		equal(m.Scope, want, "scope of a memory with the identities %v", r.Identities)
		equal(m.Identities, r.Identities, "identities of a memory without a scope")
		equal(w.sees(r.Identities, m.ID), true, "a reader with the identities %v sees the memory", r.Identities)
		equal(w.sees(with(ids(), want, "another"), m.ID), want == amber.ScopeGlobal, "a reader with another %s id sees the memory of %v", want, r.Identities)
		r.Scope = want
		hold(w.write(r).ID == m.ID, "scope %s and no scope make two memories of the identities %v", want, r.Identities)
	}
}

// sees reports whether a caller with some identities is shown a memory.
func (w *world) sees(i amber.Identities, id amber.MemoryID) bool {
	page := must(w.Memories.List(w.ctx, amber.ListQuery{Filter: amber.Filter{Identities: i}, Limit: amber.MaxPageSize}))
	return slices.ContainsFunc(page.Items, func(m amber.Memory) bool { return m.ID == id })
}

func writeEveryScopeAndKind(w *world) {
	for _, scope := range amber.Scopes() {
		for _, kind := range amber.MemoryKinds() {
			r := amber.WriteRequest{Kind: kind, Scope: scope, Identities: ids(), Content: fmt.Sprint(scope, kind)}
			m := w.get(w.write(r).ID)
			equal(m.Kind, kind, "kind of a %s %s", scope, kind)
			equal(m.Scope, scope, "scope of a %s %s", scope, kind)
			equal(m.Identities, r.Identities, "identities of a %s %s", scope, kind)
		}
	}
}

// writeTakesNamesOfKinds writes, edits and finds by a common name of a kind.
func writeTakesNamesOfKinds(w *world) {
	ack := w.write(amber.WriteRequest{Content: "we chose the blue one", Kind: "decision"})
	equal(ack.Kind, amber.ProjectFact, "kind of a decision")
	equal(w.get(ack.ID).Kind, amber.ProjectFact, "kind of a decision that is read")
	again := w.write(amber.WriteRequest{Content: "we chose the blue one", Kind: amber.ProjectFact})
	hold(again.Deduplicated && again.ID == ack.ID, "a decision and a project fact are told apart")
	found := must(w.LongTerm.Recall(w.ctx, amber.Query{Text: "blue", Filter: amber.Filter{Kinds: []amber.MemoryKind{"Decisions"}}}))
	equal(len(found.Hits), 1, "decisions that are found")
}

func writeRefusesInvalid(w *world) {
	for name, r := range invalidWrites() {
		refused(only(w.LongTerm.Write(w.ctx, r)), amber.KindInvalid, "write with %s", name)
	}
	equal(len(w.everything()), 0, "memories stored by refused writes")
}

// invalidWrites returns writes that break one rule each, by the rule.
func invalidWrites() map[string]amber.WriteRequest {
	out := map[string]amber.WriteRequest{
		"unknown kind":         {Content: "x", Kind: "rumour"},
		"unknown scope":        {Content: "x", Scope: "galaxy"},
		"scope in upper case":  {Content: "x", Scope: "Global"},
		"unknown trust":        {Content: "x", Trust: "blind"},
		"unknown reason":       {Content: "x", Reason: "boredom"},
		"no content":           {},
		"blank content":        {Content: " \n\t"},
		"NUL in the content":   {Content: "a\x00b"},
		"escape in content":    {Content: "a\x1b[31mb"},
		"content not UTF-8":    {Content: "a\xffb"},
		"content too long":     {Content: strings.Repeat("x", amber.MaxContentBytes+1)},
		"title too long":       {Content: "x", Title: strings.Repeat("x", amber.MaxTitleBytes+1)},
		"title of two lines":   {Content: "x", Title: "a\nb"},
		"summary too long":     {Content: "x", Summary: strings.Repeat("x", amber.MaxSummaryBytes+1)},
		"topic too long":       {Content: "x", Topic: strings.Repeat("x", amber.MaxTopicBytes+1)},
		"empty tag":            {Content: "x", Tags: []string{" "}},
		"too many tags":        {Content: "x", Tags: numbered("t", amber.MaxTags+1)},
		"empty metadata key":   {Content: "x", Metadata: map[string]string{"": "v"}},
		"source without kind":  {Content: "x", SourceRefs: []amber.SourceRef{{Value: "v"}}},
		"key too long":         {Content: "x", IdempotencyKey: strings.Repeat("k", amber.MaxIDBytes+1)},
		"identity with a NUL":  {Content: "x", Identities: amber.Identities{UserID: "a\x00"}},
		"identity with spaces": {Content: "x", Identities: amber.Identities{ProjectID: " p"}},
	}
	for _, s := range amber.Scopes() {
		if s != amber.ScopeGlobal {
			out["scope "+string(s)+" without its identity"] = amber.WriteRequest{Content: "x", Scope: s, Identities: without(ids(), s)}
		}
	}
	return out
}

// without returns ids with the identity of one scope empty.
func without(i amber.Identities, s amber.Scope) amber.Identities { return with(i, s, "") }

// with returns ids with the identity of one scope set to v.
func with(i amber.Identities, s amber.Scope, v string) amber.Identities {
	switch s {
	case amber.ScopeSession:
		i.SessionID = amber.SessionID(v)
	case amber.ScopeUser:
		i.UserID = v
	case amber.ScopeProject:
		i.ProjectID = v
	case amber.ScopeWorkspace:
		i.WorkspaceID = v
	}
	return i
}

// numbered returns prefix0, prefix1 and so on.
func numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%02d", prefix, i)
	}
	return out
}

func writeUpToTheLimits(w *world) {
	r := amber.WriteRequest{
		Content: strings.Repeat("long word ", amber.MaxContentBytes/10), Title: strings.Repeat("t", amber.MaxTitleBytes),
		Summary: strings.Repeat("s", amber.MaxSummaryBytes), Topic: strings.Repeat("p", amber.MaxTopicBytes),
		Tags: numbered("tag", amber.MaxTags), Metadata: map[string]string{},
	}
	for _, k := range numbered("key", amber.MaxMetadata) {
		r.Metadata[k] = strings.Repeat("v", amber.MaxMetadataBytes)
		r.SourceRefs = append(r.SourceRefs, amber.SourceRef{Kind: k, Value: k})
	}
	for _, content := range []string{strings.Repeat("x", 1999) + "€ and more", strings.Repeat("é", amber.MaxContentBytes/2-2) + "last"} {
		hold(w.get(w.fact(content)).Content == content, "content of %d bytes came back changed", len(content))
	}
	m := w.get(w.write(r).ID)
	hold(m.Content == r.Content, "content of %d bytes came back with %d", len(r.Content), len(m.Content))
	m.Content, r.Content = "", ""
	equal([]any{m.Title, m.Summary, m.Tags, m.Metadata, m.SourceRefs},
		[]any{r.Title, r.Summary, r.Tags, r.Metadata, r.SourceRefs}, "fields at their limits")
}

func getUnknown(w *world) {
	refused(only(w.Memories.Get(w.ctx, unknownID)), amber.KindNotFound, "get an unknown memory")
	refused(only(amber.All(w.ctx, w.Memories.History, unknownID)), amber.KindNotFound, "history of an unknown memory")
}

func revisionsGrowByOne(w *world) {
	id := w.write(amber.WriteRequest{Topic: "t", Content: "one"}).ID
	w.tick()
	w.write(amber.WriteRequest{Topic: "t", Content: "two"})
	w.tick()
	must(w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, Content: new("three")}))
	w.tick()
	must0(w.LongTerm.Delete(w.ctx, id))
	w.tick()
	w.write(amber.WriteRequest{Topic: "t", Content: "five"})
	revs := w.history(id)
	equal(len(revs), 5, "number of revisions")
	for i, m := range revs {
		equal(m.ID, id, "id of revision %d", i+1)
		equal(m.Revision, i+1, "revision number %d", i+1)
		equal(m.Origin.Counter, i+1, "counter of revision %d", i+1)
		equal(m.CreatedAt, revs[0].CreatedAt, "creation time of revision %d", i+1)
		equal(m.UpdatedAt, amber.At(start().Add(time.Duration(i)*time.Second)), "update time of revision %d", i+1)
		equal(m.Origin.Device, revs[0].Origin.Device, "device of revision %d", i+1)
	}
}

func stampsGrow(w *world) {
	var last amber.Stamp
	grows := func(o amber.Origin, what string) {
		hold(o.Clock > last, "stamp of %s is %v, not after %v", what, o.Clock, last)
		last = o.Clock
	}
	for i, step := range []time.Duration{0, time.Minute, -time.Hour, 0, -time.Millisecond, 2 * time.Hour, -24 * time.Hour} {
		w.clock.Advance(step)
		ack := w.write(amber.WriteRequest{Content: fmt.Sprint("fact ", i)})
		grows(ack.Origin, "a write")
		m := must(w.Editor.Edit(w.ctx, amber.EditRequest{ID: ack.ID, Summary: new("edited")}))
		grows(m.Origin, "an edit")
		must0(w.LongTerm.Delete(w.ctx, ack.ID))
		revs := w.history(ack.ID)
		grows(revs[len(revs)-1].Origin, "a delete")
	}
}
