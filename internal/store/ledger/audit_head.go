package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// The head file is noted anew after so many entries, and after so long when
// there are fewer.
const (
	headEntries = 1000
	headAge     = 5 * time.Minute
)

// A head file is one line: "amber-audit 1", the sequence and the hash of an
// entry, and a line feed.
const (
	headMagic = "amber-audit "
	maxHead   = 256
)

// mark is a place in the audit log; the zero one is before the first entry.
type mark struct {
	seq  int64
	hash [32]byte
}

func (m mark) bytes() []byte { return fmt.Appendf(nil, "%s1 %d %x\n", headMagic, m.seq, m.hash) }

// errNewerHead is returned for a head file of a later version.
var errNewerHead = errors.New("the file was written by a newer Amber")

// parseHead reads what mark.bytes writes, and nothing else.
func parseHead(b []byte) (m mark, err error) {
	rest, ok := strings.CutPrefix(string(b), headMagic)
	fields := strings.Split(rest, " ")
	if !ok {
		return mark{}, errors.New("the file is not the head of an audit log")
	}
	if version, err := strconv.ParseUint(fields[0], 10, 32); err == nil && version > 1 {
		return mark{}, errNewerHead
	}
	if len(fields) == 3 {
		m.seq, _ = strconv.ParseInt(fields[1], 10, 64)
		hash, _ := hex.DecodeString(strings.TrimSuffix(fields[2], "\n"))
		copy(m.hash[:], hash)
	}
	if m.seq < 1 || !bytes.Equal(m.bytes(), b) {
		return mark{}, errors.New("the file is not the head of an audit log")
	}
	return m, nil
}

// readHead returns the known end of the log, false where there is none. Errors:
// damaged, too_new; others where it cannot be read.
func readHead(path string) (m mark, known bool, err error) {
	const op = "read head of audit log"
	if path == "" {
		return mark{}, false, nil
	}
	b, err := fsx.ReadFile(fsx.OS(), path, maxHead)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return mark{}, false, nil
	case err != nil:
		return mark{}, false, diskerr.Own(op, path, err)
	}
	m, err = parseHead(b)
	switch {
	case errors.Is(err, errNewerHead):
		return mark{}, false, &amber.Error{Op: op, Kind: amber.KindTooNew, ID: path, Err: err}
	case err != nil:
		return mark{}, false, &amber.Error{Op: op, Kind: amber.KindDamaged, ID: path, Err: err}
	}
	return m, true, nil
}

// head knows when the head file is due.
type head struct {
	mu      sync.Mutex
	written int64 // the last entry this process has written
	noted   int64 // the entry of the head file, as far as this process knows
	at      time.Time
}

// wrote takes the number of the last entry and reports whether it is time to
// note the head. The first entry that this process writes is noted at once, so that a log never grows old without a head.
func (h *head) wrote(seq int64, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := h.at.IsZero()
	if first {
		h.noted, h.at = max(h.noted, seq-1), now
	}
	h.written = max(h.written, seq)
	if !first && h.written-h.noted < headEntries && now.Sub(h.at) < headAge {
		return false
	}
	h.at = now
	return true
}

// due reports whether an entry was written that is not noted.
func (h *head) due() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.written > h.noted
}

// is says which entry the head file has.
func (h *head) is(seq int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noted = max(h.noted, seq)
}

// noteHead replaces the head file by the end of the log. It never goes back and
// never covers damage up: where the log does not have what the file says, or the
// file cannot be read, it stays as it is. The write lock of the database keeps
// processes apart, and what can be read under it is durable.
func (f *file) noteHead(ctx context.Context) error {
	if f.o.Head == "" {
		return nil
	}
	const op = "note head of audit log"
	return f.update(ctx, op, f.o.Head, lockAudit, func(t *tx) error {
		last, err := t.lastRecord()
		if err != nil {
			return err
		}
		old, known, err := readHead(f.o.Head)
		if kind := amber.KindOf(err); kind == amber.KindDamaged || kind == amber.KindTooNew {
			return nil // VerifyAudit tells
		}
		if err != nil {
			return err
		}
		if known {
			if holds, err := t.has(old); err != nil || !holds {
				return err
			}
		}
		if last.seq > old.seq {
			err = fsx.MkdirAll(fsx.OS(), filepath.Dir(f.o.Head), 0o700)
			if err == nil {
				err = fsx.Replace(fsx.OS(), f.o.Head, 0o600, mark{last.seq, last.hash}.bytes())
			}
		}
		if err == nil {
			f.head.is(last.seq)
		}
		return err
	})
}

// has reports whether the log has an entry with the hash a mark says.
func (t *tx) has(m mark) (bool, error) {
	r, err := scanRecord(t.row(selectAt, m.seq))
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, errNoRecord) {
		return false, nil
	}
	return r.hash == m.hash, err
}
