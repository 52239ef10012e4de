package claudecode_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestDamage(t *testing.T) {
	t.Parallel()
	for file, most := range map[string]int{
		session + ".jsonl": 1, "memory/MEMORY.md": 1, "memory/deploy-window.md": 2, "memory/feedback_no-mocks.md": 2,
	} {
		foreigntest.Damage(t, claudecode.Format, sample, "projects/-src-shop/"+file, most)
	}
	dir := foreigntest.Files(t, map[string]string{"CLAUDE.md": "@a.md\n@b.md\n", "a.md": "a", "b.md": "b"})
	foreigntest.Damage(t, claudecode.Format, dir, "CLAUDE.md", 3)
}

// strict is the format with what every reading of a transcript promises.
var strict = func() foreign.Format {
	f := claudecode.Format
	f.Read = func(ctx context.Context, t *foreign.Tree, o foreign.Options, _ foreign.Sink) error {
		r := &foreigntest.Recorder{}
		if err := claudecode.Format.Read(ctx, t, o, r); err != nil {
			return err
		}
		return promises(r)
	}
	return f
}()

func promises(r *foreigntest.Recorder) error {
	seen := map[string]bool{}
	announced := map[amber.SessionID]int64{}
	for _, s := range r.Sessions {
		if _, twice := announced[s.ID]; twice || amber.CheckID("session id", string(s.ID)) != nil {
			return fmt.Errorf("session id %q is there twice, or is none", s.ID)
		}
		announced[s.ID] = s.Turns
		if got := int64(len(r.Turns[s.ID])); got != s.Turns || got == 0 {
			return fmt.Errorf("session %q announces %d turns and has %d", s.ID, s.Turns, got)
		}
		for _, turn := range r.Turns[s.ID] {
			key := foreign.Fingerprint("", "turn", turn.Key)
			if seen[key] || turn.Content == "" && len(turn.Activity) == 0 && turn.Compaction == "" {
				return fmt.Errorf("turn at %s is empty, or has the key of another", turn.Place)
			}
			seen[key] = true
		}
	}
	return nil
}

func FuzzTranscript(f *testing.F) {
	whole := must.Get(os.ReadFile(sample + "/projects/-src-shop/" + session + ".jsonl"))(f)
	side := object{"isSidechain": true}
	foreigntest.Fuzz(f, strict, "projects/-src-shop/"+session+".jsonl", whole,
		[]byte(jsonl(
			said(1, 0, "user", "a"), part(2, 1, "m", text("b"), use("u", "Bash", object{"command": "x"})), said(3, 2, "user", []object{result("u", "c")}),
			part(4, 2, "m", text("b d")), said(5, 1, "user", "left"), said(6, 4, "user", "sum", object{"isCompactSummary": true}),
			said(7, 0, "user", "side", side), said(8, 7, "assistant", "x", side), said(9, 6, "user", []object{result("u", "c"), text("t")}),
		)), []byte("{}\nnull\n[[\n"))
}

func FuzzMemory(f *testing.F) {
	for _, name := range []string{"deploy-window.md", "feedback_no-mocks.md", "MEMORY.md"} {
		f.Add(must.Get(os.ReadFile(sample + "/projects/-src-shop/memory/" + name))(f))
	}
	foreigntest.Fuzz(f, strict, "projects/-src-shop/memory/a.md", []byte("[[a]] [[b|c#d]]\n```\n[[x]]\n"))
}

func FuzzIndex(f *testing.F) {
	foreigntest.Fuzz(f, strict, "projects/-src-shop/memory/MEMORY.md", []byte("# A\nx\n## A\ny\n~~~\n# no\n"))
}

func FuzzInstructions(f *testing.F) {
	foreigntest.Fuzz(f, strict, "CLAUDE.md", []byte("@CLAUDE.md @a/../CLAUDE.md @~/x @/y `@z`\n"))
}
