package shelf_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
)

var absent = colony.Condition{Absent: true}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func TestOpenRefusesNonsense(t *testing.T) {
	t.Parallel()
	a := must.Get(openAgent(madeHome(t), nil))(t)
	for name, o := range map[string]shelf.Options{
		"no clock":     {},
		"quota":        {Clock: today, Limits: shelf.Limits{Quota: -1}},
		"file":         {Clock: today, Limits: shelf.Limits{MaxFile: -1}},
		"files":        {Clock: today, Limits: shelf.Limits{MaxFiles: -1}},
		"file too big": {Clock: today, Limits: shelf.Limits{MaxFile: shelf.MaxFileLimit + 1}},
		"extension":    {Clock: today, Limits: shelf.Limits{Extensions: []string{"md"}}},
		"two dots":     {Clock: today, Limits: shelf.Limits{Extensions: []string{".tar.gz"}}},
	} {
		must.Fail(shelf.Open(a, o))(t, name, amber.KindInvalid)
	}
	must.Fail(shelf.Open(nil, shelf.Options{Clock: today}))(t, "no agent", amber.KindInvalid)
}

// testNoAgent asks for the vault of an agent that is not there: nothing is made.
func testNoAgent(t *testing.T, p place) {
	t.Parallel()
	s := p.open(t, p.absent(t))
	ctx := t.Context()
	for what, err := range map[string]error{
		"status": must.Err(s.Status(ctx)), "list": must.Err(s.List(ctx, "")), "get": must.Err(s.Get(ctx, "a")),
		"put": must.Err(s.Put(ctx, "a", "x")), "delete": s.Delete(ctx, "a"),
	} {
		must.Kind(t, what, err, amber.KindNotFound)
	}
}

// testStatus reports a quota from the first file on, also when it is gone again.
func testStatus(t *testing.T, p place) {
	t.Parallel()
	s := p.fresh(t, func(o *shelf.Options) { o.Limits = shelf.Limits{Quota: 100, MaxFile: 50} })
	status := func(want colony.Status) {
		t.Helper()
		got := must.Get(s.Status(t.Context()))(t)
		must.Equal(t, "status", got, want)
	}
	status(colony.Status{})
	must.Fail(s.Put(t.Context(), "a", strings.Repeat("x", 51)))(t, "too large", amber.KindQuota)
	status(colony.Status{})
	s.put("a", "12345")
	s.put("b", "é")
	status(colony.Status{QuotaBytes: 100, UsedBytes: 7, AvailableBytes: 93, FileCount: 2})
	for _, name := range []string{"a", "b"} {
		must.Do(t, s.Delete(t.Context(), name))
	}
	status(colony.Status{QuotaBytes: 100, AvailableBytes: 100})
	s = p.open(t, s.dir, func(o *shelf.Options) { o.Limits.Quota = 1 })
	p.open(t, s.dir).put("c", "123")
	status(colony.Status{QuotaBytes: 1, UsedBytes: 3, FileCount: 1})
}

// testLimits puts content that fits to the byte, and checks that nothing beyond is taken. A file that is replaced does
// not count.
func testLimits(t *testing.T, p place) {
	t.Parallel()
	s := p.fresh(t, func(o *shelf.Options) { o.Limits = shelf.Limits{Quota: 20, MaxFile: 10, MaxFiles: 3} })
	full := func(what string, err error, many bool) {
		t.Helper()
		must.Kind(t, what, err, amber.KindQuota)
		must.Equal(t, what+": too many", errors.Is(err, shelf.ErrTooMany), many)
	}
	ctx := t.Context()
	full("file", must.Err(s.Put(ctx, "a", "12345678901")), false)
	s.put("a", "1234567890")
	full("append", must.Err(s.Append(ctx, "a", "x")), false)
	s.put("b", "123456789")
	full("total", must.Err(s.Put(ctx, "c", "12")), false)
	full("copy", must.Err(s.Copy(ctx, "b", "c", false)), false)
	s.put("c", "1")
	s.put("a", "0987654321") // takes the place of as much
	full("a fourth", must.Err(s.Put(ctx, "d", "")), true)
	full("a fourth by copy", must.Err(s.Copy(ctx, "c", "d", false)), false)
	full("a fourth by append", must.Err(s.Append(ctx, "d", "")), true)
	must.Kind(t, "a move in a full vault", must.Err(s.Move(ctx, "a", "d", false)), "")
	full("growth of one", must.Err(s.Append(ctx, "c", "2")), false)
	must.Fail(s.Put(ctx, "c", "\xff"))(t, "no UTF-8", amber.KindInvalid)
	s.holds("c", "1")
	s.holds("d", "0987654321")
	must.Equal(t, "names", s.names(), []string{"b", "c", "d"})
}

