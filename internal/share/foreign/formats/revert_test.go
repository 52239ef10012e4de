package formats_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// A thread of Codex that was reverted and went on brings what was said since, once, and nothing of before again.
func TestAThreadThatWasRevertedGoesOn(t *testing.T) {
	t.Parallel()
	const thread = "0199c0de-0000-7000-8000-000000000001"
	d, dir := newDesk(t), filepath.Join(t.TempDir(), ".codex", "sessions", "2026", "01", "02")
	must.Do(t, os.MkdirAll(dir, 0o700))
	write := func(version string, said ...string) {
		text := `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"` + thread + `","cwd":"/src/shop"}}` + "\n"
		for i, s := range said {
			text += fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:%02dZ","type":"response_item","payload":{"type":"message","role":"user","content":%q}}`+"\n", 10+i, s)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "rollout-2026-01-02T03-04-05-"+thread+version+".jsonl"), []byte(text), 0o600))
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(dir))))
	write("", "one", "two", "three", "four")
	must.Equal(t, "turns of the first import", d.take(root, "codex").Turns.New, 4)
	write("_0199c0de-0000-7000-8000-00000000000a", "one", "two", "drei")
	must.Equal(t, "turns after the revert", d.take(root, "codex").Turns.New, 1)
	write("_0199c0de-0000-7000-8000-00000000000a", "one", "two", "drei", "vier", "four")
	must.Equal(t, "turns that were said later", d.take(root, "codex").Turns.New, 2)
	again := d.take(root, "codex")
	must.Equal(t, "new the last time", again.New+again.Changed, 0)
	var texts []string
	for _, turn := range must.Get(amber.LastTurns(t.Context(), d.store.Turns, thread, math.MaxInt32))(t) {
		texts = append(texts, turn.Content)
	}
	must.Equal(t, "turns", strings.Join(texts, " "), "one two three four drei vier four")
}
