package snapshot_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// How large the campaigns are. A plain run has small ones.
var (
	campaignSnapshots = flag.Int("campaign.snapshots", 10, "how many snapshots are taken while processes count")
	campaignWriters   = flag.Int("campaign.writers", 3, "how many processes write at once")
	campaignRestores  = flag.Int("campaign.restores", 4, "how many restores the writers live through")
	campaignKills     = flag.Int("campaign.kills", 4, "how many processes are killed")
)

// childVariable says what a copy of the test binary is to do instead of
// testing: real processes, which can be killed, are what the campaigns are
// about.
const childVariable = "AMBER_LOCAL_TEST_CHILD"

// jobs are what such a copy can do, by name.
var jobs = map[string]func(c *child, args []string) error{
	"count":    count,
	"pulse":    pulse,
	"remember": rememberOn,
	"restore":  restoreOn,
	"operate":  operate,
	"pause":    pauseAmid,
}

func TestMain(m *testing.M) {
	job := strings.Fields(os.Getenv(childVariable))
	if len(job) == 0 {
		os.Exit(m.Run())
	}
	c, err := newChild(job[1])
	if err == nil {
		err = errors.Join(jobs[job[0]](c, job[2:]), c.store.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.Join(job, " ")+":", err)
		os.Exit(1)
	}
}

// child is what a process works with. It goes on until its standard input is
// closed, so it does not outlive the test.
type child struct {
	home  *home.Home
	agent *home.Agent
	store *sqlite.Store
	stop  chan struct{}
}

func newChild(dir string) (c *child, err error) {
	c = &child{stop: make(chan struct{})}
	if c.home, err = home.At(dir, home.Options{Clock: time.Now, Random: rand.Reader}); err != nil {
		return nil, err
	}
	if c.agent, err = c.home.Agent("default", "default"); err != nil {
		return nil, err
	}
	c.store, err = sqlite.Open(context.Background(), c.agent, sqlite.Options{Clock: time.Now, Random: rand.Reader})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(c.stop)
	}()
	return c, err
}

func (c *child) engine(options ...func(*snapshot.Options)) (*snapshot.Engine, error) {
	o := snapshot.Options{Home: c.home, Clock: time.Now, Random: rand.Reader}
	for _, f := range options {
		f(&o)
	}
	return snapshot.New(o)
}

// stopped reports whether the process is to end, after it waited for d.
func (c *child) stopped(d time.Duration) bool {
	select {
	case <-c.stop:
		return true
	case <-time.After(d):
		return false
	}
}

// process is a copy of the test binary at work.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string // that it prints; closed when it has said everything
}

// run starts a process. It is killed with the test, if it still runs then.
func run(t *testing.T, job ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(job, " "))
	cmd.Stderr = os.Stderr
	stdin := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	p := &process{cmd: cmd, stdin: stdin, lines: make(chan string, 1000)}
	go func() { // ends with the process, whose output it drains
		defer close(p.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			p.lines <- in.Text()
		}
	}()
	t.Cleanup(func() { p.kill() })
	return p
}

// end tells the process to end and returns what it still had to say. It must
// have come to a good end.
func (p *process) end(t *testing.T) []string {
	t.Helper()
	_ = p.stdin.Close() // it may have ended already
	return p.rest(t)
}

// rest waits until the process ends by itself.
func (p *process) rest(t *testing.T) []string {
	t.Helper()
	var said []string
	for line := range p.lines {
		said = append(said, line)
	}
	must.Kind(t, p.cmd.Env[len(p.cmd.Env)-1], p.cmd.Wait(), "")
	return said
}

// kill kills the process and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // gone already
	for range p.lines {
	}
	_ = p.cmd.Wait()
}

// appendLine adds a line to a log. The line survives the process.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// readLines returns the whole lines of a log; a process that was killed may
// have left a part of one.
func readLines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	return lines[:len(lines)-1]
}

// past is what a snapshot holds, read from the repository and nothing else.
type past struct {
	inner repo.Inner
	repo  *repo.Repo
	store *sqlite.Store // on the databases of the snapshot
	tmp   string        // where they are
}

// past opens a snapshot.
func (w *world) past(id amber.SnapshotID) *past {
	w.t.Helper()
	ctx := w.t.Context()
	target := must.Get(dir.Open(w.home.RepoDir("default"), dir.Options{}))(w.t)
	p := &past{}
	p.repo = must.Get(repo.Open(ctx, target, nil))(w.t)
	entry, err := p.repo.Catalog("default").Get(ctx, "default", id)
	if err == nil {
		err = entry.Problem
	}
	if err == nil {
		p.inner, err = p.repo.Inner(ctx, entry.Manifest)
	}
	must.Do(w.t, err)
	p.open(w)
	return p
}

// open writes the databases to a folder of their own.
func (p *past) open(w *world) {
	w.t.Helper()
	p.tmp = w.t.TempDir()
	h, err := home.At(p.tmp, home.Options{Clock: time.Now, Random: rand.Reader})
	must.Do(w.t, err)
	agent := must.Get(h.Agent("default", "default"))(w.t)
	c := home.Current{Generation: 1, Incarnation: "past", Device: "past"}
	must.Do(w.t, os.MkdirAll(agent.GenDir(c), 0o700))
	for _, d := range p.inner.Databases {
		f := must.Get(os.Create(filepath.Join(agent.GenDir(c), d.Name)))(w.t)
		err := p.repo.ReadDatabase(w.t.Context(), d.Ref, func(offset int64, pages []byte) error {
			return must.Err(f.WriteAt(pages, offset))
		})
		must.Do(w.t, errors.Join(err, f.Close()))
	}
	p.store, err = sqlite.OpenGeneration(w.t.Context(), agent, c, sqlite.Options{Clock: time.Now, Random: rand.Reader, KeepSchema: true})
	must.Do(w.t, err)
}

func (p *past) close(t *testing.T) {
	t.Helper()
	must.NoError(t, errors.Join(p.store.Close(), os.RemoveAll(p.tmp)))
}

// note returns the content of a note.
func (p *past) note(t *testing.T, name string) string {
	t.Helper()
	var content strings.Builder
	must.Do(t, p.repo.WalkTree(t.Context(), p.inner.Notes.Tree, func(path string, e repo.TreeEntry) error {
		if path != name+".md" {
			return nil
		}
		return p.repo.ReadFile(t.Context(), e, &content)
	}))
	return content.String()
}

// texts returns every memory that is not deleted.
func texts(t *testing.T, s *sqlite.Store) map[amber.MemoryID]string {
	t.Helper()
	found := map[amber.MemoryID]string{}
	for _, m := range must.Get(memoriesOf(t.Context(), s))(t) {
		found[m.ID] = m.Content
	}
	return found
}
