package statedir_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/store/statedir"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// openAgent opens the agent of a home on a disk.
func openAgent(t testing.TB, dir string, disk fsx.FS) *home.Agent {
	t.Helper()
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader, FS: disk})
	must.Do(t, err)
	return must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
}

func open(t testing.TB, agent *home.Agent, disk fsx.FS) *statedir.Dir {
	t.Helper()
	return must.Get(statedir.New(agent, statedir.Options{FS: disk}))(t)
}

func create(t testing.TB, agent *home.Agent) {
	t.Helper()
	if _, _, err := agent.Create(t.Context(), func(string, home.Current) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// fresh returns the documents of a new agent, and the folder they lie in.
func fresh(t *testing.T) (*statedir.Dir, string) {
	t.Helper()
	agent := openAgent(t, filepath.Join(t.TempDir(), "home"), fsx.OS())
	create(t, agent)
	return open(t, agent, fsx.OS()), filepath.Join(agent.Dir(), "gen", "1", "state")
}

func put(t testing.TB, d *statedir.Dir, name, doc string) amber.Document {
	t.Helper()
	return must.Get(d.PutDocument(t.Context(), amber.DocumentWrite{Name: name, Document: []byte(doc)}))(t)
}

// held is what all documents say.
func held(t testing.TB, d *statedir.Dir) map[string]string {
	t.Helper()
	list := must.Get(d.ListDocuments(t.Context()))(t)
	all := map[string]string{}
	for _, doc := range list {
		whole := must.Get(d.ReadDocument(t.Context(), doc.Name))(t)
		all[doc.Name] = string(whole.Document)
	}
	return all
}

// A file is the compact document and nothing else, and only its owner may read it.
func TestAFileIsTheDocument(t *testing.T) {
	t.Parallel()
	d, dir := fresh(t)
	put(t, d, "cursor", "{ \"at\": 7 }\n")
	path := filepath.Join(dir, "cursor.json")
	must.Equal(t, "file", string(must.Get(os.ReadFile(path))(t)), `{"at":7}`)
	must.Equal(t, "mode for others", must.Get(os.Stat(path))(t).Mode().Perm()&0o077, 0)
}

// A document that another system wrote with white space is the same document, and
// what is no document is not listed.
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	d, dir := fresh(t)
	want := put(t, d, "cursor", `{"at":7}`)
	write(t, filepath.Join(dir, "cursor.json"), "{\n  \"at\": 7\n}\n")
	if got, err := d.ReadDocument(t.Context(), "cursor"); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for _, name := range []string{"UPPER.json", "notes.txt", fsx.TempPrefix + "x", "a..b.json"} {
		write(t, filepath.Join(dir, name), "{}")
	}
	must.Do(t, os.MkdirAll(filepath.Join(dir, "vault", "x.json"), 0o700))
	must.Equal(t, "documents", held(t, d), map[string]string{"cursor": `{"at":7}`})
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}

// A damaged document says so and takes no other down; it can be written anew and
// deleted.
func TestDamagedDocuments(t *testing.T) {
	t.Parallel()
	d, dir := fresh(t)
	put(t, d, "good", "1")
	for name, text := range map[string]string{"cut": `{"a":`, "large": `"` + strings.Repeat("x", amber.MaxDocumentBytes) + `"`, "huge": strings.Repeat(" ", 2<<20), "bytes": "\"\xff\"", "empty": ""} {
		write(t, filepath.Join(dir, name+".json"), text)
		_, err := d.ReadDocument(t.Context(), name)
		must.Kind(t, "read "+name, err, amber.KindDamaged)
		must.Hold(t, !strings.Contains(fmt.Sprint(err), "xxxx"), "the error of %s holds stored text", name)
		_, err = d.PutDocument(t.Context(), amber.DocumentWrite{Name: name, Document: []byte("2"), IfAbsent: true})
		must.Kind(t, "write "+name+" as a new one", err, amber.KindConflict)
		_, err = d.PutDocument(t.Context(), amber.DocumentWrite{Name: name, Document: []byte("2"), IfRevision: amber.ContentDigest("1")})
		must.Kind(t, "write "+name+" over a revision", err, amber.KindDamaged)
		must.Kind(t, "delete a revision of "+name, d.DeleteDocument(t.Context(), name, amber.ContentDigest("1")), amber.KindDamaged)
		list, err := d.ListDocuments(t.Context())
		if err != nil || len(list) != 2 {
			t.Fatalf("%s: %d documents, %v", name, len(list), err)
		}
		for _, doc := range list {
			if damaged := doc.Name == name; damaged != (doc.Damage != "") || damaged == (doc.Revision != "") {
				t.Errorf("%s is listed as %+v", doc.Name, doc)
			}
		}
		put(t, d, name, "2")
		must.NoError(t, d.DeleteDocument(t.Context(), name, ""))
	}
}

// A link or a folder in the place of a document is never followed or written to.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	d, dir := fresh(t)
	put(t, d, "good", "1")
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, `{"secret":1}`)
	link(t, outside, filepath.Join(dir, "link.json"))
	must.Fail(d.ReadDocument(t.Context(), "link"))(t, "read a link", amber.KindDamaged)
	must.Fail(d.PutDocument(t.Context(), amber.DocumentWrite{Name: "link", Document: []byte("1")}))(t, "write a link", amber.KindDamaged)
	must.Equal(t, "file outside", string(must.Get(os.ReadFile(outside))(t)), `{"secret":1}`)
	must.Do(t, os.RemoveAll(dir))
	link(t, t.TempDir(), dir)
	_, err := d.PutDocument(t.Context(), amber.DocumentWrite{Name: "a", Document: []byte("1")})
	must.Kind(t, "write behind a link in the place of the folder", err, amber.KindDamaged)
}

