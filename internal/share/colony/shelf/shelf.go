package shelf

import (
	"cmp"
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/store/home"
)

// turn names the turn that writers of vaults take.
const turn = "vault"

// Bounds.
const (
	// DefaultMaxFiles is how many files a vault holds unless the operator sets another number.
	DefaultMaxFiles = 1000
	// MaxFileLimit is the largest file that any vault may be allowed to hold: files
	// are read to memory.
	MaxFileLimit = 64 << 20
)

// Options say how a vault is kept. Clock is required.
type Options struct {
	Clock  amber.Clock
	FS     fsx.FS // nil: the operating system's
	Limits Limits
}

// Limits bound what is put into a vault. Files that are stored already are read
// and counted even if they exceed the limits.
type Limits struct {
	Quota    int64 // bytes of all contents together; 0: colony.DefaultQuota
	MaxFile  int64 // bytes of one content, at most MaxFileLimit; 0: colony.MaxFileBytes
	MaxFiles int64 // 0: DefaultMaxFiles
	// Extensions are the endings that names may have, ".md"; upper and lower case
	// are one. Nil: any, and none too.
	Extensions []string
}

// Shelf is the vault of one agent. It is safe for concurrent use, also by
// several processes; several shelves of one agent work like several processes.
//
// Errors of all methods, beside those they name: not_found when there is no
// such agent; damaged when the folder is not a vault, or a file in it is not a
// file of a vault; too_new; busy when the turn does not come in time; internal
// when the disk does not answer; unreachable when the database does not.
type Shelf struct {
	agent *home.Agent   // of a folder
	rows  vaultrow.Rows // of a database; one of both is nil
	o     Options
}

var _ colony.ConditionalBackend = (*Shelf)(nil)

// Open returns the vault of an agent. It touches no disk: neither the vault nor the
// agent need exist, and the first file that is put makes the vault. Errors: invalid
// without a clock and for limits that make no sense.
func Open(agent *home.Agent, o Options) (*Shelf, error) {
	return open(&Shelf{agent: agent, o: o}, agent != nil)
}

// OpenRows returns the vault of an agent that lives in a database. Nothing is asked of it yet. Errors: as [Open].
func OpenRows(rows vaultrow.Rows, o Options) (*Shelf, error) {
	return open(&Shelf{rows: rows, o: o}, rows != nil)
}

func open(s *Shelf, whose bool) (_ *Shelf, err error) {
	if !whose || s.o.Clock == nil {
		return nil, amber.Errorf(amber.KindInvalid, "open vault", "", "an agent and a clock are required")
	}
	s.o.FS = cmp.Or(s.o.FS, fsx.OS())
	if s.o.Limits, err = s.o.Limits.withDefaults(); err != nil {
		return nil, err
	}
	return s, nil
}

func (l Limits) withDefaults() (Limits, error) {
	for _, f := range []struct {
		n      *int64
		preset int64
	}{{&l.Quota, colony.DefaultQuota}, {&l.MaxFile, colony.MaxFileBytes}, {&l.MaxFiles, DefaultMaxFiles}} {
		if *f.n < 0 {
			return l, amber.Errorf(amber.KindInvalid, "open vault", "", "a limit is negative")
		}
		*f.n = cmp.Or(*f.n, f.preset)
	}
	if l.MaxFile > MaxFileLimit {
		return l, amber.Errorf(amber.KindInvalid, "open vault", "", "the limit of a file is more than 64 MiB")
	}
	for _, ext := range l.Extensions {
		if len(ext) < 2 || ext[0] != '.' || strings.ContainsAny(ext[1:], "./") {
			return l, amber.Errorf(amber.KindInvalid, "open vault", ext, "an extension is written like \".md\"")
		}
	}
	return l, nil
}

// Limits returns the bounds that hold, the presets filled in.
func (s *Shelf) Limits() Limits { return s.o.Limits }

// Status tells how much room there is. A vault that was never written to reports
// a quota of 0.
func (s *Shelf) Status(ctx context.Context) (colony.Status, error) {
	var u usage
	err := s.read(ctx, func(v volume) (err error) {
		u, err = count(ctx, v, false)
		return err
	})
	if err != nil || !u.exists {
		return colony.Status{}, err
	}
	quota := s.o.Limits.Quota
	return colony.Status{QuotaBytes: quota, UsedBytes: u.bytes, AvailableBytes: max(quota-u.bytes, 0), FileCount: u.files}, nil
}

// read runs fn on the live generation, and again when another one became live
// meanwhile: the folder it looked at may have been half removed.
func (s *Shelf) read(ctx context.Context, fn func(volume) error) error {
	if s.rows != nil {
		return s.rows.View(ctx, "use vault", inRows(fn))
	}
	for {
		if err := ended(ctx); err != nil {
			return err
		}
		c, err := s.agent.Current()
		if err != nil {
			return err
		}
		err = fn(s.folder(c))
		if now, cerr := s.agent.Current(); cerr != nil {
			return cerr
		} else if now == c {
			return err
		}
	}
}

// write runs fn in its turn among the writers of the vault.
func (s *Shelf) write(ctx context.Context, fn func(volume) error) error {
	if s.rows != nil {
		return s.rows.Update(ctx, "change vault", inRows(fn))
	}
	return s.agent.Write(ctx, turn, func(c home.Current) error { return fn(s.folder(c)) })
}

// now returns the time that is written into files.
func (s *Shelf) now() amber.Time { return amber.At(s.o.Clock()) }

// ended says that the caller gave up.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &amber.Error{Op: "use vault", Kind: amber.KindUnreachable, Err: err}
	}
	return nil
}
