package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// snapshotConfig says how snapshots are measured.
type snapshotConfig struct {
	dir, cache string
	binary     string
	rounds     int
	size       agentSize
	where      bool
}

// changesPerRound is how many small changes a round makes, a snapshot after
// each.
const changesPerRound = 3

// smallChange says what a small change is.
const (
	memoriesPerChange = 5
	smallChange       = "5 memories of 40 to 120 words remembered, each by a process of its own, and one of the notes rewritten and committed"
)

// lab is where snapshots are measured: copies of one agent, and what each
// thing took.
type lab struct {
	snapshotConfig
	base   string // the home that is never changed
	work   string // of the round
	text   *writer
	peers  []peer
	absent []string // peers that are not installed, or do not work

	copied  series // the unit
	costs   map[string]series
	grown   map[string][]int64
	fences  []float64
	answers []answer
	sizes   struct{ agent, files, repo int64 }
}

// answer is what one recall --at read.
type answer struct {
	PagesRead  int64 `json:"pages_read"` // different ones
	PagesTotal int64 `json:"pages_total"`
	BytesRead  int64 `json:"bytes_read"`
	hits       int
}

// snapshots measures snapshots and restores of a large agent against a plain
// copy of its folder and against other tools.
func snapshots(ctx context.Context, c snapshotConfig) []line {
	if c.cache == "" {
		c.cache = c.dir
	}
	for _, path := range []*string{&c.binary, &c.dir, &c.cache} {
		*path = get(filepath.Abs(*path))
	}
	l := &lab{snapshotConfig: c, text: newWriter(c.size.Seed + 1), costs: map[string]series{}, grown: map[string][]int64{}}
	l.base = generated(ctx, c.cache, c.size)
	l.sizes.agent, l.sizes.files = folderSize(filepath.Join(l.base, agentPath))
	for _, p := range peers() {
		if missing := p.missing(); len(missing) > 0 {
			l.absent = append(l.absent, fmt.Sprintf("%s: not installed", strings.Join(missing, ", ")))
			continue
		}
		l.peers = append(l.peers, p)
	}
	if c.rounds < 1 {
		fmt.Printf("agent folder: %s in %d files; nothing else was asked for\n", mb(l.sizes.agent), l.sizes.files)
		return nil
	}
	for n := range c.rounds {
		fmt.Printf("round %d of %d\n", n+1, c.rounds)
		within(fmt.Sprint("round ", n+1), func() { l.round(ctx, n) })
	}
	if c.where {
		within("where time goes", func() { l.whereTimeGoes(ctx) })
	}
	return l.report()
}

func (l *lab) agent() string { return filepath.Join(l.work, agentPath) }

func (l *lab) repo() string {
	return filepath.Join(l.work, "tenants", string(amber.DefaultTenant), "repo")
}

// fresh makes the home of a round: the agent, and no repository.
func (l *lab) fresh(ctx context.Context, name string) {
	l.work = filepath.Join(l.dir, name)
	get(command{program: "cp", args: []string{"-a", l.base, l.work}}.runNow(ctx))
}

// round measures everything once.
func (l *lab) round(ctx context.Context, n int) {
	dir := filepath.Join(l.dir, fmt.Sprint("round-", n))
	check(os.MkdirAll(dir, 0o700))
	defer os.RemoveAll(dir)
	l.fresh(ctx, filepath.Join(filepath.Base(dir), "home"))
	l.copy(ctx, dir)
	running := l.firstOfPeers(ctx, dir)
	first := l.freeze(ctx, "first snapshot")
	l.sizes.repo, _ = folderSize(l.repo())
	last := l.changes(ctx, n, running)
	l.ask(ctx, last)
	l.timed(ctx, "verify --read-data", "snapshot", "verify", first, "--read-data")
	l.timed(ctx, "restore", "snapshot", "restore", first, "--no-safety-snapshot", "--yes")
	l.timed(ctx, "restore with full checks", "snapshot", "restore", last, "--no-safety-snapshot", "--yes")
	l.timed(ctx, "restore with safety snapshot", "snapshot", "restore", first, "--yes")
	l.restoreOfPeers(ctx, running)
	l.bundles(ctx, dir, first)
	l.copy(ctx, dir)
	get(l.amber("doctor").runNow(ctx))
}

// amber is a run of the binary on the round's home.
func (l *lab) amber(args ...string) command {
	return command{program: l.binary, args: append([]string{"--home", l.work, "--json"}, args...), dir: l.dir}
}

// timed runs the binary and keeps what it took.
func (l *lab) timed(ctx context.Context, name string, args ...string) {
	l.costs[name] = append(l.costs[name], get(l.amber(args...).run(ctx)))
}

