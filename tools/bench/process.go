package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// command is a process to measure.
type command struct {
	program string
	args    []string
	env     []string // beside the environment of this process
	dir     string
	stdin   string
}

// cost is what one run of a process took.
type cost struct {
	wall     time.Duration
	cpu      time.Duration // of all cores
	resident int64         // bytes at most; 0: not known
	own      int64         // of them, not pages of files that the kernel shares; 0: not known
	stdout   []byte
}

// run measures one process, its children included. It syncs the disks first, so that
// the process does not pay for the writes of the one before. A
// process begins as a copy of the one that started it, and the memory of that
// counts as its own; so it is started by one that has hardly any.
func (c command) run(ctx context.Context) (cost, error) {
	syncDisks()
	usage, err := os.CreateTemp("", "amber-bench-usage-")
	if err != nil {
		return cost{}, err
	}
	defer os.Remove(usage.Name())
	defer usage.Close()
	starter := c
	starter.program, starter.args = os.Args[0], append([]string{c.program}, c.args...)
	starter.env = append(slices.Clone(c.env), starterJob+"="+usage.Name())
	took, err := starter.runNow(ctx)
	if err != nil {
		return took, fmt.Errorf("%s: %w", c.program, err)
	}
	var told usageReport
	if err := json.NewDecoder(usage).Decode(&told); err != nil {
		return took, err
	}
	took.wall, took.cpu, took.resident, took.own = told.Wall, told.CPU, told.Resident, told.Own
	return took, nil
}

// starterJob names the file to which a process that starts another one writes
// what that took.
const starterJob = "AMBER_BENCH_STARTER"

// usageReport is the report of a starter.
type usageReport struct {
	Wall, CPU     time.Duration
	Resident, Own int64
}

// start runs a program, reports what it took, and returns its exit code.
func start(file string, args []string) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, starterJob+"=") })
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	own := watchOwn(cmd.Process.Pid)
	err := cmd.Wait()
	told := usageReport{Wall: time.Since(begin), Own: own()}
	s := cmd.ProcessState
	if s == nil {
		return 0, err
	}
	told.CPU, told.Resident = s.UserTime()+s.SystemTime(), maxResident(s)
	b, err := json.Marshal(told)
	if err != nil {
		return 0, err
	}
	return s.ExitCode(), os.WriteFile(file, b, 0o600)
}

// watchOwn looks at a process every 20 ms until the function that it returns is called.
// That function returns the most memory the process itself had at any of these moments:
// code and constants, which are pages of the program's file, are not counted.
func watchOwn(pid int) (most func() int64) {
	done, result := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		highest := int64(0)
		for {
			select {
			case <-done:
				result <- highest
				return
			case <-tick.C:
				if resident, shared, err := memoryOf(pid); err == nil {
					highest = max(highest, resident-shared)
				}
			}
		}
	}()
	return func() int64 { close(done); return <-result }
}

// memoryOf returns how many bytes of memory a process has, and how many of them are pages
// of files. Only Linux tells.
func memoryOf(pid int) (resident, shared int64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, 0, err
	}
	var size int64
	if _, err := fmt.Sscan(string(b), &size, &resident, &shared); err != nil {
		return 0, 0, err
	}
	page := int64(os.Getpagesize())
	return resident * page, shared * page, nil
}

// processorOf returns how long processors have worked for a process. Only Linux tells.
func processorOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	const first, user, system = 3, 14, 15 // fields, in the order of proc(5); those behind the name begin with the third
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) <= system-first {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields behind the name, want more than %d", pid, len(fields), system-first)
	}
	var ticks int64
	for _, f := range []int{user, system} {
		n, err := strconv.ParseInt(fields[f-first], 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// runNow runs a process at once. The memory of this one counts as its own.
func (c command) runNow(ctx context.Context) (cost, error) {
	cmd := exec.CommandContext(ctx, c.program, c.args...)
	cmd.Env, cmd.Dir = append(os.Environ(), c.env...), c.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	begin := time.Now()
	err := cmd.Run()
	took := cost{wall: time.Since(begin), stdout: stdout.Bytes()}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(c.args, " "), err, lastLines(stderr.String()))
	}
	return took, err
}

// lastLines is the end of what a process complained about.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

// series are the costs of one thing, once per round.
type series []cost

// wall is the median time.
func (s series) wall() time.Duration {
	return middle(each(s, func(c cost) time.Duration { return c.wall }))
}

// cpu is the median time of all cores.
func (s series) cpu() time.Duration {
	return middle(each(s, func(c cost) time.Duration { return c.cpu }))
}

// resident is the most memory any run took; 0: there was none.
func (s series) resident() int64 {
	return slices.Max(append(each(s, func(c cost) int64 { return c.resident }), 0))
}

func each[F, T any](list []F, of func(F) T) (all []T) {
	for _, v := range list {
		all = append(all, of(v))
	}
	return all
}

// memory returns in words the most memory any run took, and how much of it is not shared.
func (s series) memory() string {
	own := slices.Max(append(each(s, func(c cost) int64 { return c.own }), 0))
	if own == 0 {
		return fmt.Sprintf("at most %s resident", mb(s.resident()))
	}
	return fmt.Sprintf("at most %s resident, %s without pages of files", mb(s.resident()), mb(own))
}

// spread tells the shortest and the longest run.
func (s series) spread() string {
	if len(s) == 0 {
		return ""
	}
	byTime := func(a, b cost) int { return int(a.wall - b.wall) }
	low, high := slices.MinFunc(s, byTime), slices.MaxFunc(s, byTime)
	return fmt.Sprintf("%s to %s", low.wall.Round(time.Millisecond), high.wall.Round(time.Millisecond))
}
