package main

import (
	"context"
	"encoding/json"
	"errors"
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
	base   string // the home nobody changes
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
func snapshots(ctx context.Context, c snapshotConfig) ([]line, error) {
	if c.cache == "" {
		c.cache = c.dir
	}
	var err error
	for _, path := range []*string{&c.binary, &c.dir, &c.cache} {
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, err
		}
	}
	l := &lab{snapshotConfig: c, text: newWriter(c.size.Seed + 1), costs: map[string]series{}, grown: map[string][]int64{}}
	if l.base, err = generated(ctx, c.cache, c.size); err != nil {
		return nil, err
	}
	if l.sizes.agent, l.sizes.files, err = folderSize(filepath.Join(l.base, agentPath)); err != nil {
		return nil, err
	}
	for _, p := range peers() {
		if missing := p.missing(); len(missing) > 0 {
			l.absent = append(l.absent, fmt.Sprintf("%s: not installed", strings.Join(missing, ", ")))
			continue
		}
		l.peers = append(l.peers, p)
	}
	if c.rounds < 1 {
		fmt.Printf("agent folder: %s in %d files; nothing else was asked for\n", mb(l.sizes.agent), l.sizes.files)
		return nil, nil
	}
	for n := range c.rounds {
		fmt.Printf("round %d of %d\n", n+1, c.rounds)
		if err := l.round(ctx, n); err != nil {
			return nil, fmt.Errorf("round %d: %w", n+1, err)
		}
	}
	if c.where {
		if err := l.whereTimeGoes(ctx); err != nil {
			return nil, fmt.Errorf("where time goes: %w", err)
		}
	}
	return l.report(), nil
}

func (l *lab) agent() string { return filepath.Join(l.work, agentPath) }

func (l *lab) repo() string {
	return filepath.Join(l.work, "tenants", string(amber.DefaultTenant), "repo")
}

// fresh makes the home of a round: the agent, and no repository.
func (l *lab) fresh(ctx context.Context, name string) error {
	l.work = filepath.Join(l.dir, name)
	_, err := command{program: "cp", args: []string{"-a", l.base, l.work}}.runNow(ctx)
	return err
}

