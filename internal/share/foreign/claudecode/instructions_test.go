package claudecode_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func names(r *foreigntest.Recorder) (out []string) {
	for _, n := range r.Notes {
		out = append(out, n.Name)
	}
	return out
}

func TestInstructionsAreNotes(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, claudecode.Format, foreigntest.Put(t, t.TempDir()+"/shop", map[string]string{
		"CLAUDE.md": "Use decimals.\n", "CLAUDE.local.md": "mine", ".claude/CLAUDE.md": "inner", "AGENTS.md": "all",
		".claude/rules/money.md": "---\npaths: a\n---\nrule", ".claude/rules/sub/x.md": "deep rule", "pkg/CLAUDE.md": "nested",
		"README.md": "no", ".claude/commands/x.md": "no", ".claude/skills/y/SKILL.md": "no", "docs/rules/z.md": "no", "empty/CLAUDE.md": " ",
	}))
	must.Equal(t, "notes", names(r), []string{
		"instructions/shop/claude/CLAUDE", "instructions/shop/claude/rules/money", "instructions/shop/claude/rules/sub/x",
		"instructions/shop/AGENTS", "instructions/shop/CLAUDE.local", "instructions/shop/CLAUDE", "instructions/shop/pkg/CLAUDE",
	})
	must.Equal(t, "content", r.Notes[5].Content, "Use decimals.\n")
	must.Equal(t, "memories", len(r.Memories), 0)
}

func TestInstructionsOfTheUser(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"", ".claude/"} {
		r := foreigntest.Read(t, claudecode.Format, foreigntest.Files(t, map[string]string{
			at + "CLAUDE.md": "x", at + "rules/a.md": "y", at + "projects/-src-shop/memory/m.md": "m", at + "plugins/p/CLAUDE.md": "no", at + "skills/AGENTS.md": "no",
		}))
		must.Equal(t, at, names(r), []string{"instructions/user/CLAUDE", "instructions/user/rules/a"})
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"CLAUDE.md": "@docs/a.md and @b.txt, see @someone.\n`@code.md`\n```\n@code.md\n```\nmail me@code.md\n@~/x.md\n@/etc/passwd\n@../up.md\n@gone.md\n@d1.md\n@.secret",
		"docs/a.md": "@c.md @../CLAUDE.md @./c.md", "docs/c.md": "c @a.md", "b.txt": "b", "code.md": "no", ".secret": "s",
		"d1.md": "@d2.md", "d2.md": "@d3.md", "d3.md": "@d4.md", "d4.md": "@d5.md", "d5.md": "@d6.md", "d6.md": "too deep",
	}
	r := foreigntest.Read(t, claudecode.Format, foreigntest.Put(t, t.TempDir()+"/shop", files))
	must.Equal(t, "notes", names(r), []string{
		"instructions/shop/CLAUDE", "instructions/shop/docs/a", "instructions/shop/docs/c", "instructions/shop/b.txt",
		"instructions/shop/d1", "instructions/shop/d2", "instructions/shop/d3", "instructions/shop/d4", "instructions/shop/d5", "instructions/shop/secret",
	})
	must.Equal(t, "skips", len(r.Skips), 5)
	must.Says(t, "skips", strings.Join(r.Skips, "\n"),
		`CLAUDE.md: line 7: import of "~/x.md"`, `line 8: import of "/etc/passwd"`, `line 9: import of "../up.md"`, `line 10: import of "gone.md": no such file`, `d5.md: line 1: import of "d6.md" is more than 5 deep`)
}
