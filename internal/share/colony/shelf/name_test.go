package shelf_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestNames puts files under every kind of name, each with a content of its own.
func TestNames(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	names := []string{
		" ", "  led by blanks", "...", ".env", "A.md", "CON", "Straße", "a", "a.md", "a.md/b", "a/b/c/d.md", "a:b?.md",
		"e\u0301.md", "nul", "x<y>&z", strings.Repeat("n", 255), "\u00e9.md", "日本語/メモ.md", "\U0001F4BE",
		strings.Repeat("\U00010000", 255), strings.Repeat("\u2028", 255),
	}
	for _, name := range names {
		s.put(name, "content of "+name)
	}
	for _, name := range names {
		s.holds(name, "content of "+name)
	}
	must.Equal(t, "names", s.names(), sorted(names))
}

// TestNamesThatAreNone asks for impossible names with every method.
func TestNamesThatAreNone(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	s.put("a.md", "one")
	for _, name := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "./a", `a\b`, `C:\x`, "a\x00b", "a\nb", "a\tb",
		"\x7f", "\u0085", "bad\xff", strings.Repeat("n", 256), strings.Repeat("é", 256),
	} {
		ctx := t.Context()
		for what, err := range map[string]error{
			"get":         must.Err(s.Get(ctx, name)),
			"put":         must.Err(s.Put(ctx, name, "x")),
			"append":      must.Err(s.Append(ctx, name, "x")),
			"delete":      s.Delete(ctx, name),
			"move from":   must.Err(s.Move(ctx, name, "b.md", true)),
			"move to":     must.Err(s.Move(ctx, "a.md", name, true)),
			"copy to":     must.Err(s.Copy(ctx, "a.md", name, true)),
			"put if none": must.Err(s.PutIf(ctx, name, "x", absent)),
		} {
			must.Kind(t, what+" "+name, err, amber.KindInvalid)
			must.Is(t, what+" "+name, err, shelf.ErrName)
		}
	}
	must.Equal(t, "names", s.names(), []string{"a.md"})
}

// TestExtensions takes only the endings that are allowed, and reads what was put
// before they were.
func TestExtensions(t *testing.T) {
	t.Parallel()
	dir := madeHome(t)
	open(t, dir).put("old.exe", "put before")
	s := open(t, dir, func(o *shelf.Options) { o.Limits.Extensions = []string{".md", ".json", ".env"} })
	for _, name := range []string{"a.md", "A.MD", "d.x/a.json", ".env", "a.exe.md"} {
		s.put(name, "x")
	}
	for _, name := range []string{"a", "md", "a.exe", "a.md.exe", "dir.md/a", "a.md/b.", "a.mdx"} {
		_, err := s.Put(t.Context(), name, "x")
		must.Kind(t, name, err, amber.KindInvalid)
		must.Is(t, name, err, shelf.ErrExtension)
		must.Is(t, "move to "+name, must.Err(s.Move(t.Context(), "a.md", name, false)), shelf.ErrExtension)
	}
	s.holds("old.exe", "put before")
	must.Get(s.Move(t.Context(), "old.exe", "new.md", false))(t)
	s.holds("new.md", "put before")
}
