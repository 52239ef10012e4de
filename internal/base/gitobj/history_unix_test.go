//go:build unix

package gitobj_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

// reader reads a history from memory, a few commits at a time.
type reader map[string][]byte

func (r reader) Objects(oids []string, fn func(string, []byte) error) error {
	for _, oid := range oids {
		raw, found := r[oid]
		if !found {
			return gitobj.Missing(oid)
		}
		if err := fn(oid, raw); err != nil {
			return err
		}
	}
	return nil
}

func (r reader) FirstParents(oid string, most int, fn func(string, []byte) error) error {
	for range min(most, 3) {
		c, err := gitobj.ReadCommit(oid, r[oid])
		if err != nil {
			return err
		}
		if err := fn(oid, r[oid]); err != nil || len(c.Parents) == 0 {
			return err
		}
		oid = c.Parents[0]
	}
	return nil
}

// readerOf reads a whole repository.
func readerOf(t *testing.T, dir string) (reader, gitobj.Refs) {
	t.Helper()
	refs, _, err := gitobj.RawRefs(fsx.OS(), filepath.Join(dir, ".git"))
	must.Do(t, err)
	r := reader{}
	must.Do(t, gitobj.Objects(t.Context(), gitobj.Options{Dir: dir}, refs, gitobj.Refs{}, func(oid string, raw []byte) error {
		o, err := gitobj.CheckObject(oid, raw)
		r[oid] = o.Raw
		return err
	}))
	return r, refs
}

// Random histories with merges, folders that become files, modes and subjects of several lines: the log of each file is that
// of git, and so are files and last changes.
func TestFileLogIsThatOfGit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir, rnd := t.TempDir(), rand.New(rand.NewPCG(seed, 2))
			notestest.Git(t, dir, "init", "-q", "--initial-branch=main", "--object-format=sha1")
			for i := range 24 {
				switch i {
				case 8:
					notestest.Git(t, dir, "checkout", "-q", "-b", "side", "HEAD~3")
				case 12:
					notestest.Git(t, dir, "checkout", "-q", "main")
					notestest.Git(t, dir, "merge", "-q", "-s", "ours", "-m", "merge", "side")
				}
				meddle(t, rnd, dir)
				notestest.Git(t, dir, "add", "-A")
				notestest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("subject %d\nand more\n\nbody", i))
			}
			r, refs := readerOf(t, dir)
			logOf := func(args ...string) (out []string) {
				args = append([]string{"log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=>%H %ct %s"}, args...)
				head := ""
				for line := range strings.Lines(notestest.Git(t, dir, args...)) {
					line = strings.TrimSuffix(line, "\n")
					if strings.HasPrefix(line, ">") {
						head = line[1:]
					} else if f := strings.Fields(line); len(f) >= 6 {
						out = append(out, head+" "+strings.Replace(f[3], gitobj.ZeroOID, "-", 1))
					}
				}
				return out
			}
			say := func(c gitobj.Change) string {
				blob := c.File.OID
				if blob == "" {
					blob = "-"
				}
				return fmt.Sprint(c.OID, " ", c.Seconds, " ", c.Subject, " ", blob)
			}
			ever := map[string]bool{}
			for line := range strings.Lines(notestest.Git(t, dir, "log", "--first-parent", "-m", "--no-renames", "--name-only", "--format=")) {
				ever[strings.TrimSpace(line)] = true
			}
			delete(ever, "")
			files := must.Get(gitobj.Files(t.Context(), r, refs.OID, 1000, nil))(t)
			var here []string
			for line := range strings.Lines(notestest.Git(t, dir, "ls-tree", "-r", "HEAD")) {
				about, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
				here = append(here, file)
				must.Equal(t, file, files[file].OID, strings.Fields(about)[2])
			}
			must.Equal(t, "number of files", len(files), len(here))
			last := must.Get(gitobj.LastChanges(t.Context(), r, refs.OID, here))(t)
			must.Equal(t, "number of last changes", len(last), len(here))
			if len(ever) < 4 {
				t.Fatalf("the history knows %d files, which tells nothing", len(ever))
			}
			for file := range ever {
				isFolder := false
				for other := range ever {
					isFolder = isFolder || strings.HasPrefix(other, file+"/")
				}
				if isFolder {
					continue // git would count what is in the folder
				}
				want := logOf("--", file)
				var got []string
				for _, c := range must.Get(gitobj.FileLog(t.Context(), r, refs.OID, file, 1000))(t) {
					got = append(got, say(c))
				}
				must.Equal(t, "log of "+file, got, want)
				must.Equal(t, "two of "+file, len(must.Get(gitobj.FileLog(t.Context(), r, refs.OID, file, 2))(t)), min(2, len(want)))
				if _, there := files[file]; there {
					must.Equal(t, "last change of "+file, say(last[file]), want[0])
				}
			}
		})
	}
}

