package shelf_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestFormat keeps the bytes of a file: a vault outlives the program.
func TestFormat(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	name := "notes/<é> & \u2028.md"
	s.put(name, "first line\nsecond \"line\"\n")
	b := must.Get(os.ReadFile(s.path(name)))(t)
	golden.Check(t, *update, "file_v1", string(b))
}

// TestEveryByteCounts flips each byte of a file and cuts it at each length: what is
// read is never believed. A longer file is noticed too.
func TestEveryByteCounts(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	const name, content = "a/b.md", "some content"
	s.put(name, content)
	whole := must.Get(os.ReadFile(s.path(name)))(t)
	begin := len(whole) - len(content)
	broken := func(what string, b []byte, listed bool) {
		t.Helper()
		write(t, s.path(name), b)
		_, err := s.Get(t.Context(), name)
		if k := amber.KindOf(err); k != amber.KindDamaged && k != amber.KindTooNew {
			t.Fatalf("%s: get returned %v", what, err)
		}
		if _, err := s.List(t.Context(), ""); listed != (err == nil) {
			t.Fatalf("%s: list returned %v", what, err)
		}
	}
	for i := range whole {
		for _, bit := range []byte{0x01, 0x20} {
			b := bytes.Clone(whole)
			b[i] ^= bit
			// A listing reads the first line only.
			broken("flipped byte", b, i >= begin)
		}
		broken("cut file", whole[:i], false)
	}
	broken("longer file", append(bytes.Clone(whole), 'x'), false)
	write(t, s.path(name), whole)
	s.holds(name, content)
}

// TestForeign puts files that do not belong there into the folder of the vault. No operation takes them for files of
// the vault, and none takes the rest for all there is.
func TestForeign(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab", 32)
	for name, plant := range map[string]func(t *testing.T, s tester, vault string){
		"a file": func(t *testing.T, _ tester, vault string) {
			write(t, filepath.Join(vault, "README"), []byte("hello"))
		},
		"a folder": func(t *testing.T, _ tester, vault string) { mkdir(t, filepath.Join(vault, "zz"), "x") },
		"a file in a folder": func(t *testing.T, _ tester, vault string) {
			mkdir(t, filepath.Join(vault, "ab"), "")
			write(t, filepath.Join(vault, "ab", "README"), []byte("hello"))
		},
		"no file of a vault": func(t *testing.T, _ tester, vault string) {
			mkdir(t, filepath.Join(vault, "ab"), "")
			write(t, filepath.Join(vault, "ab", long), []byte("hello\n"))
		},
		"a folder for a file": func(t *testing.T, _ tester, vault string) { mkdir(t, filepath.Join(vault, "ab", long), "") },
		"a file with another name inside": func(t *testing.T, s tester, vault string) {
			b := must.Get(os.ReadFile(s.path("good")))(t)
			mkdir(t, filepath.Join(vault, "ab"), "")
			write(t, filepath.Join(vault, "ab", long), b)
		},
		"a link for a file": func(t *testing.T, s tester, vault string) {
			mkdir(t, filepath.Join(vault, "ab"), "")
			link(t, s.path("good"), filepath.Join(vault, "ab", long))
		},
		"a link for a folder": func(t *testing.T, s tester, vault string) {
			link(t, filepath.Dir(s.path("good")), filepath.Join(vault, "ab"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fresh(t)
			s.put("good", "content")
			plant(t, s, filepath.Join(s.gen(), "state", "vault"))
			for what, err := range map[string]error{
				"list": must.Err(s.List(t.Context(), "")), "list of others": must.Err(s.List(t.Context(), "x")),
				"folders": must.Err(s.Folders(t.Context())), "search": third(s.Search(t.Context(), "content", 1, 0)),
			} {
				must.Kind(t, what, err, amber.KindDamaged)
			}
			must.Kind(t, "status", must.Err(s.Status(t.Context())), "")
			s.holds("good", "content")
			s.put("new", "more")
			s.holds("new", "more")
		})
	}
}

// TestLinks finds links in the place of the folders of a vault. They are never
// followed, neither to read nor to write.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"state", "state/vault", "state/vault/" + sha("a")[:2], "state/vault/" + sha("a")[:2] + "/" + sha("a")} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			s := fresh(t)
			s.put("a", "one")
			path, elsewhere := filepath.Join(s.gen(), filepath.FromSlash(dir)), filepath.Join(t.TempDir(), "elsewhere")
			must.Do(t, os.Rename(path, elsewhere))
			link(t, elsewhere, path)
			ctx := t.Context()
			for what, err := range map[string]error{
				"get": must.Err(s.Get(ctx, "a")), "list": must.Err(s.List(ctx, "")), "put": must.Err(s.Put(ctx, "a", "two")),
				"append": must.Err(s.Append(ctx, "a", "two")), "put if": must.Err(s.PutIf(ctx, "a", "two", colony.Condition{Version: sha("one")})),
				"copy": must.Err(s.Copy(ctx, "a", "b", true)), "move": must.Err(s.Move(ctx, "a", "b", true)),
			} {
				must.Kind(t, what, err, amber.KindDamaged)
			}
			must.Do(t, os.Remove(path))
			must.Do(t, os.Rename(elsewhere, path))
			s.holds("a", "one")
		})
	}
}