// round measures everything once.
func (l *lab) round(ctx context.Context, n int) error {
	dir := filepath.Join(l.dir, fmt.Sprint("round-", n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := l.fresh(ctx, filepath.Join(filepath.Base(dir), "home")); err != nil {
		return err
	}
	if err := l.copy(ctx, dir); err != nil {
		return err
	}
	running := l.firstOfPeers(ctx, dir)
	first, err := l.freeze(ctx, "first snapshot")
	if err != nil {
		return err
	}
	if l.sizes.repo, _, err = folderSize(l.repo()); err != nil {
		return err
	}
	last, err := l.changes(ctx, n, running)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return l.ask(ctx, last) },
		func() error { return l.timed(ctx, "verify --read-data", "snapshot", "verify", first, "--read-data") },
		func() error {
			return l.timed(ctx, "restore", "snapshot", "restore", first, "--no-safety-snapshot", "--yes")
		},
		func() error {
			return l.timed(ctx, "restore with full checks", "snapshot", "restore", last, "--no-safety-snapshot", "--yes")
		},
		func() error {
			return l.timed(ctx, "restore with safety snapshot", "snapshot", "restore", first, "--yes")
		},
		func() error { return l.restoreOfPeers(ctx, running) },
		func() error { return l.bundles(ctx, dir, first) },
		func() error { return l.copy(ctx, dir) },
		func() error { _, err := l.amber("doctor").runNow(ctx); return err },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// amber is a run of the binary on the round's home.
func (l *lab) amber(args ...string) command {
	return command{program: l.binary, args: append([]string{"--home", l.work, "--json"}, args...), dir: l.dir}
}

// timed runs the binary and keeps what it took.
func (l *lab) timed(ctx context.Context, name string, args ...string) error {
	took, err := l.amber(args...).run(ctx)
	if err == nil {
		l.costs[name] = append(l.costs[name], took)
	}
	return err
}

// copy measures the unit. It always copies the agent that nobody changed.
func (l *lab) copy(ctx context.Context, dir string) error {
	to := filepath.Join(dir, "copy")
	took, err := copyFolder(filepath.Join(l.base, agentPath), to).run(ctx)
	if err != nil {
		return err
	}
	l.copied = append(l.copied, took)
	return os.RemoveAll(to)
}

// freeze takes a snapshot and returns its id.
func (l *lab) freeze(ctx context.Context, name string) (string, error) {
	if err := l.timed(ctx, name, "snapshot", "create"); err != nil {
		return "", err
	}
	took := l.costs[name]
	var made struct {
		ID    string  `json:"id"`
		Fence float64 `json:"fence_ms"`
	}
	err := json.Unmarshal(took[len(took)-1].stdout, &made)
	l.fences = append(l.fences, made.Fence)
	return made.ID, err
}

// changes makes the small changes of a round, each followed by a snapshot, and
// returns the last one. Other tools make their second copy after the first.
func (l *lab) changes(ctx context.Context, round int, running []*peerRun) (last string, err error) {
	for n := range changesPerRound {
		if err := l.change(ctx, round*changesPerRound+n); err != nil {
			return "", err
		}
		before, _, err := folderSize(l.repo())
		if err != nil {
			return "", err
		}
		if last, err = l.freeze(ctx, "second snapshot"); err != nil {
			return "", err
		}
		after, _, err := folderSize(l.repo())
		if err != nil {
			return "", err
		}
		l.grown["amber"] = append(l.grown["amber"], after-before)
		if n == 0 {
			l.secondOfPeers(ctx, running)
		}
	}
	return last, nil
}

// change makes one small change with the binary.
func (l *lab) change(ctx context.Context, n int) error {
	for i := range memoriesPerChange {
		title, content := l.text.text(n*memoriesPerChange + i)
		if _, err := l.amber("remember", "-", "--title", title, "--scope", "global").with(content).runNow(ctx); err != nil {
			return err
		}
	}
	title, content := l.text.text(n)
	_, err := l.amber("note", "write", noteName(n%l.size.Notes), "-").with("# " + title + "\n\n" + content + "\n").runNow(ctx)
	return err
}

// with gives a command something to read.
func (c command) with(stdin string) command {
	c.stdin = stdin
	return c
}

// ask answers questions from a snapshot.
func (l *lab) ask(ctx context.Context, id string) error {
	const questions = 3
	for range questions {
		words := strings.Join(l.text.question(), " ")
		if err := l.timed(ctx, "recall --at", "recall", words, "--at", id, "--explain"); err != nil {
			return err
		}
		took := l.costs["recall --at"]
		var found struct {
			Hits []json.RawMessage `json:"hits"`
			Read *answer           `json:"read"`
		}
		if err := json.Unmarshal(took[len(took)-1].stdout, &found); err != nil {
			return err
		}
		if found.Read == nil || found.Read.PagesRead == 0 || found.Read.PagesTotal == 0 {
			return errors.New("recall --at --explain does not tell what it read")
		}
		found.Read.hits = len(found.Hits)
		l.answers = append(l.answers, *found.Read)
	}
	return nil
}

// firstOfPeers makes the first copy with every other tool. One that fails is
// left out from then on, and the outcome says why.
func (l *lab) firstOfPeers(ctx context.Context, dir string) (running []*peerRun) {
	l.peers = slices.DeleteFunc(l.peers, func(p peer) bool {
		r, err := p.begin(ctx, filepath.Join(dir, "peer-"+p.programs[len(p.programs)-1]))
		if err == nil {
			err = l.peerCopy(ctx, r, 1, ": first")
		}
		if err != nil {
			l.absent = append(l.absent, fmt.Sprintf("%s: %v", p.name, err))
			return true
		}
		running = append(running, r)
		return false
	})
	return running
}

func (l *lab) peerCopy(ctx context.Context, r *peerRun, n int, what string) error {
	took, grown, err := r.copy(ctx, l.agent(), n)
	if err != nil {
		return err
	}
	l.costs[r.name+what] = append(l.costs[r.name+what], took)
	if n > 1 {
		l.grown[r.name] = append(l.grown[r.name], grown)
	}
	return nil
}

func (l *lab) secondOfPeers(ctx context.Context, running []*peerRun) {
	for _, r := range running {
		if !r.increments {
			continue
		}
		if err := l.peerCopy(ctx, r, 2, ": second"); err != nil {
			l.absent = append(l.absent, fmt.Sprintf("%s: %v", r.name, err))
		}
	}
}

func (l *lab) restoreOfPeers(ctx context.Context, running []*peerRun) error {
	for _, r := range running {
		took, err := r.bring(ctx)
		if err != nil {
			l.absent = append(l.absent, fmt.Sprintf("%s: %v", r.name, err))
			continue
		}
		l.costs[r.name+": restore"] = append(l.costs[r.name+": restore"], took)
	}
	return nil
}

// mb tells bytes in millions.
func mb(n int64) string { return fmt.Sprintf("%.2f MB", float64(n)/1e6) }

func ms(d time.Duration) string { return d.Round(time.Millisecond).String() }
