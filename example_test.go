package amber_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/inmem"
)

// newStore is a store for examples and tests: nothing is kept.
func newStore() amber.Store {
	s, err := inmem.New(inmem.Options{Clock: time.Now, Random: rand.Reader, Device: "example", Incarnation: "example"})
	if err != nil {
		panic(err)
	}
	return s.Store()
}

func ExampleLongTerm() {
	ctx, store := context.Background(), newStore()
	first, _ := store.LongTerm.Write(ctx, amber.WriteRequest{Content: "Deploy on Mondays.", Topic: "deploy window"})
	second, _ := store.LongTerm.Write(ctx, amber.WriteRequest{Content: "Deploy on Thursdays.", Topic: "deploy window"})
	fmt.Println(first.ID == second.ID, second.Revision)

	found, _ := store.LongTerm.Recall(ctx, amber.Query{Text: "When do we deploy?"})
	for _, hit := range found.Hits {
		fmt.Printf("%.1f %s\n", hit.Score, hit.Content)
	}
	// Output:
	// true 2
	// 1.0 Deploy on Thursdays.
}

func ExampleEditor() {
	ctx, store := context.Background(), newStore()
	ack, _ := store.LongTerm.Write(ctx, amber.WriteRequest{Content: "The limit is 10."})

	content := "The limit is 20."
	edit := amber.EditRequest{ID: ack.ID, IfRevision: ack.Revision, Content: &content}
	edited, _ := store.Editor.Edit(ctx, edit)
	fmt.Println(edited.Revision)

	_, err := store.Editor.Edit(ctx, edit) // another writer was faster
	fmt.Println(amber.KindOf(err))
	// Output:
	// 2
	// conflict
}

func ExampleChangeLog() {
	ctx, store := context.Background(), newStore()
	store.LongTerm.Write(ctx, amber.WriteRequest{Content: "one"})
	seen, _ := store.Changes.Head(ctx)
	store.LongTerm.Write(ctx, amber.WriteRequest{Content: "two"})

	changes, _ := store.Changes.Changes(ctx, seen, 10)
	for _, c := range changes {
		fmt.Println(c.Op, c.Scope, c.NewDigest == amber.ContentDigest("two"))
	}
	// Output: insert memory true
}

func ExampleQueue() {
	ctx, store := context.Background(), newStore()
	store.Queue.Publish(ctx, amber.Envelope{EntryID: "e1", TaskID: "t1", NodeID: "build", Payload: "make"})

	claim, _ := store.Queue.Claim(ctx, "worker-1")
	fmt.Println(claim.Envelope.Payload, "attempt", claim.Envelope.Attempt)
	store.Results.SaveResult(ctx, amber.Result{
		TaskID: "t1", NodeID: "build", Producer: "worker-1", Status: amber.ResultOK, Payload: "done", Fence: claim.Lease.Fence,
	})
	store.Queue.Ack(ctx, claim.Lease)

	_, err := store.Queue.Claim(ctx, "worker-1")
	fmt.Println(errors.Is(err, amber.ErrQueueEmpty))
	// Output:
	// make attempt 1
	// true
}

func ExampleDisabled() {
	ctx, store := context.Background(), amber.Disabled("memory.enabled is false")
	found, err := store.LongTerm.Recall(ctx, amber.Query{Text: "anything"})
	fmt.Println(len(found.Hits), err)
	_, err = store.LongTerm.Write(ctx, amber.WriteRequest{Content: "lost?"})
	fmt.Println(amber.KindOf(err))
	// Output:
	// 0 <nil>
	// refused
}
