package inmem_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
)

// TestCallersOwnTheirValues writes over everything that went in and came out
// and looks whether the store noticed.
func TestCallersOwnTheirValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	r := amber.WriteRequest{
		Content: "c", Tags: []string{"t"}, Metadata: map[string]string{"k": "v"},
		SourceRefs: []amber.SourceRef{{Kind: "file", Value: "f"}}, IdempotencyKey: "key",
	}
	spoil := func(m amber.Memory) { m.Tags[0], m.Metadata["k"], m.SourceRefs[0].Value = "x", "x", "x" }
	first := w.write(t, r)
	id := first.ID
	spoil(first.Memory)
	spoil(amber.Memory{Tags: r.Tags, Metadata: r.Metadata, SourceRefs: r.SourceRefs})
	r.Tags, r.Metadata, r.SourceRefs = []string{"t"}, map[string]string{"k": "v"}, []amber.SourceRef{{Kind: "file", Value: "f"}}
	spoil(w.write(t, r).Memory)
	get := func() amber.Memory { return ok[amber.Memory](t)(w.Get(ctx, id)) }
	spoil(get())
	spoil(ok[[]amber.Memory](t)(w.History(ctx, id))[0])
	spoil(ok[amber.Page[amber.Memory]](t)(w.List(ctx, amber.ListQuery{})).Items[0])
	spoil(ok[[]amber.Memory](t)(w.Timeline(ctx, id, 1, 1))[0])
	spoil(ok[amber.Memory](t)(w.Edit(ctx, amber.EditRequest{ID: id})))
	m := get()
	if m.Tags[0] != "t" || m.Metadata["k"] != "v" || m.SourceRefs[0].Value != "f" {
		t.Errorf("memory %+v was changed from outside", m)
	}

	doc := json.RawMessage(`{}`)
	ok[amber.SessionState](t)(w.SaveState(ctx, "s", doc, 0)).Document[0] = '!'
	ok[amber.PendingLoop](t)(w.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: doc})).State[0] = '!'
	ok[amber.Approval](t)(w.RequestApproval(ctx, amber.ApprovalRequest{ID: "a", TaskID: "t", NodeID: "n", Summary: "s", Payload: doc})).Payload[0] = '!'
	ok[amber.Task](t)(w.SaveTask(ctx, amber.Task{ID: "t", Goal: "g", Extra: doc}, 0)).Extra[0] = '!'
	doc[0] = '?'
	for name, got := range map[string]json.RawMessage{
		"state":    ok[amber.SessionState](t)(w.LoadState(ctx, "s")).Document,
		"loop":     ok[amber.PendingLoop](t)(w.LoadLoop(ctx, "s")).State,
		"approval": ok[amber.Approval](t)(w.Approval(ctx, "a")).Payload,
		"task":     ok[amber.Task](t)(w.Task(ctx, "t")).Extra,
	} {
		wantEqual(t, name, string(got), `{}`)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for j := range each {
				if _, err := w.Write(ctx, amber.WriteRequest{Content: fmt.Sprint("shared ", j)}); err != nil {
					t.Error(err)
				}
				if _, err := w.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: fmt.Sprint(i, j)}); err != nil {
					t.Error(err)
				}
				if _, err := w.Recall(ctx, amber.Query{Text: "shared"}); err != nil {
					t.Error(err)
				}
				if err := w.Publish(ctx, amber.Envelope{EntryID: fmt.Sprint(i, j), TaskID: "t", NodeID: "n"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	stats := ok[amber.Stats](t)(w.Stats(ctx))
	if stats.Memories != each || stats.Turns != writers*each || stats.Changes != 2*writers*each {
		t.Errorf("stats %+v, want %d memories, %d turns and an entry for each of %d writes", stats, each, writers*each, 2*writers*each)
	}
}
