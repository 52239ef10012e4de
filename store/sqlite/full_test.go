//go:build linux

package sqlite

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// smallDisk mounts a file system of a few megabytes until the test ends.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may mount a small disk, and SQLite cannot be given a simulated one; errors of the disk are injected in the other packages")
	}
	must.Do(t, err)
	t.Cleanup(func() {
		must.NoError(t, syscall.Unmount(dir, 0))
	})
	return dir
}

// fill takes all but some bytes of a file system's free space and returns the
// file that takes it.
func fill(t *testing.T, dir string, free int64) string {
	t.Helper()
	var st syscall.Statfs_t
	must.Do(t, syscall.Statfs(dir, &st))
	path := filepath.Join(dir, "ballast")
	must.Do(t, os.WriteFile(path, make([]byte, max(0, int64(st.Bavail)*st.Bsize-free)), 0o600))
	return path
}

// wantHint fails unless err is one error of Amber's with a hint at what to do.
func wantHint(t *testing.T, err error, what string) {
	t.Helper()
	if e, ok := errors.AsType[*amber.Error](err); !ok || e.Hint == "" || e.Op == "" {
		t.Errorf("%s: %v has no hint", what, err)
	}
	must.Kind(t, what, err, amber.KindInternal)
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	disk := smallDisk(t, "12m")
	a := agentIn(t, filepath.Join(disk, "home"))
	s := must.Get(Open(ctx, a, Options{Clock: newHandClock().Now, Random: rand.Reader}))(t)
	ballast := fill(t, disk, 4<<20)

	texts := map[amber.MemoryID]string{}
	for full := 0; full < 3; { // it stays full
		text := fmt.Sprintf("memory %d %s", len(texts)+full, strings.Repeat("of a few words ", 300))
		ack, err := s.Write(ctx, amber.WriteRequest{Content: text})
		if err != nil {
			wantHint(t, err, "write on a full disk")
			full++
			continue
		}
		texts[ack.ID] = text
		if len(texts) > 5000 {
			t.Fatal("the disk does not get full")
		}
	}
	readable(t, s, texts)
	must.Equal(t, "memories recalled on a full disk", len(found(t, s, amber.Query{Text: "words", Limit: 3})), 3)
	if _, err := s.SaveTask(ctx, amber.Task{ID: "t", Goal: strings.Repeat("goal ", 1000)}, 0); err != nil {
		wantHint(t, err, "task on a full disk")
	}

	must.Do(t, os.Remove(ballast))
	id := save(t, s, amber.WriteRequest{Content: "there is room again"})
	texts[id] = "there is room again"
	readable(t, s, texts)
	sound(t, s)
	must.Do(t, s.Close())
	s = openAgent(t, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	readable(t, s, texts)
	must.Equal(t, "memories, of those acknowledged", must.Get(s.Stats(ctx))(t).Memories, int64(len(texts)))
}

// On a disk that gets full under many writers, each writer learns whether its own
// memory was stored.
func TestFullDiskUnderManyWriters(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "12m")
	a := agentIn(t, filepath.Join(disk, "home"))
	s := openAgent(t, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	ballast := fill(t, disk, 4<<20)
	texts := map[amber.MemoryID]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for n := range 200 {
				text := fmt.Sprintf("memory %d of writer %d %s", n, w, strings.Repeat("of a few words ", 300))
				ack, err := s.Write(t.Context(), amber.WriteRequest{Content: text})
				if err != nil {
					wantHint(t, err, "write on a full disk")
					return
				}
				mu.Lock()
				texts[ack.ID] = text
				mu.Unlock()
			}
			t.Error("the disk does not get full")
		})
	}
	wg.Wait()
	must.Do(t, os.Remove(ballast))
	id := save(t, s, amber.WriteRequest{Content: "there is room again"})
	texts[id] = "there is room again"
	again := openAgent(t, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	readable(t, again, texts)
	must.Equal(t, "memories, of those acknowledged", must.Get(again.Stats(t.Context()))(t).Memories, int64(len(texts)))
	sound(t, again)
}

// readable fails unless each memory has its text.
func readable(t *testing.T, s *Store, texts map[amber.MemoryID]string) {
	t.Helper()
	for id, text := range texts {
		must.Equal(t, "acknowledged memory", must.Get(s.Get(t.Context(), id))(t).Content, text)
	}
}

// However far a creation gets before the disk is full, it can be begun again.
func TestAgentIsMadeOnAFullDisk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	disk := smallDisk(t, "12m")
	h, _, err := home.Open(filepath.Join(disk, "home"), home.Options{Clock: newHandClock().Now, Random: rand.Reader})
	must.Do(t, err)
	failed := 0
	for _, free := range []int64{0, 4, 16, 32, 150, 300, 470} { // kilobytes
		a := must.Get(h.Agent(amber.DefaultTenant, amber.AgentID(fmt.Sprint("agent-", free))))(t)
		ballast := fill(t, disk, free<<10)
		s, err := Open(ctx, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
		if err != nil {
			wantHint(t, err, fmt.Sprintf("open with %d kilobytes free", free))
			failed++
		} else {
			must.Do(t, s.Close())
		}
		must.Do(t, os.Remove(ballast))
		s = must.Get(Open(ctx, a, Options{Clock: newHandClock().Now, Random: rand.Reader}))(t)
		save(t, s, amber.WriteRequest{Content: "it works"})
		sound(t, s)
		must.Do(t, s.Close())
		must.Do(t, os.RemoveAll(a.Dir()))
	}
	must.Hold(t, failed != 0, "every creation succeeded: the test tests nothing")
}
