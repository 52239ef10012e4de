package openviking

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestErasedMemoryLeavesNoFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, other := w.say("the secret plan"), w.say("another")
	w.feed()
	w.edit(m.ID, "the secret plan, changed")
	kind := amber.Constraint
	must.Get(w.primary.Edit(t.Context(), amber.EditRequest{ID: m.ID, Kind: &kind}))(t)
	copied := folderOf(w.uris()[0]) + "/" + string(m.ID) + "-0123456789ab.md"
	w.server.files[copied] = "the secret plan under older rules"
	r := must.Get(w.Parts().Eraser.Erase(t.Context(), m.ID))(t)
	must.Equal(t, "files", len(w.server.files), 1)
	must.Says(t, "removed", strings.Join(r.Removed, "\n"), "files of OpenViking: 2")
	must.Says(t, "remaining", strings.Join(r.Remaining, "\n"), "keeps the text and the vectors of deleted files")
	w.feed()
	w.equal("after erasing")
	_, err := w.primary.Get(t.Context(), other.ID)
	must.NoError(t, err)
}

func TestErasureDuringAnOutageSaysWhatRemains(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		w := newWorld(t)
		m := w.say("the secret plan")
		w.feed()
		uri := w.uris()[0]
		if !known {
			w.open() // it is not known whose files they are
			uri = strings.Replace(uri, "viking://user/default", "viking://~", 1)
		}
		w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
		w.forgetVersion()
		r := must.Get(w.Erase(t.Context(), m.ID))(t)
		must.Says(t, fmt.Sprint("remaining, user known: ", known), strings.Join(r.Remaining, "\n"), uri+": health: connection refused")
		_, err := w.primary.Get(t.Context(), m.ID)
		must.Kind(t, "get", err, amber.KindNotFound)
		w.server.set(nil)
		w.feed()
		w.equal("after the outage")
	}
}

func TestErasureReportsEachFileThatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("the secret plan")
	w.feed()
	uri := w.uris()[0]
	for _, broken := range []string{"delete", "list"} {
		w.at(broken, func() error { return unreachable(broken) })
		r := must.Get(w.Erase(t.Context(), m.ID))(t)
		must.Says(t, broken, strings.Join(r.Remaining, "\n"), "connection refused")
		if broken == "delete" {
			must.Says(t, broken, strings.Join(r.Remaining, "\n"), uri)
		}
	}
	w.server.set(nil)
	must.Get(w.Erase(t.Context(), m.ID))(t) // again, though it is erased: the file is found by listing
	must.Equal(t, "files", len(w.server.files), 0)
}

func TestErasureBesideAFeederSaysThatItMayComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("the secret plan")
	w.feed()
	w.edit(m.ID, "the secret plan, changed")
	var remaining string
	w.at("batch", func() error { // the feeder has read the memory, and is about to write it
		w.server.fault = nil
		w.server.mu.Unlock()
		defer w.server.mu.Lock()
		remaining = strings.Join(must.Get(w.Erase(t.Context(), m.ID))(t).Remaining, "\n")
		return nil
	})
	must.Get(w.Feed(t.Context(), Budget{}))(t)
	must.Says(t, "remaining", remaining, "a feeder is at work")
	w.feed()
	must.Equal(t, "files", len(w.server.files), 0)
}

func TestErasingNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.Fail(w.Erase(t.Context(), someID))(t, "unknown memory", amber.KindNotFound)
	must.Equal(t, "deletes", w.server.count("delete"), 0)
	parts := w.primary.Parts()
	parts.Eraser = nil
	w.open(func(o *Options) { o.Primary = parts })
	must.Hold(t, w.Parts().Eraser == nil, "a primary that cannot erase has an eraser")
	must.Fail(w.Erase(t.Context(), someID))(t, "primary without an eraser", amber.KindUnsupported)
}