// testTimes keeps when a file was first put.
func testTimes(t *testing.T, p place) {
	t.Parallel()
	now := today()
	s := p.fresh(t, func(o *shelf.Options) { o.Clock = func() time.Time { return now } })
	at := func(d time.Duration) amber.Time { return amber.At(today().Add(d)) }
	check := func(what string, info colony.FileInfo, err error, created, updated time.Duration) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		f := must.Get(s.Get(t.Context(), info.Name))(t)
		must.Equal(t, what+": what is read", f.FileInfo, info, cmp.AllowUnexported(amber.Time{}))
		if info.CreatedAt != at(created) || info.UpdatedAt != at(updated) {
			t.Errorf("%s: got %v and %v, want %v and %v", what, info.CreatedAt, info.UpdatedAt, at(created), at(updated))
		}
	}
	ctx := t.Context()
	info, err := s.Put(ctx, "a", "one")
	check("put", info, err, 0, 0)
	now = now.Add(time.Hour)
	info, err = s.Put(ctx, "a", "two")
	check("put again", info, err, 0, time.Hour)
	now = now.Add(time.Hour)
	info, err = s.Append(ctx, "a", "three")
	check("append", info, err, 0, 2*time.Hour)
	now = now.Add(time.Hour)
	info, err = s.Copy(ctx, "a", "b", false)
	check("copy", info, err, 3*time.Hour, 3*time.Hour)
	now = now.Add(time.Hour)
	info, err = s.Move(ctx, "a", "c", false)
	check("move", info, err, 0, 4*time.Hour)
	now = now.Add(time.Hour)
	info, err = s.Copy(ctx, "c", "b", true)
	check("copy over", info, err, 3*time.Hour, 5*time.Hour)
	info, err = s.Move(ctx, "b", "c", true)
	check("move over", info, err, 3*time.Hour, 5*time.Hour)
	s.holds("c", "twothree")
}

// testMoveAndCopy tells every outcome apart and changes nothing where it fails.
func testMoveAndCopy(t *testing.T, p place) {
	t.Parallel()
	type transfer func(ctx context.Context, from, to string, overwrite bool) (colony.FileInfo, error)
	for name, of := range map[string]func(tester) transfer{
		"move": func(s tester) transfer { return s.Move },
		"copy": func(s tester) transfer { return s.Copy },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := p.fresh(t)
			do := of(s)
			s.put("a", "one")
			s.put("b", "two")
			must.Fail(do(t.Context(), "none", "c", false))(t, "from nothing", amber.KindNotFound)
			must.Fail(do(t.Context(), "a", "a", true))(t, "to itself", amber.KindInvalid)
			_, err := do(t.Context(), "a", "b", false)
			must.Kind(t, "to another", err, amber.KindConflict)
			must.Is(t, "to another", err, shelf.ErrExists)
			s.holds("a", "one")
			s.holds("b", "two")
			info := must.Get(do(t.Context(), "a", "x/c", false))(t)
			must.Equal(t, "name", info.Name, "x/c")
			must.Equal(t, "version", info.Version, sha("one"))
			s.holds("x/c", "one")
			must.Get(do(t.Context(), "x/c", "b", true))(t)
			s.holds("b", "one")
			want := []string{"a", "b", "x/c"}
			if name == "move" {
				want = []string{"b"}
			}
			must.Equal(t, "names", s.names(), want)
		})
	}
}

// testConditions distinguishes a condition that does not hold from one that makes no sense.
func testConditions(t *testing.T, p place) {
	t.Parallel()
	s := p.fresh(t)
	s.put("a", "one")
	for what, c := range map[string]colony.Condition{
		"absent": absent, "another version": {Version: sha("two")}, "no version at all": {Version: "x"},
	} {
		_, err := s.PutIf(t.Context(), "a", "new", c)
		must.Kind(t, what, err, amber.KindConflict)
		must.Is(t, what, err, shelf.ErrChanged)
	}
	must.Fail(s.PutIf(t.Context(), "none", "new", colony.Condition{Version: sha("one")}))(t, "version of nothing", amber.KindConflict)
	for _, c := range []colony.Condition{{}, {Absent: true, Version: sha("one")}} {
		must.Fail(s.PutIf(t.Context(), "a", "new", c))(t, fmt.Sprintf("%+v", c), amber.KindInvalid)
	}
	s.holds("a", "one")
	info := must.Get(s.PutIf(t.Context(), "a", "two", colony.Condition{Version: sha("one")}))(t)
	must.Equal(t, "version", info.Version, sha("two"))
	s.holds("a", "two")
}

func testAppend(t *testing.T, p place) {
	t.Parallel()
	s := p.fresh(t)
	for range 3 {
		must.Get(s.Append(t.Context(), "log/a.md", "é\n"))(t)
	}
	s.holds("log/a.md", "é\né\né\n")
	must.Fail(s.Append(t.Context(), "log/a.md", "\xa9"))(t, "half a character", amber.KindInvalid)
	s.holds("log/a.md", "é\né\né\n")
}

func testFolders(t *testing.T, p place) {
	t.Parallel()
	s := p.fresh(t)
	must.Equal(t, "folders of an empty vault", len(must.Get(s.Folders(t.Context()))(t)), 0)
	for _, name := range []string{"a.md", "b.md", "x/a.md", "x/y/a.md", "x/y/z.md", "日/a.md"} {
		s.put(name, "")
	}
	want := []shelf.Folder{{Name: "(root)", Files: 2}, {Name: "x", Files: 3}, {Name: "日", Files: 1}}
	must.Equal(t, "folders", must.Get(s.Folders(t.Context()))(t), want)
}

// testListIsAPrefix takes a prefix for what it is, not for a pattern.
func testListIsAPrefix(t *testing.T, p place) {
	t.Parallel()
	s := p.fresh(t)
	for _, name := range []string{"a_b", "axb", "a%b", "a*b", "ab", "b"} {
		s.put(name, "")
	}
	for prefix, want := range map[string][]string{
		"a_": {"a_b"}, "a%": {"a%b"}, "a*": {"a*b"}, "a": {"a%b", "a*b", "a_b", "ab", "axb"}, "c": {}, "B": {},
	} {
		list := must.Get(s.List(t.Context(), prefix))(t)
		got := []string{}
		for _, f := range list {
			got = append(got, f.Name)
		}
		must.Equal(t, fmt.Sprintf("prefix %q", prefix), got, want)
	}
}
