package transfer_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
)

// takeIn imports a file into an agent, and takes the import back.
func takeIn(ctx context.Context, home, file string) error {
	a, err := agent.Open(ctx, agent.Options{Home: home, Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return err
	}
	defer a.Close()
	tree, err := foreign.Open(file) // a file, a folder or an archive
	if err != nil {
		return err
	}
	defer tree.Close()
	format, err := transfer.Detect(tree, formats.Read())
	if err != nil {
		return err
	}
	newID := func() (string, error) { return amber.NewUUID(time.Now(), rand.Reader) }
	o := transfer.Options{Clock: time.Now, NewID: newID, Redact: config.Default().Intake()}
	report, err := transfer.Import(ctx, a.Store(), format, tree, o)
	if err != nil {
		return err
	}
	fmt.Println(report.Title, "-", report.New, "new,", report.Known, "known,", report.Skipped, "skipped")
	again, err := transfer.Import(ctx, a.Store(), format, tree, o)
	if err != nil {
		return err
	}
	fmt.Println("again:", again.New, "new,", again.Known, "known")
	undone, err := transfer.Undo(ctx, a.Store(), report.ID, transfer.UndoOptions{Clock: time.Now, NewID: newID})
	if err != nil {
		return err
	}
	fmt.Println("undone:", undone.Deleted, "deleted")
	return nil
}

const exported = `{"amber":"export","version":1}
{"session":{"id":"talk-1","name":"Which database","started_at":"2026-01-02T03:04:05Z","ended_at":"2026-01-02T03:05:06Z","turns":2}}
{"turn":{"id":"t1","session_id":"talk-1","role":"user","content":"Which database do we take?","created_at":"2026-01-02T03:04:05Z"}}
{"turn":{"id":"t2","session_id":"talk-1","role":"assistant","content":"PostgreSQL, for JSONB.","created_at":"2026-01-02T03:04:06Z"}}
not a line of an export
`

func Example() {
	dir, err := os.MkdirTemp("", "amber-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "export.jsonl")
	if err := os.WriteFile(file, []byte(exported), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	if err := takeIn(context.Background(), filepath.Join(dir, "home"), file); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Amber JSONL - 3 new, 0 known, 1 skipped
	// again: 0 new, 3 known
	// undone: 1 deleted
}