// TestDamagedFile can be put anew or deleted, and nothing else. It counts.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	s.put("good", "content")
	breakIt := func() {
		s.put("a", "one")
		write(t, s.path("a"), []byte("garbage"))
	}
	breakIt()
	ctx := t.Context()
	for what, err := range map[string]error{
		"get": must.Err(s.Get(ctx, "a")), "append": must.Err(s.Append(ctx, "a", "x")), "if absent": must.Err(s.PutIf(ctx, "a", "x", absent)),
		"if version": must.Err(s.PutIf(ctx, "a", "x", colony.Condition{Version: sha("one")})), "copy": must.Err(s.Copy(ctx, "a", "b", true)),
		"move": must.Err(s.Move(ctx, "a", "b", true)), "onto it": must.Err(s.Move(ctx, "good", "a", false)),
	} {
		must.Kind(t, what, err, amber.KindDamaged)
	}
	st := must.Get(s.Status(ctx))(t)
	must.Equal(t, "files", st.FileCount, 2)
	must.Equal(t, "used", st.UsedBytes, int64(len("content")+len("garbage")))
	s.put("a", "healed")
	s.holds("a", "healed")
	breakIt()
	must.Get(s.Copy(ctx, "good", "a", true))(t)
	s.holds("a", "content")
	breakIt()
	must.Do(t, s.Delete(ctx, "a"))
	must.Equal(t, "names", s.names(), []string{"good"})
}

// TestFileOfAnotherName lies where it does not belong: it is not read under either
// name.
func TestFileOfAnotherName(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	s.put("good", "content")
	s.put("other", "content")
	b := must.Get(os.ReadFile(s.path("good")))(t)
	write(t, s.path("other"), b)
	for what, err := range map[string]error{
		"get": must.Err(s.Get(t.Context(), "other")), "list": must.Err(s.List(t.Context(), "")), "append": must.Err(s.Append(t.Context(), "other", "x")),
		"move": must.Err(s.Move(t.Context(), "other", "third", false)), "put if": must.Err(s.PutIf(t.Context(), "other", "x", colony.Condition{Version: sha("content")})),
	} {
		must.Kind(t, what, err, amber.KindDamaged)
	}
	s.holds("good", "content")
}

// TestNewerFile is left alone, also by a put.
func TestNewerFile(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	s.put("a", "one")
	newer := []byte(`{"format":"amber-vault-file/2","and":"whatever"}` + "\n")
	write(t, s.path("a"), newer)
	ctx := t.Context()
	for what, err := range map[string]error{
		"get": must.Err(s.Get(ctx, "a")), "list": must.Err(s.List(ctx, "")), "put": must.Err(s.Put(ctx, "a", "x")), "append": must.Err(s.Append(ctx, "a", "x")),
	} {
		must.Kind(t, what, err, amber.KindTooNew)
	}
	must.Equal(t, "content", must.Get(os.ReadFile(s.path("a")))(t), newer)
}

// TestTemporaryFiles of writers that died mean nothing, and the next writer
// removes them.
func TestTemporaryFiles(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	s.put("a", "one")
	vault := filepath.Join(s.gen(), "state", "vault")
	left := []string{filepath.Join(vault, fsx.TempPrefix+"X"), filepath.Join(filepath.Dir(s.path("a")), fsx.TempPrefix+"Y")}
	for _, path := range left {
		write(t, path, []byte("half"))
	}
	must.Equal(t, "names", s.names(), []string{"a"})
	s.put("b", "two")
	for _, path := range left {
		must.Is(t, path, must.Err(os.Lstat(path)), os.ErrNotExist)
	}
}

func mkdir(t *testing.T, dir, file string) {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o700))
	if file != "" {
		write(t, filepath.Join(dir, file), nil)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	err := os.Symlink(to, path)
	if err != nil && runtime.GOOS == "windows" {
		t.Skipf("on Windows only some users may make links: %v", err)
	}
	must.Do(t, err)
}
