package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/store/home"
)

// hooks compares processes of the binary: one that keeps an event durably, one
// that does so and looks for memories to inject, and one that prints its
// version.
func hooks(ctx context.Context, binary, dir string) []ratio {
	env := append(os.Environ(), "AMBER_HOME="+filepath.Join(dir, "hook"))
	run := func(stdin string, args ...string) time.Duration {
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Env, cmd.Stdin = env, bytes.NewReader([]byte(stdin))
		begin := time.Now()
		within(binary, func() { check(cmd.Run()) })
		return time.Since(begin)
	}
	run("", "remember", "The build needs Go 1.26")
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
			*m.times = append(*m.times, run(m.stdin, m.args...))
		}
	}
	return []ratio{
		{name: "hook process, event durable", ours: middle(hook), theirs: middle(version), what: "amber hook", base: "amber version", limit: 1.3},
		{name: "hook process with injection", ours: middle(inject), theirs: middle(version), what: "amber hook, prompt", base: "amber version"},
	}
}

func middle(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// groupCommit compares the time of one durable entry by one writer with that
// by 64, in one process.
func groupCommit(dir string) ratio {
	j := get(journal.Open(filepath.Join(dir, "group"), journal.Options{Clock: time.Now}))
	const few, many = 2000, 40_000
	var alone, crowd []time.Duration
	for range 3 {
		for _, m := range []struct {
			times      *[]time.Duration
			writers, n int
		}{{&alone, 1, few}, {&crowd, 64, many}} {
			d := appendFrom(j, m.writers, m.n)
			*m.times = append(*m.times, d/time.Duration(m.n))
		}
	}
	return ratio{
		name: "group commit, 64 writers", ours: middle(crowd), theirs: middle(alone),
		what: "a durable entry among 64 writers", base: "one of a single writer", limit: 0.1,
	}
}

// appendFrom returns how long some writers take for n entries.
func appendFrom(j *journal.Journal, writers, n int) time.Duration {
	payload := make([]byte, 300)
	s := journal.Session{Host: "bench", ID: "group"}
	begin := time.Now()
	share(writers, n, func(int64) { get(j.Append(context.Background(), s, journal.Entry{Payload: payload})) })
	return time.Since(begin)
}

// share lets some writers do what there is to do from 1 to n.
func share(writers, n int, do func(i int64)) {
	var next atomic.Int64
	errs := make(chan error, writers)
	for range writers {
		go func() {
			errs <- attempt(func() {
				for i := next.Add(1); i <= int64(n); i = next.Add(1) {
					do(i)
				}
			})
		}()
	}
	var failed error
	for range writers {
		failed = errors.Join(failed, <-errs)
	}
	check(failed)
}

// limitDrainMemory is how much memory a drain may take.
const limitDrainMemory = 64.0 // MB

// drainMemory drains events with the binary and returns how much memory the process
// took at most.
func drainMemory(ctx context.Context, c config) line {
	home := filepath.Join(c.dir, "drain")
	begin := time.Now()
	fillJournal(home, c.events)
	filled := time.Since(begin)
	took := get(command{program: c.binary, args: []string{"--home", home, "--json", "journal", "drain"}}.run(ctx))
	var report drain.Report
	check(json.Unmarshal(took.stdout, &report))
	if report.Applied != int64(c.events) {
		fail("%d of %d events were drained: %+v", report.Applied, c.events, report)
	}
	l := line{
		name: "drain: peak memory", amount: float64(took.resident) / 1e6, unit: "MB", limit: limitDrainMemory,
		note: fmt.Sprintf("%d events appended in %s, drained in %s, cpu %s; %s", c.events, ms(filled), ms(took.wall), ms(took.cpu), series{took}.memory()),
	}
	fmt.Printf("\n%s: %.1f MB (limit %.0f MB); %s\n", l.name, l.amount, l.limit, l.note)
	return l
}

// fillJournal appends events of many sessions: prompts, answers and tools.
func fillJournal(dir string, events int) {
	j := get(journal.Open(agentIn(dir).SpoolDir(), journal.Options{Clock: time.Now}))
	const perSession, writers = 20_000, 64
	share(writers, events, func(i int64) { appendEvent(j, i, i/perSession) })
}

func appendEvent(j *journal.Journal, i, session int64) {
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
	get(j.Append(context.Background(), s, journal.Entry{Payload: get(json.Marshal(ev))}))
}

func agentIn(dir string) *home.Agent {
	return get(homeIn(dir).Agent(amber.DefaultTenant, amber.DefaultAgent))
}

func homeIn(dir string) *home.Home {
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	check(err)
	return h
}
