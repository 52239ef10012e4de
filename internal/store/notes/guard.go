package notes

import (
	"context"
	"path/filepath"
)

// Guard says where the notes are, and when they may be written.
type Guard interface {
	// Write runs fn while no other writer of the notes runs, in this process or another. dir is the
	// absolute path of the notes of the live generation; it need not exist. The error is that of fn, or
	// tells why fn was not run.
	Write(ctx context.Context, fn func(dir string) error) error

	// Read runs fn while the folder stays where it is. Readers and one writer may run at the same time.
	Read(ctx context.Context, fn func(dir string) error) error
}

// Fixed returns a guard for a folder that never moves and that only this process writes, through
// this one guard.
func Fixed(dir string) Guard { return &fixed{dir: dir, turn: make(chan struct{}, 1)} }

type fixed struct {
	dir  string
	turn chan struct{} // holds one token while a writer runs
}

func (g *fixed) Write(ctx context.Context, fn func(dir string) error) error {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-g.turn }()
	return g.Read(ctx, fn)
}

func (g *fixed) Read(ctx context.Context, fn func(dir string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := filepath.Abs(g.dir)
	if err != nil {
		return err
	}
	return fn(dir)
}
