package gitsync_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

var trials = flag.Int("trials", 3, "how many exporters are killed")

// childVariable says what a copy of the test binary is to do instead of
// testing.
const childVariable = "AMBER_GITSYNC_TEST_CHILD"

func TestMain(m *testing.M) {
	job := os.Getenv(childVariable)
	if job == "" {
		os.Exit(m.Run())
	}
	if err := child(strings.Split(job, "\n")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child saves and exports: home, folder, its name and how often. It prints
// each text once it is acknowledged, and "exported" after each export.
func child(job []string) error {
	ctx := context.Background()
	store, sync, err := openPlain(ctx, job[0], job[1])
	if err != nil {
		return err
	}
	defer store.Close()
	n, err := strconv.Atoi(job[3])
	if err != nil {
		return err
	}
	for i := range n {
		text := fmt.Sprintf("process %s thinks %d", job[2], i)
		_, err := store.Write(ctx, amber.WriteRequest{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: shop}, Content: text})
		if err != nil {
			return err
		}
		fmt.Println(text)
		if _, err := sync.Export(ctx, gitsync.ExportOptions{CreatedBy: job[2]}); err != nil {
			return err
		}
		fmt.Println("exported")
	}
	return nil
}

// openPlain opens a store and a folder on real time.
func openPlain(ctx context.Context, dir, folder string) (*sqlite.Store, *gitsync.Sync, error) {
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, nil, err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, nil, err
	}
	sync, err := gitsync.Options{Prompts: true}.Open(store, folder)
	return store, sync, err
}

// start runs a copy of the test binary that saves and exports n times, and
// calls each with every line it prints.
func start(t *testing.T, each func(line string), dir, folder, name string, n int) (cmd *exec.Cmd, done <-chan struct{}) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{dir, folder, name, strconv.Itoa(n)}, "\n"))
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	ended := make(chan struct{})
	go func() { // ends with the process, whose output it drains
		defer close(ended)
		for in := bufio.NewScanner(out); in.Scan(); {
			each(in.Text())
		}
	}()
	return cmd, ended
}

// holds counts the versions in the chunks of a folder, by what they are about.
// Every file has the name of its bytes, and no temporary file is left.
func holds(t *testing.T, fsys fsx.FS, folder string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, part := range partsIn(t, fsys, folder, true) {
		for _, r := range must.Get(chunk.Decode(part.ID, part.Bytes))(t).Records {
			out[fmt.Sprint(r.Ref(), r.Origin(), r.Erased != nil)]++
		}
	}
	return out
}

// partsIn returns the chunks in a folder, each once.
func partsIn(t *testing.T, fsys fsx.FS, folder string, tidy bool) (out []chunk.Part) {
	t.Helper()
	dir := filepath.Join(folder, "chunks")
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	must.Do(t, err)
	seen := map[chunk.ID]bool{}
	for _, e := range entries {
		id, ok := chunk.ParseFileName(e.Name())
		switch {
		case !ok && strings.HasPrefix(e.Name(), fsx.TempPrefix) && !tidy:
			continue
		case !ok:
			t.Fatalf("%s is left", e.Name())
		}
		b := must.Get(fsx.ReadFile(fsys, filepath.Join(dir, e.Name()), chunk.MaxFileBytes))(t)
		parts, err := chunk.Open(id, b)
		if err != nil {
			t.Fatalf("a file under the name of a chunk: %v", err)
		}
		for _, p := range parts {
			if !seen[p.ID] {
				out = append(out, p)
			}
			seen[p.ID] = true
		}
	}
	return out
}

func TestProcessesThatExportAtOnceWriteEachVersionOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	homeDir, folder := filepath.Join(dir, "home"), filepath.Join(dir, "tree", ".amber")
	const each, processes = 15, 3
	var cmds []*exec.Cmd
	var ends []<-chan struct{}
	for i := range processes {
		cmd, end := start(t, func(string) {}, homeDir, folder, fmt.Sprint(i), each)
		cmds, ends = append(cmds, cmd), append(ends, end)
	}
	for i, cmd := range cmds {
		<-ends[i]
		if err := cmd.Wait(); err != nil {
			t.Fatalf("process %d: %v", i, err)
		}
	}
	held := holds(t, fsx.OS(), folder)
	must.Equal(t, "versions in the chunks", len(held), processes*each)
	for what, n := range held {
		must.Equal(t, fmt.Sprintf("chunks with %s", what), n, 1)
	}
}

func TestKilledExportersLoseNothing(t *testing.T) {
	t.Parallel()
	for trial := range *trials {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(trial))
		homeDir, folder := filepath.Join(dir, "home"), filepath.Join(dir, "tree", ".amber")
		r := mathrand.New(mathrand.NewPCG(mathrand.Uint64(), 0))
		var acked []string
		busy := make(chan struct{})
		cmd, end := start(t, func(line string) {
			if line == "exported" {
				if len(acked) == 2 {
					close(busy)
				}
				return
			}
			if strings.HasPrefix(line, "process killed thinks ") {
				acked = append(acked, line)
			}
		}, homeDir, folder, "killed", 1000)
		<-busy
		time.Sleep(time.Duration(r.IntN(40_000)) * time.Microsecond) // so that the kill hits it anywhere in its work
		must.Do(t, cmd.Process.Kill())
		<-end
		_ = cmd.Wait() // killed
		partsIn(t, fsx.OS(), folder, false)
		a := &clone{t: t, folder: folder}
		var err error
		if a.Store, a.sync, err = openPlain(t.Context(), homeDir, folder); err != nil {
			t.Fatal(err)
		}
		a.export(gitsync.ExportOptions{})
		if again := a.export(gitsync.ExportOptions{}); !again.IsEmpty {
			t.Errorf("a second export wrote %+v", again)
		}
		holds(t, fsx.OS(), folder) // and nothing is left
		b := newClone(t)
		a.gives(b)
		if r := b.imports(); len(r.Quarantined)+len(r.Missing) > 0 {
			t.Errorf("quarantined %v, missing %v", r.Quarantined, r.Missing)
		}
		got, here := b.texts(), a.texts()
		must.Equal(t, "texts that arrived", got, here)
		must.Equal(t, "texts that differ", len(slices.Compact(slices.Clone(got))), len(got))
		for _, text := range acked {
			if _, found := slices.BinarySearch(got, text); !found {
				t.Errorf("%q was acknowledged and is missing", text)
			}
		}
		must.Do(t, a.Close())
	}
}