func link(t *testing.T, to, at string) {
	t.Helper()
	err := os.Symlink(to, at)
	if err != nil && runtime.GOOS == "windows" {
		t.Skipf("on Windows only some users may make links: %v", err)
	}
	must.Do(t, err)
}

// changes are all that can be done, and what is stored afterwards.
var changes = []struct {
	name  string
	do    func(t *testing.T, d *statedir.Dir) error
	after map[string]string
}{
	{"put", func(t *testing.T, d *statedir.Dir) error {
		_, err := d.PutDocument(t.Context(), amber.DocumentWrite{Name: "c", Document: []byte(big("new"))})
		return err
	}, map[string]string{"a": big("a"), "b": big("b"), "c": big("new")}},
	{"replace", func(t *testing.T, d *statedir.Dir) error {
		_, err := d.PutDocument(t.Context(), amber.DocumentWrite{Name: "a", Document: []byte(big("new")), IfRevision: amber.ContentDigest(big("a"))})
		return err
	}, map[string]string{"a": big("new"), "b": big("b")}},
	{"delete", func(t *testing.T, d *statedir.Dir) error { return d.DeleteDocument(t.Context(), "a", "") }, map[string]string{"b": big("b")}},
}

// big is longer than one block, so that a cut can tear it.
func big(s string) string { return strconv.Quote(strings.Repeat(s, 6000)) }

// disk returns a home on a simulated disk. The folder of the agent is on the real
// one too: kernel locks know no other.
func disk(t *testing.T, dir string) (*crashfs.FS, *home.Agent) {
	t.Helper()
	fsys := crashfs.New()
	must.Do(t, fsx.MkdirAll(fsys, filepath.Dir(dir), 0o700))
	agent := openAgent(t, dir, fsys)
	create(t, agent)
	d := open(t, agent, fsys)
	put(t, d, "a", big("a"))
	put(t, d, "b", big("b"))
	return fsys, agent
}

func lockedHome(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	must.Do(t, os.MkdirAll(filepath.Join(dir, "tenants", "default", "agents", "default"), 0o700))
	return dir
}

