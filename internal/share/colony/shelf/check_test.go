package shelf_test

import (
	"os"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestCheckFindsEveryDamagedFile: all of them, each with its name where anybody
// can still tell.
func TestCheckFindsEveryDamagedFile(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	if files, found, err := s.Check(t.Context()); files != 0 || len(found) > 0 || err != nil {
		t.Errorf("a vault that nobody has written to: %d, %+v, %v", files, found, err)
	}
	for _, name := range []string{"good", "longer", "changed", "garbage", "newer"} {
		s.put(name, "content")
	}
	head := func(name string) string { return `{"format":"amber-vault-file/` + name }
	write(t, s.path("longer"), append(read(t, s.path("longer")), '!'))
	write(t, s.path("changed"), []byte(strings.Replace(string(read(t, s.path("changed"))), "\ncontent", "\ncontenT", 1)))
	write(t, s.path("garbage"), []byte("?"))
	write(t, s.path("newer"), []byte(strings.Replace(string(read(t, s.path("newer"))), head("1"), head("2"), 1)))
	files, found, err := s.Check(t.Context())
	if files != 5 || err != nil {
		t.Errorf("%d files, %v", files, err)
	}
	got := map[string]string{}
	for _, d := range found {
		got[d.Path] = d.Name + " " + string(amber.KindOf(d.Err))
	}
	want := map[string]string{
		s.path("longer"): "longer damaged", s.path("changed"): "changed damaged", s.path("garbage"): " damaged", s.path("newer"): " too_new",
	}
	must.Equal(t, "damaged", got, want)
	s.put("longer", "healed")
	if _, found, err := s.Check(t.Context()); len(found) != 3 || err != nil {
		t.Errorf("after one was put anew: %+v, %v", found, err)
	}
}

// TestFirst is what an empty vault says of a file.
func TestFirst(t *testing.T) {
	t.Parallel()
	l := shelf.Limits{Quota: 10, MaxFile: 8, Extensions: []string{".md"}}
	for what, c := range map[string]struct {
		l             shelf.Limits
		name, content string
		want          amber.Kind
	}{
		"fits":       {l, "a.md", "12345678", ""},
		"too large":  {l, "a.md", "123456789", amber.KindQuota},
		"no room":    {shelf.Limits{Quota: 3}, "a", "1234", amber.KindQuota},
		"extension":  {l, "a.exe", "", amber.KindInvalid},
		"name":       {l, "../a.md", "", amber.KindInvalid},
		"no UTF-8":   {l, "a.md", "\xff", amber.KindInvalid},
		"the preset": {shelf.Limits{}, "a", strings.Repeat("x", 1<<20), ""},
		"nonsense":   {shelf.Limits{Quota: -1}, "a", "", amber.KindInvalid},
	} {
		must.Kind(t, what, c.l.First(c.name, c.content), c.want)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}
