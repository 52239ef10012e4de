package snapshot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Processes remember while another one restores earlier snapshots again and
// again. Whatever was acknowledged is in the agent that came next, which is in
// the safety snapshot of the restore that replaced it, or live.
func TestRestoresLoseNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		w.remember(fmt.Sprintf("seed %d", i))
		w.snapshot()
	}
	logs := t.TempDir()
	phases := filepath.Join(logs, "phases")
	must.Do(t, os.WriteFile(phases, nil, 0o600))
	writers := startWriters(t, w, logs, phases)
	restorer := run(t, "restore", w.dir, phases, strconv.Itoa(*campaignRestores))
	said := restorer.rest(t)
	for _, p := range writers {
		p.end(t)
	}
	if len(said) != *campaignRestores {
		t.Fatalf("%d restores, want %d", len(said), *campaignRestores)
	}
	// states[g] is the last state of the agent that g restores had made.
	var states []map[amber.MemoryID]string
	for _, safety := range said {
		p := w.past(amber.SnapshotID(safety))
		states = append(states, texts(t, p.store))
		p.close(t)
	}
	states = append(states, texts(t, w.store))
	written := acknowledged(t, logs)
	for _, a := range written {
		// So many restores were over when it was asked for, and so many may
		// have been when it was acknowledged.
		first, last := a.before/2, (a.after+1)/2
		if !inOneOf(a, states[first:last+1]) {
			t.Errorf("%s was acknowledged between restore %d and %d and is in no state from there", a.id, first, last+1)
		}
	}
	must.Hold(t, len(written) > 0, "nothing was acknowledged")
	t.Logf("%d memories of %d processes were acknowledged across %d restores", len(written), len(writers), len(said))
	t.Logf("a write took: %s", took(written))
	w.mustCheck()
}

// startWriters starts processes that remember, each with a log, and returns
// once each has been heard of.
func startWriters(t *testing.T, w *world, logs, phases string) []*process {
	t.Helper()
	var writers []*process
	for i := range *campaignWriters {
		writers = append(writers, run(t, "remember", w.dir, strconv.Itoa(i), filepath.Join(logs, fmt.Sprintf("writer-%d", i)), phases))
	}
	for _, p := range writers {
		<-p.lines
	}
	return writers
}

// ack is a memory that was acknowledged.
type ack struct {
	id            amber.MemoryID
	text          string
	before, after int // the phase when it was asked for, and when it was acknowledged
	took          time.Duration
}

// acknowledged reads the logs of all writers.
func acknowledged(t *testing.T, logs string) (all []ack) {
	t.Helper()
	for _, f := range must.Get(filepath.Glob(filepath.Join(logs, "writer-*")))(t) {
		for _, line := range readLines(t, f) {
			var a ack
			var name, i int
			var took int64
			if _, err := fmt.Sscan(line, &a.id, &name, &i, &a.before, &a.after, &took); err != nil {
				t.Fatalf("%s: %q: %v", f, line, err)
			}
			a.took = time.Duration(took)
			a.text = thought(strconv.Itoa(name), i)
			all = append(all, a)
		}
	}
	return all
}

func inOneOf(a ack, states []map[amber.MemoryID]string) bool {
	return slices.ContainsFunc(states, func(s map[amber.MemoryID]string) bool { return s[a.id] == a.text })
}

func took(acks []ack) *stalls {
	s := &stalls{}
	for _, a := range acks {
		*s = append(*s, a.took)
	}
	return s
}

func thought(name string, i int) string {
	return fmt.Sprintf("process %s remembers number %d", name, i)
}

// rememberOn is a process that remembers until it is stopped. It logs what was
// acknowledged, and the phase before it asked and after it was told. A busy
// agent is no failure; anything else is.
func rememberOn(c *child, args []string) error {
	name, log, phases := args[0], args[1], args[2]
	fmt.Println("ready")
	for i := 0; !c.stopped(rand.N(10 * time.Millisecond)); i++ {
		before, err := phase(phases)
		if err != nil {
			return err
		}
		asked := time.Now()
		m, err := c.store.Write(context.Background(), amber.WriteRequest{Content: thought(name, i)})
		if amber.KindOf(err) == amber.KindBusy {
			continue
		}
		if err != nil {
			return err
		}
		after, err := phase(phases)
		if err != nil {
			return err
		}
		if err := appendLine(log, fmt.Sprintf("%s %s %d %d %d %d", m.ID, name, i, before, after, time.Since(asked))); err != nil {
			return err
		}
	}
	return nil
}

// phase is a number that all processes see grow: odd while a restore runs.
func phase(path string) (int, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

func nextPhase(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write([]byte{'.'})
	return err
}

// restoreOn is a process that restores earlier snapshots, as often as its arguments say, and prints
// the safety snapshot of each restore.
func restoreOn(c *child, args []string) error {
	ctx := context.Background()
	engine, err := c.engine()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for range n {
		id, err := anyOf(ctx, engine)
		if err != nil {
			return err
		}
		if err := nextPhase(args[0]); err != nil {
			return err
		}
		report, err := engine.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref(id)})
		if err != nil {
			return err
		}
		if err := nextPhase(args[0]); err != nil {
			return err
		}
		fmt.Println(report.SafetySnapshot)
	}
	return nil
}