// A power cut at every call of every change: a change that was acknowledged is
// there, one that was not is there whole or not at all.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a": big("a"), "b": big("b")}
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedHome(t)
			for n := 1; ; n++ {
				fsys, agent := disk(t, dir)
				calls := fsys.Calls()
				fsys.StopAt(calls + n)
				err := c.do(t, open(t, agent, fsys))
				if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
					t.Fatalf("cut at call %d: %v", n, err)
				}
				for seed := range uint64(4) {
					after := fsys.CrashClone(mathrand.New(mathrand.NewPCG(seed, uint64(n))))
					d := open(t, openAgent(t, dir, after), after)
					got := held(t, d)
					if !maps.Equal(got, c.after) && (err == nil || !maps.Equal(got, before)) {
						t.Fatalf("cut at call %d (%v), seed %d: %v", n, err, seed, slimmed(got))
					}
					put(t, d, "later", "1")
				}
				if fsys.Calls() < calls+n {
					t.Logf("%d calls", n-1)
					return
				}
			}
		})
	}
}

// A disk that is full, or that fails at any call, is told; nothing is half done,
// no temporary file stays, and the next change is made.
func TestEveryCallFails(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a": big("a"), "b": big("b")}
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedHome(t)
			for n := 1; ; n++ {
				base, agent := disk(t, dir)
				fsys := errfs.Wrap(base, errfs.Rule{Nth: n, Err: syscall.ENOSPC, Written: 5})
				err := c.do(t, open(t, agent, fsys))
				if len(fsys.Injected()) == 0 {
					t.Logf("%d calls", n-1)
					return
				}
				d := open(t, openAgent(t, dir, base), base)
				got := held(t, d)
				if !maps.Equal(got, c.after) && (err == nil || !maps.Equal(got, before)) {
					t.Fatalf("call %d, %s (%v): %v", n, fsys.Injected(), err, slimmed(got))
				}
				if err != nil {
					must.Kind(t, fmt.Sprint("call ", n), err, amber.KindInternal)
				}
				put(t, d, "later", "1")
				entries := must.Get(base.ReadDir(filepath.Join(agent.Dir(), "gen", "1", "state")))(t)
				for _, e := range entries {
					must.Hold(t, !strings.HasPrefix(e.Name(), fsx.TempPrefix), "call %d left %s", n, e.Name())
				}
			}
		})
	}
}

func slimmed(all map[string]string) map[string]string {
	out := map[string]string{}
	for name, doc := range all {
		out[name] = fmt.Sprintf("%.5s, %d bytes", doc, len(doc))
	}
	return out
}

// counterHome is where processes count; see TestProcessesCountTogether.
const counterHome = "AMBER_STATEDIR_COUNTER"

// Processes count in one document with compare-and-swap, and one of them is
// killed meanwhile: every count that was acknowledged is there, and none twice.
func TestProcessesCountTogether(t *testing.T) {
	if dir := os.Getenv(counterHome); dir != "" {
		count(t, open(t, openAgent(t, dir, fsx.OS()), fsx.OS()))
		return
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	agent := openAgent(t, dir, fsx.OS())
	create(t, agent)
	d := open(t, agent, fsx.OS())
	put(t, d, "n", "0")
	acked := make([]int, 3)
	var wg sync.WaitGroup
	for i := range acked {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestProcessesCountTogether$", "-test.v")
		cmd.Env = append(os.Environ(), counterHome+"="+dir)
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		wg.Add(1)
		go func() {
			defer wg.Done()
			acked[i] = acknowledged(out, func(n int) {
				if i == 0 && n == 5 {
					_ = cmd.Process.Kill()
				}
			})
			_ = cmd.Wait()
		}()
	}
	wg.Wait()
	doc := must.Get(d.ReadDocument(t.Context(), "n"))(t)
	total, _ := strconv.Atoi(string(doc.Document))
	sum := acked[0] + acked[1] + acked[2]
	// The killed process may have written one count that it did not acknowledge.
	if total < sum || total > sum+1 || acked[1] != rounds || acked[2] != rounds {
		t.Errorf("%d counted, acknowledged were %v", total, acked)
	}
	if left, err := os.ReadDir(filepath.Join(agent.Dir(), "gen", "1", "state")); err != nil || len(left) > 2 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}