// copy measures the unit. It always copies the agent as it was generated.
func (l *lab) copy(ctx context.Context, dir string) {
	to := filepath.Join(dir, "copy")
	took := get(copyFolder(filepath.Join(l.base, agentPath), to).run(ctx))
	l.copied = append(l.copied, took)
	check(os.RemoveAll(to))
}

// freeze takes a snapshot and returns its id.
func (l *lab) freeze(ctx context.Context, name string) string {
	l.timed(ctx, name, "snapshot", "create")
	took := l.costs[name]
	var made struct {
		ID    string  `json:"id"`
		Fence float64 `json:"fence_ms"`
	}
	check(json.Unmarshal(took[len(took)-1].stdout, &made))
	l.fences = append(l.fences, made.Fence)
	return made.ID
}

// changes makes the small changes of a round, each followed by a snapshot, and
// returns the last one. Other tools make their second copy after the first.
func (l *lab) changes(ctx context.Context, round int, running []*peerRun) (last string) {
	for n := range changesPerRound {
		l.change(ctx, round*changesPerRound+n)
		before, _ := folderSize(l.repo())
		last = l.freeze(ctx, "second snapshot")
		after, _ := folderSize(l.repo())
		l.grown["amber"] = append(l.grown["amber"], after-before)
		if n == 0 {
			l.secondOfPeers(ctx, running)
		}
	}
	return last
}

// change makes one small change with the binary.
func (l *lab) change(ctx context.Context, n int) {
	for i := range memoriesPerChange {
		title, content := l.text.text(n*memoriesPerChange + i)
		get(l.amber("remember", "-", "--title", title, "--scope", "global").with(content).runNow(ctx))
	}
	title, content := l.text.text(n)
	get(l.amber("note", "write", noteName(n%l.size.Notes), "-").with("# " + title + "\n\n" + content + "\n").runNow(ctx))
}

// with gives a command something to read.
func (c command) with(stdin string) command {
	c.stdin = stdin
	return c
}

// ask answers questions from a snapshot.
func (l *lab) ask(ctx context.Context, id string) {
	const questions = 3
	for range questions {
		words := strings.Join(l.text.question(), " ")
		l.timed(ctx, "recall --at", "recall", words, "--at", id, "--explain")
		took := l.costs["recall --at"]
		var found struct {
			Hits []json.RawMessage `json:"hits"`
			Read *answer           `json:"read"`
		}
		check(json.Unmarshal(took[len(took)-1].stdout, &found))
		if found.Read == nil || found.Read.PagesRead == 0 || found.Read.PagesTotal == 0 {
			fail("recall --at --explain does not tell what it read")
		}
		found.Read.hits = len(found.Hits)
		l.answers = append(l.answers, *found.Read)
	}
}

// firstOfPeers makes the first copy with every other tool. A tool that fails is
// left out from then on, and the outcome says why.
func (l *lab) firstOfPeers(ctx context.Context, dir string) (running []*peerRun) {
	l.peers = slices.DeleteFunc(l.peers, func(p peer) bool {
		return !l.works(p.name, func() {
			r := p.begin(ctx, filepath.Join(dir, "peer-"+p.programs[len(p.programs)-1]))
			l.peerCopy(ctx, r, 1, ": first")
			running = append(running, r)
		})
	})
	return running
}

// works reports whether another tool can do f; where it cannot, the outcome says why.
func (l *lab) works(name string, f func()) bool {
	err := attempt(f)
	if err != nil {
		l.absent = append(l.absent, fmt.Sprintf("%s: %v", name, err))
	}
	return err == nil
}

func (l *lab) peerCopy(ctx context.Context, r *peerRun, n int, what string) {
	took, grown := r.copy(ctx, l.agent(), n)
	l.costs[r.name+what] = append(l.costs[r.name+what], took)
	if n > 1 {
		l.grown[r.name] = append(l.grown[r.name], grown)
	}
}

func (l *lab) secondOfPeers(ctx context.Context, running []*peerRun) {
	for _, r := range running {
		if r.increments {
			l.works(r.name, func() { l.peerCopy(ctx, r, 2, ": second") })
		}
	}
}

func (l *lab) restoreOfPeers(ctx context.Context, running []*peerRun) {
	for _, r := range running {
		l.works(r.name, func() {
			l.costs[r.name+": restore"] = append(l.costs[r.name+": restore"], r.bring(ctx))
		})
	}
}

// mb writes bytes in millions.
func mb(n int64) string { return fmt.Sprintf("%.2f MB", float64(n)/1e6) }

func ms(d time.Duration) string { return d.Round(time.Millisecond).String() }
