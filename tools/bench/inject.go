package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/embed"
	"github.com/amber-memory/amber/store/sqlite"
)

// How context is measured that hooks put before prompts.
const (
	injectProject = "host.invalid/acme/shop"
	injectLoad    = 8 // threads that do nothing but compute
	injectPrompts = 300
	limitLate     = 1.0 // per cent of the prompts
)

// injects measures hooks that look for memories in a large store while the machine is busy:
// how many are late, and how long the process takes. Once each hook opens the store, once
// they ask the process that the first of them has started to drain the journal, once a server
// of the home.
func injects(ctx context.Context, c config) outcome {
	i := injection{ctx: ctx, binary: c.binary, dir: filepath.Join(c.dir, "inject"), text: newWriter(uint64(time.Now().UnixNano()))}
	i.work = filepath.Join(i.dir, "shop")
	check(os.MkdirAll(filepath.Join(i.work, ".git"), 0o700))
	check(os.WriteFile(filepath.Join(i.work, ".git", "config"), []byte("[remote \"origin\"]\n\turl = https://"+injectProject+".git\n"), 0o600))
	i.fill(c.large)
	check(i.command("project", "trust", "--yes").Run()) // the memories came before the folder
	var out outcome
	i.flags = []string{"--no-drain"} // no process answers
	out.lines = append(out.lines, i.measure("each opens the store", 0)...)
	i.flags = nil // the first hook starts a process
	out.lines = append(out.lines, i.measure("the process behind hooks is asked", limitLate)...)
	stop := i.serve()
	out.lines = append(out.lines, i.measure("a server is asked", limitLate)...)
	stop()
	printLines(out.lines)
	return out
}

type injection struct {
	ctx               context.Context
	binary, dir, work string
	text              *writer
	prompts           int
	flags             []string // of the hook
}

func (i *injection) home() string { return filepath.Join(i.dir, "home") }

func (i *injection) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(i.ctx, i.binary, append([]string{name}, args...)...)
	cmd.Env, cmd.Dir = append(os.Environ(), "AMBER_HOME="+i.home(), "XDG_CONFIG_HOME="+i.dir), i.work
	return cmd
}

// fill makes a store of n memories of the project, each with a vector under the name of the
// built-in model. The vectors mean nothing: to scan them costs the same.
func (i *injection) fill(n int) {
	o := options()
	o.Model = noise{embed.OnDemand{}.Name()}
	s := get(sqlite.Open(i.ctx, agentIn(i.home()), o))
	begin := time.Now()
	for at := 0; at < n; at += amber.MaxBatchSize {
		batch := make([]amber.WriteRequest, min(amber.MaxBatchSize, n-at))
		for k := range batch {
			title, content := i.text.text(at + k)
			batch[k] = amber.WriteRequest{Title: title, Content: content, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: injectProject}}
		}
		get(s.WriteBatch(i.ctx, batch))
	}
	check(s.SyncIndex(i.ctx, nil, nil))
	check(s.Close())
	fmt.Printf("inject: %d memories and vectors stored in %s\n", n, time.Since(begin).Round(time.Second))
}

// noise is a model without meaning.
type noise struct{ name string }

func (m noise) Name() string { return m.name }

func (m noise) Embed(_ context.Context, texts []string, _ bool) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for k, text := range texts {
		r := rand.New(rand.NewPCG(uint64(len(text)), uint64(k)))
		out[k] = make([]float32, 384)
		for d := range out[k] {
			out[k][d] = float32(r.NormFloat64() / 20)
		}
	}
	return out, nil
}

// serve starts a server of the home, and returns what ends it.
func (i *injection) serve() (stop func()) {
	cmd := i.command("serve", "--listen", "127.0.0.1:0", "--log-level", "error")
	out := get(cmd.StdoutPipe())
	check(cmd.Start())
	get(bufio.NewReader(out).ReadString('\n'))
	i.prompt() // opens the agent
	return func() {
		check(cmd.Process.Signal(os.Interrupt))
		check(cmd.Wait())
	}
}

// prompt sends one prompt to the hook and returns how long that took, and whether the hook
// says that it was late.
func (i *injection) prompt() (took time.Duration, late bool) {
	i.prompts++
	words := append(i.text.question(), i.text.question()...)
	event := fmt.Sprintf(`{"session_id":"s%d","hook_event_name":"UserPromptSubmit","cwd":%q,"prompt":"why does %s fail?"}`, i.prompts, i.work, strings.Join(words, " "))
	var errs bytes.Buffer
	cmd := i.command("hook", append([]string{"claude-code"}, i.flags...)...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(event), &errs
	begin := time.Now()
	check(cmd.Run())
	took = time.Since(begin)
	return took, strings.Contains(errs.String(), "in time") || strings.Contains(errs.String(), "used up")
}

// measure sends prompts while the machine is busy. Limit is how many per cent may be late; 0:
// it is for comparison.
func (i *injection) measure(how string, limit float64) []line {
	i.prompt() // files are in the cache
	idle := busy(injectLoad)
	defer idle()
	var took []time.Duration
	late := 0
	for range injectPrompts {
		d, isLate := i.prompt()
		took = append(took, d)
		if isLate {
			late++
		}
	}
	slices.Sort(took)
	return []line{
		{name: "prompts without an answer in time, " + how, amount: 100 * float64(late) / injectPrompts, unit: "%", limit: limit, note: fmt.Sprintf("%d of %d", late, injectPrompts)},
		{name: "hook process with injection, " + how, wall: took[len(took)/2], note: fmt.Sprintf("p95 %s, p99 %s", rounded(took[len(took)*95/100]), rounded(took[len(took)*99/100]))},
	}
}

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// busy keeps threads computing until stop is called.
func busy(threads int) (stop func()) {
	before := runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + threads)
	var done atomic.Bool
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for n := uint64(1); !done.Load(); n = n*6364136223846793005 + 1442695040888963407 {
			}
		})
	}
	return func() {
		done.Store(true)
		all.Wait()
		runtime.GOMAXPROCS(before)
	}
}
