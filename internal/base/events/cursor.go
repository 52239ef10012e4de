package events

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// CursorStore keeps how far a change log has been published. It lies where no
// restore replaces it: outside of what snapshots hold. One worker uses it at a
// time.
type CursorStore interface {
	// Load returns the position that was saved last; found is false when there
	// never was one.
	Load(ctx context.Context) (p amber.Position, found bool, err error)
	// Save returns once the position is durable.
	Save(ctx context.Context, p amber.Position) error
}

// maxCursor bounds the file of a cursor: an incarnation has at most 200 bytes.
const maxCursor = 512

// Logs name the two change logs of an agent, as their cursors do.
var Logs = []string{"memory", "control"}

// AgentCursor is how far one of the [Logs] of an agent was published that lives in a folder.
func AgentCursor(folder, log string) FileCursor {
	return FileCursor{Path: filepath.Join(folder, "published-"+log)}
}

// FileCursor is a position in a file of one line. A file that is no position is
// an error of kind damaged; after it is removed, publishing starts at the end of the log.
type FileCursor struct {
	Path string // absolute; folders that are missing are made
	FS   fsx.FS // nil: the operating system's
}

var _ CursorStore = FileCursor{}

func (c FileCursor) fs() fsx.FS {
	if c.FS == nil {
		return fsx.OS()
	}
	return c.FS
}

// Load implements [CursorStore].
func (c FileCursor) Load(context.Context) (amber.Position, bool, error) {
	const op = "read cursor"
	b, err := fsx.ReadFile(c.fs(), c.Path, maxCursor)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	kind := amber.KindOf(err)
	if errors.Is(err, fsx.ErrTooLarge) || errors.Is(err, fsx.ErrNotRegular) {
		kind = amber.KindDamaged
	}
	if err != nil {
		return "", false, &amber.Error{Op: op, Kind: kind, ID: c.Path, Err: err}
	}
	line, whole := strings.CutSuffix(string(b), "\n")
	p := amber.Position(line)
	if _, _, err := p.Parse(); err != nil || !whole || p == "" {
		return "", false, amber.Errorf(amber.KindDamaged, op, c.Path, "the file holds no position, want INCARNATION/NUMBER and a line feed").
			WithHint("remove the file; changes are published from now on then")
	}
	return p, true, nil
}

// Save implements [CursorStore].
func (c FileCursor) Save(_ context.Context, p amber.Position) error {
	err := fsx.MkdirAll(c.fs(), filepath.Dir(c.Path), 0o700)
	if err == nil {
		err = fsx.Replace(c.fs(), c.Path, 0o600, []byte(string(p)+"\n"))
	}
	if err != nil {
		return &amber.Error{Op: "save cursor", Kind: amber.KindOf(err), ID: c.Path, Err: err}
	}
	return nil
}

// MemoryCursor is a position that lasts as long as the process. The zero value
// has none.
type MemoryCursor struct {
	mu    sync.Mutex
	p     amber.Position
	found bool
}

var _ CursorStore = (*MemoryCursor)(nil)

// Load implements [CursorStore].
func (c *MemoryCursor) Load(context.Context) (amber.Position, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p, c.found, nil
}

// Save implements [CursorStore].
func (c *MemoryCursor) Save(_ context.Context, p amber.Position) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p, c.found = p, true
	return nil
}
