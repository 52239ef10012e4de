package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// Writers of the journal in the demo: one in victimEvery is killed.
const (
	writers     = 60
	victimEvery = 4
)

func entry(n int) string { return fmt.Sprintf("step %d of the plan", n) }

func appendArgs(text string) []string {
	return []string{"journal", "append", "--session", session, "--type", "prompt", text}
}

// killWriters lets one process after another append to the journal and kills
// some of them, each a little later in its life than the one before: while it
// starts, writes, syncs, or has just said that the entry is kept.
func (d *Demo) killWriters(ctx context.Context) error {
	if err := d.ok(ctx, appendArgs(entry(0))...); err != nil {
		return err
	}
	d.acked = []string{entry(0)}
	var lives []time.Duration
	for n := 1; n < writers; n++ {
		text := entry(n)
		if n%victimEvery != 0 || len(lives) == 0 {
			begin := d.o.Clock()
			if _, err := d.quietly(ctx, "", appendArgs(text)...); err != nil {
				return err
			}
			lives, d.acked = append(lives, d.o.Clock().Sub(begin)), append(d.acked, text)
			continue
		}
		slices.Sort(lives)
		life := lives[len(lives)/2]
		kept, killed, err := d.kill(ctx, text, life*time.Duration(n)/writers)
		if err != nil {
			return err
		}
		if killed {
			d.Report.Killed++
		}
		if kept {
			d.acked = append(d.acked, text)
		}
	}
	d.Report.Acknowledged = len(d.acked)
	d.found("%d such writers, one after the other; %d were killed with SIGKILL while at work; %d entries were acknowledged", writers, d.Report.Killed, len(d.acked))
	return nil
}

// kill starts a writer and kills it after a while. It reports whether the
// writer had acknowledged its entry, and whether the kill came before its end.
func (d *Demo) kill(ctx context.Context, text string, after time.Duration) (kept, killed bool, err error) {
	var said strings.Builder
	cmd := d.process(ctx, "", appendArgs(text)...)
	cmd.Stdout = &said
	if err := cmd.Start(); err != nil {
		return false, false, err
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err = cmd.Wait()
	if ctx.Err() != nil {
		return false, false, ctx.Err()
	}
	// Whole or not at all: a line without its end is no acknowledgement.
	return strings.HasSuffix(said.String(), "\n"), err != nil, nil
}

// recoverJournal drains what the writers left and looks for every
// acknowledged entry.
func (d *Demo) recoverJournal(ctx context.Context) error {
	if err := d.ok(ctx, "journal", "verify"); err != nil {
		return err
	}
	if err := d.ok(ctx, "journal", "drain"); err != nil {
		return err
	}
	out, err := d.quietly(ctx, "", "turn", "list", "--session", session, "-n", fmt.Sprint(writers), "--json")
	if err != nil {
		return err
	}
	var turns amber.Page[amber.Turn]
	if err := json.Unmarshal(out, &turns); err != nil {
		return err
	}
	times := map[string]int{}
	for _, t := range turns.Items {
		times[t.Content]++
	}
	for _, text := range d.acked {
		if times[text] != 1 {
			return fmt.Errorf("the acknowledged entry %q is in the store %d times", text, times[text])
		}
	}
	for text, n := range times {
		if n != 1 {
			return fmt.Errorf("the entry %q is in the store %d times", text, n)
		}
	}
	d.Report.Recovered = len(turns.Items)
	d.found("amber turn list --session %s: all %d acknowledged entries are there, each once, and %d of writers that died before they could say so",
		session, len(d.acked), len(turns.Items)-len(d.acked))
	return nil
}
