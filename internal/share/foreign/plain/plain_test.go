package plain

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func memory(t testing.TB, created, content string) amber.Memory {
	t.Helper()
	return amber.Memory{Title: "not written", Content: content, CreatedAt: must.Get(foreign.Text(created))(t)}
}

func TestAMemoryIsALine(t *testing.T) {
	t.Parallel()
	c := &foreigntest.Contents{MemoryList: []amber.Memory{
		memory(t, "2026-01-02T23:59:59Z", "User drinks  oolong."),
		memory(t, "2026-01-03T01:30:00+02:00", "\n# Steps \r\n\r\n1. boil\n\t2. pour\n"),
		memory(t, "2026-01-04", "a\u2028b\u0085c\vd\fe\u2029f"),
		memory(t, "2026-01-05", " \n "),
		memory(t, "2026-01-06", "[2026-01-01] - quoted – 日本語"),
	}}
	want := "[2026-01-02] - User drinks  oolong.\n[2026-01-02] - # Steps 1. boil 2. pour\n[2026-01-04] - a b c d e f\n[2026-01-06] - [2026-01-01] - quoted – 日本語\n"
	for range 2 { // a second time it is written anew
		dir := t.TempDir()
		must.Do(t, Format.Write(t.Context(), c, foreign.WriteOptions{}, foreigntest.Folder(dir)))
		must.Equal(t, "file", string(must.Get(os.ReadFile(filepath.Join(dir, "out")))(t)), want)
	}
}

func TestItIsOnlyWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, Format.Write(t.Context(), &foreigntest.Contents{MemoryList: []amber.Memory{memory(t, "2026-01-02", "x")}}, foreign.WriteOptions{}, foreigntest.Folder(dir)))
	tree := must.Get(foreign.Open(dir))(t)
	defer func() { must.Do(t, tree.Close()) }()
	must.Equal(t, "match", Format.Detect(tree), foreign.No)
	must.Hold(t, Format.Read == nil && !Format.Folder, "the format is read, or makes a folder")
}

var errFull = errors.New("disk is full")

// full is an output whose file fails at a step.
type full struct{ step string }

func (f full) Create(string) (io.WriteCloser, error) {
	if f.step == "create" {
		return nil, errFull
	}
	return f, nil
}

func (full) Existing(string) ([]byte, error) { return nil, nil }

func (f full) Write(b []byte) (int, error) {
	if f.step == "write" {
		return 0, errFull
	}
	return len(b), nil
}

func (f full) Close() error {
	if f.step == "close" {
		return errFull
	}
	return nil
}

func TestErrorsAreTold(t *testing.T) {
	t.Parallel()
	c := &foreigntest.Contents{MemoryList: []amber.Memory{memory(t, "2026-01-02", "x")}}
	for _, step := range []string{"create", "write", "close"} {
		must.Is(t, step, Format.Write(t.Context(), c, foreign.WriteOptions{}, full{step}), errFull)
	}
	must.Is(t, "contents", Format.Write(t.Context(), broken{c}, foreign.WriteOptions{}, full{}), errFull)
}

type broken struct{ foreign.Contents }

func (broken) Memories(context.Context, func(amber.Memory) error) error { return errFull }
