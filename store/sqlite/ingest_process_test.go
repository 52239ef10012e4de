package sqlite_test

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/sqlite"
)

const (
	journalName    = "00112233445566778899aabbccddeeff"
	journalEntries = 200
)

// stretch returns what n entries of the journal mean, those behind a cursor.
func stretch(after, n int64) amber.Ingestion {
	in := amber.Ingestion{Journal: journalName, Host: "host", Session: "s", After: after, Through: min(after+n, journalEntries)}
	for seq := after + 1; seq <= in.Through; seq++ {
		in.Steps = append(in.Steps, amber.IngestStep{
			// Every third has no event, so that nothing but the cursor keeps it from being applied twice.
			Event:    map[bool]amber.EventRef{true: {ID: fmt.Sprintf("%032x", seq), Native: true}}[seq%3 > 0],
			Start:    amber.SessionStart{ID: "s"},
			Turns:    []amber.Turn{{SessionID: "s", Role: amber.RoleUser, Content: strconv.FormatInt(seq, 10)}},
			Activity: []amber.Activity{{SessionID: "s", Kind: amber.ActivityTool, Name: "Bash"}},
			Memories: []amber.WriteRequest{{Content: fmt.Sprint("entry ", seq)}},
		})
	}
	return in
}

// drain ingests the journal to its end from wherever the cursor is, and prints
// the cursor after each stretch.
func drain(ctx context.Context, s *sqlite.Store) error {
	for {
		c, err := s.JournalCursor(ctx, journalName)
		if err != nil || c.Seq == journalEntries {
			return err
		}
		in := stretch(c.Seq, 1+mathrand.Int64N(7))
		if _, err := s.Ingest(ctx, in); err != nil {
			if amber.KindOf(err) != amber.KindConflict {
				return err
			}
			continue // another process was faster
		}
		fmt.Println(in.Through)
	}
}

// Several processes drain one journal and are killed at it. The process that goes on
// finds every entry applied once.
func TestKilledDrainersApplyEachEntryOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	const drainers = 5
	lines := make(chan string, drainers)
	var cmds []*exec.Cmd
	for range drainers {
		cmds = append(cmds, start(t, lines, "drain", dir))
	}
	stretches := 0
	collect(lines, drainers, func(string) {
		if stretches++; stretches%5 == 0 && len(cmds) > stretches/5 {
			_ = cmds[stretches/5].Process.Kill() // perhaps it was done
		}
	})
	for _, cmd := range cmds {
		_ = cmd.Wait() // killed
	}
	s := openIn(t, dir)
	must.Do(t, drain(t.Context(), s))
	turns := must.Get(amber.LastTurns(t.Context(), s, "s", 2*journalEntries))(t)
	for i, turn := range turns {
		must.Equal(t, "entry of a turn", turn.Content, strconv.Itoa(i+1))
	}
	did, err := s.ListActivity(t.Context(), "s", "")
	if err != nil || len(turns) != journalEntries || len(did) != 1 || did[0].Count != journalEntries {
		t.Errorf("%d turns, activity %v, %v, want %d of each", len(turns), did, err, journalEntries)
	}
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Memories != journalEntries {
		t.Errorf("%d memories, %v, want %d", stats.Memories, err, journalEntries)
	}
	healthy(t, s)
}
