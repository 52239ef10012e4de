package colonytest

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
)

func conditionChecks() []check {
	return []check{
		{"if-absent/writes-once", absentOnce},
		{"if-absent/one-of-many-wins", absentTogether},
		{"if-version/writes", versionWrites},
		{"if-version/conflict-changes-nothing", versionConflict},
		{"if-version/another-for-other-content", versionDiffers},
		{"if-version/one-of-many-wins", versionTogether},
		{"if-version/no-write-is-lost", versionCounts},
		{"if/neither-condition", conditionMissing},
		{"if/ended-context", conditionContext},
	}
}

var absent = colony.Condition{Absent: true}

// putIf writes under a condition and returns the version.
func (w *world) putIf(name, content string, c colony.Condition) string {
	w.tells(must(w.c.PutIf(w.ctx, name, content, c)), name, content)
	f := w.holds(name, content)
	hold(f.Version != "", "%s has no version", name)
	return f.Version
}

func (w *world) conflicts(name, content string, c colony.Condition) {
	_, err := w.c.PutIf(w.ctx, name, content, c)
	refused(err, amber.KindConflict, "put of %s if %+v", name, c)
}

func absentOnce(w *world) {
	for _, name := range []string{"a.json", "dir/é b.json"} {
		w.putIf(name, "one", absent)
		w.conflicts(name, "two", absent)
		w.conflicts(name, "one", absent)
		w.holds(name, "one")
		must0(w.b.Delete(w.ctx, name))
		w.putIf(name, "three", absent)
	}
	w.put("empty.json", "")
	w.conflicts("empty.json", "x", absent)
}

// rivals is how many write the same file at once.
const rivals = 6

func absentTogether(w *world) {
	for round := range 10 {
		name := fmt.Sprintf("r%d.json", round)
		w.oneWins(name, absent)
	}
}

func versionTogether(w *world) {
	version := w.putIf("a.json", "begin", absent)
	for range 10 {
		w.oneWins("a.json", colony.Condition{Version: version})
		version = must(w.b.Get(w.ctx, "a.json")).Version
	}
}

// oneWins ends the check unless one of many writes under the same condition
// succeeds, and its content is there.
func (w *world) oneWins(name string, c colony.Condition) {
	var mu sync.Mutex
	var won []string
	together(rivals, func(i int) {
		content := fmt.Sprint(name, " by ", i, " after ", c.Version)
		if _, err := w.c.PutIf(w.ctx, name, content, c); err != nil {
			refused(err, amber.KindConflict, "put that lost")
			return
		}
		mu.Lock()
		defer mu.Unlock()
		won = append(won, content)
	})
	hold(len(won) == 1, "%d of %d writes won, want 1", len(won), rivals)
	w.holds(name, won[0])
}

func versionWrites(w *world) {
	version := w.putIf("a.json", "one", absent)
	for _, content := range []string{"two", "", "three", "one"} {
		version = w.putIf("a.json", content, colony.Condition{Version: version})
	}
}

func versionConflict(w *world) {
	first := w.putIf("a.json", "one", absent)
	second := w.putIf("a.json", "two", colony.Condition{Version: first})
	for _, stale := range []string{first, second + "0", "none", "*"} {
		w.conflicts("a.json", "three", colony.Condition{Version: stale})
		w.holds("a.json", "two")
	}
	w.conflicts("none.json", "x", colony.Condition{Version: second})
	w.missing("none.json")
	must0(w.b.Delete(w.ctx, "a.json"))
	w.conflicts("a.json", "three", colony.Condition{Version: second})
	w.missing("a.json")
}

func versionDiffers(w *world) {
	seen := map[string]string{}
	for _, content := range []string{"a", "b", "", "A", "a "} {
		w.put("a.json", content)
		version := w.holds("a.json", content).Version
		hold(seen[version] == "", "%q and %q have the version %q", seen[version], content, version)
		seen[version] = "the text " + content
		hold(w.holds("a.json", content).Version == version, "the version of %q changes by itself", content)
	}
}

// versionCounts has several writers count in one file.
func versionCounts(w *world) {
	const each = 5
	w.put("n.json", "0")
	together(rivals, func(int) {
		for done := 0; done < each; {
			f := must(w.b.Get(w.ctx, "n.json"))
			n := must(strconv.Atoi(f.Content))
			_, err := w.c.PutIf(w.ctx, "n.json", strconv.Itoa(n+1), colony.Condition{Version: f.Version})
			if err == nil {
				done++
				continue
			}
			refused(err, amber.KindConflict, "put that lost")
		}
	})
	w.holds("n.json", strconv.Itoa(rivals*each))
}

func conditionMissing(w *world) {
	w.put("a.json", "one")
	for _, c := range []colony.Condition{{}, {Absent: true, Version: "x"}} {
		_, err := w.c.PutIf(w.ctx, "a.json", "two", c)
		refused(err, amber.KindInvalid, "put if %+v", c)
	}
	w.holds("a.json", "one")
}

func conditionContext(w *world) {
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	_, err := w.c.PutIf(ctx, "a.json", "a", absent)
	refused(err, amber.KindUnreachable, "put")
	w.missing("a.json")
}
