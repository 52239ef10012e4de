package agent_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// README begin
func live(ctx context.Context, home string) error {
	a, err := agent.Open(ctx, agent.Options{Home: home, Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return err
	}
	defer a.Close()
	store := a.Store() // every contract in one value
	ack, err := store.LongTerm.Write(ctx, amber.WriteRequest{Content: "We chose PostgreSQL for JSONB."})
	if err != nil {
		return err
	}
	found, err := store.LongTerm.Recall(ctx, amber.Query{Text: "which database did we pick and why"})
	if err != nil {
		return err
	}
	fmt.Println(found.Hits[0].Content)
	frozen, err := a.Snapshot(ctx, wire.SnapshotRequest{Label: "before the move"})
	if err != nil {
		return err
	}
	if err := store.LongTerm.Delete(ctx, ack.ID); err != nil {
		return err
	}
	ref := wire.SnapshotRef{ID: frozen.ID}
	if _, err := a.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref}); err != nil {
		return err
	}
	erased, err := a.Erase(ctx, ack.ID) // memory, journal, answers; copies are named
	if err != nil {
		return err
	}
	fmt.Println(len(erased.Removed) > 0, len(erased.Remaining), "snapshots hold it")
	return nil
}

// README end

func Example() {
	dir, err := os.MkdirTemp("", "amber-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := live(context.Background(), filepath.Join(dir, "home")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// We chose PostgreSQL for JSONB.
	// true 2 snapshots hold it
}

// TestREADME keeps the code in the README equal to the code above, which compiles and
// runs.
func TestREADME(t *testing.T) {
	source := must.Get(os.ReadFile("example_test.go"))(t)
	_, code, _ := strings.Cut(string(source), "// README begin\n")
	code, _, _ = strings.Cut(code, "\n// README end")
	readme := must.Get(os.ReadFile("../README.md"))(t)
	if !strings.Contains(string(readme), "```go\n"+code+"```") {
		t.Error("the Go code of README.md differs from agent/example_test.go")
	}
}