// The same files as git fast-import leaves, by the same names in the same order.
func TestPutFileMakesTheTreesOfGit(t *testing.T) {
	t.Parallel()
	dir, r, rnd := t.TempDir(), reader{}, rand.New(rand.NewPCG(1, 3))
	notestest.Git(t, dir, "init", "-q", "--initial-branch=main", "--object-format=sha1")
	// "a" sorts differently as a file and as a folder.
	paths := []string{"a.md", "a-b.md", "a/b.md", "a/b/c.md", "a0.md", "b/x.md", "z.md", "ünï/é.md"}
	tree, parent := "", ""
	for i := range 60 {
		file := paths[rnd.IntN(len(paths))]
		blob := ""
		if at := filepath.Join(dir, filepath.FromSlash(file)); rnd.IntN(3) > 0 {
			o := gitobj.NewBlob([]byte(strconv.Itoa(i)))
			blob, r[o.OID] = o.OID, o.Raw
			notestest.Put(t, at, strconv.Itoa(i))
		} else if err := os.Remove(at); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		root, made, err := gitobj.PutFiles(gitobj.Getter(r), tree, map[string]string{file: blob})
		must.Do(t, err)
		for _, o := range made {
			r[o.OID] = o.Raw
		}
		tree = root
		notestest.Git(t, dir, "add", "-A")
		must.Equal(t, "tree", tree, strings.TrimSpace(notestest.Git(t, dir, "write-tree")))
		c := gitobj.NewCommit(tree, parent, "write "+file, time.Unix(int64(i), 0))
		r[c.OID], parent = c.Raw, c.OID
	}
	must.Equal(t, "commits", len(must.Get(gitobj.FileLog(t.Context(), r, parent, "z.md", 1))(t)), 1)
}

func TestHistoryOfDamagedObjects(t *testing.T) {
	t.Parallel()
	tree, made, err := gitobj.PutFiles(nil, "", map[string]string{"a/b.md": gitobj.BlobID([]byte("x"))})
	must.Do(t, err)
	c := gitobj.NewCommit(tree, "", "write a/b", time.Unix(1, 0))
	r := reader{c.OID: c.Raw}
	ctx := t.Context()
	_, err = gitobj.FileLog(ctx, r, c.OID, "a/b.md", 1)
	must.Kind(t, "log without trees", err, amber.KindDamaged, tree, "missing")
	_, err = gitobj.Files(ctx, r, c.OID, 10, nil)
	must.Kind(t, "files without trees", err, amber.KindDamaged, tree, "missing")
	for _, o := range made {
		r[o.OID] = o.Raw
	}
	must.Equal(t, "log", len(must.Get(gitobj.FileLog(ctx, r, c.OID, "a/b.md", 9))(t)), 1)
	must.Equal(t, "log of a folder", len(must.Get(gitobj.FileLog(ctx, r, c.OID, "a", 9))(t)), 0)
	_, err = gitobj.Files(ctx, r, c.OID, 1, nil)
	must.Kind(t, "more files than are allowed", err, amber.KindQuota)
	for what, raw := range map[string]string{
		"no tree": "commit 9\x00author x\n", "a bad id": "commit 8\x00tree xyz", "a blob": "blob 1\x00x", "no header": "x",
	} {
		_, err := gitobj.ReadCommit(c.OID, []byte(raw))
		must.Kind(t, what, err, amber.KindDamaged, c.OID)
	}
	_, err = gitobj.CheckObject(c.OID, append([]byte{}, made[0].Raw...))
	must.Kind(t, "other bytes", err, amber.KindDamaged, c.OID, "does not match")
	_, err = gitobj.CheckObject("../../x", made[0].Raw)
	must.Kind(t, "no id", err, amber.KindDamaged, "no valid id")
}
