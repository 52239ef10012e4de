package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/journal"
	"github.com/amber-memory/amber/journal/drain"
)

// hooks compares processes of the binary: one that keeps an event durably, one
// that does so and looks for memories to inject, and one that prints its
// version.
func hooks(ctx context.Context, binary, dir string) ([]ratio, error) {
	env := append(os.Environ(), "AMBER_HOME="+filepath.Join(dir, "hook"))
	run := func(stdin string, args ...string) (time.Duration, error) {
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Env, cmd.Stdin = env, bytes.NewReader([]byte(stdin))
		begin := time.Now()
		err := cmd.Run()
		return time.Since(begin), err
	}
	if _, err := run("", "remember", "The build needs Go 1.26"); err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	const rounds = 300
	var version, hook, inject []time.Duration
	for i := range rounds {
		tool := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t%d","cwd":%q,`+
			`"tool_input":{"command":"go test ./..."},"tool_response":{"stdout":"ok  \tgithub.com/acme/shop\t0.4s\n","stderr":""}}`, i, dir)
		prompt := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt_id":"p%d","cwd":%q,"prompt":"what does the build need?"}`, i, dir)
		for _, m := range []struct {
			times *[]time.Duration
			stdin string
			args  []string
		}{
			{&version, "", []string{"version"}},
			{&hook, tool, []string{"hook", "claude-code"}},
			{&inject, prompt, []string{"hook", "claude-code"}},
		} {
			d, err := run(m.stdin, m.args...)
			if err != nil {
				return nil, err
			}
			*m.times = append(*m.times, d)
		}
	}
	return []ratio{
		{name: "hook process, event durable", ours: middle(hook), theirs: middle(version), what: "amber hook", base: "amber version", limit: 1.3},
		{name: "hook process with injection", ours: middle(inject), theirs: middle(version), what: "amber hook, prompt", base: "amber version"},
	}, nil
}

func middle(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// groupCommit compares the time of one durable entry by one writer with that
// by 64, in one process.
func groupCommit(_ context.Context, dir string) (ratio, error) {
	j, err := journal.Open(filepath.Join(dir, "group"), journal.Options{Clock: time.Now})
	if err != nil {
		return ratio{}, err
	}
	const few, many = 2000, 40_000
	var alone, crowd []time.Duration
	for range 3 {
		for _, m := range []struct {
			times      *[]time.Duration
			writers, n int
		}{{&alone, 1, few}, {&crowd, 64, many}} {
			d, err := appendFrom(j, m.writers, m.n)
			if err != nil {
				return ratio{}, err
			}
			*m.times = append(*m.times, d/time.Duration(m.n))
		}
	}
	return ratio{
		name: "group commit, 64 writers", ours: middle(crowd), theirs: middle(alone),
		what: "a durable entry among 64 writers", base: "one of a single writer", limit: 0.1,
	}, nil
}

func appendFrom(j *journal.Journal, writers, n int) (time.Duration, error) {
	payload := make([]byte, 300)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	begin := time.Now()
	s := journal.Session{Host: "bench", ID: "group"}
	for range writers {
		wg.Go(func() {
			for next.Add(1) <= int64(n) {
				if _, err := j.Append(context.Background(), s, journal.Entry{Payload: payload}); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return time.Since(begin), nil
}

// limitDrainMemory is how much memory a drain may take.
const limitDrainMemory = 64.0 // MB

// drainMemory drains events with the binary and returns how much memory the process
// took at most.
func drainMemory(ctx context.Context, c config) (line, error) {
	home := filepath.Join(c.dir, "drain")
	begin := time.Now()
	if err := fillJournal(home, c.events); err != nil {
		return line{}, err
	}
	filled := time.Since(begin)
	took, err := command{program: c.binary, args: []string{"--home", home, "--json", "journal", "drain"}}.run(ctx)
	if err != nil {
		return line{}, err
	}
	var report drain.Report
	if err := json.Unmarshal(took.stdout, &report); err != nil {
		return line{}, err
	}
	if report.Applied != int64(c.events) {
		return line{}, fmt.Errorf("%d of %d events were drained: %+v", report.Applied, c.events, report)
	}
	l := line{
		name: "drain: peak memory", amount: float64(took.resident) / 1e6, unit: "MB", limit: limitDrainMemory,
		note: fmt.Sprintf("%d events appended in %s, drained in %s, cpu %s; %s", c.events, ms(filled), ms(took.wall), ms(took.cpu), series{took}.memory()),
	}
	fmt.Printf("\n%s: %.1f MB (limit %.0f MB); %s\n", l.name, l.amount, l.limit, l.note)
	return l, nil
}

// fillJournal appends events of many sessions: prompts, answers and tools.
func fillJournal(dir string, events int) error {
	agent, err := agentIn(dir)
	if err != nil {
		return err
	}
	j, err := journal.Open(agent.SpoolDir(), journal.Options{Clock: time.Now})
	if err != nil {
		return err
	}
	const perSession, writers = 20_000, 64
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(events); i = next.Add(1) {
				if err := appendEvent(j, i, i/perSession); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

func appendEvent(j *journal.Journal, i, session int64) error {
	s := journal.Session{Host: "bench", ID: amber.SessionID(fmt.Sprint("s", session))}
	ev := journal.HostEvent{
		Schema: journal.HostEventSchema, EventID: fmt.Sprintf("%032x", i), Native: true, Host: s.Host, SessionID: s.ID,
		ObservedAt: amber.At(time.Now()), Directory: "/src/shop", Project: "acme/shop",
	}
	switch i % 10 {
	case 0:
		ev.Kind, ev.Prompt = journal.HostPrompt, fmt.Sprint("please look at issue ", i)
	case 1:
		ev.Kind, ev.Answer = journal.HostTurnEnd, fmt.Sprintf("Done with %d; all tests pass and the change is small.", i)
	default:
		ev.Kind = journal.HostToolAfter
		ev.Tool = &journal.HostTool{Name: "Bash", Command: fmt.Sprint("go test ./pkg", i%700), Output: "ok"}
		ev.Files = []journal.HostFile{{Path: fmt.Sprint("pkg", i%900, "/main.go"), Action: journal.FileModified}}
	}
	b, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	_, err = j.Append(context.Background(), s, journal.Entry{Payload: b})
	return err
}

func agentIn(dir string) (*home.Agent, error) {
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	return h.Agent(amber.DefaultTenant, amber.DefaultAgent)
}
