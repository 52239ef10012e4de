package sqlpages

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// The write-ahead log of a database.
const (
	LogHeaderBytes = 32
	frameHeader    = 24
	logMagic       = 0x377f0682 // of sums over little-endian words; one more: big-endian ones
	logSQLite      = 3007000    // the SQLite that made logs of this form
)

// Copy is a copy of a database that a log is applied to.
type Copy interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
}

// ApplyLog puts into a copy of a database of size bytes what the log beside it has committed, and reports how many
// pages that were. It ignores frames after the last whole commit: their program has not finished them, or they are of
// an earlier use of the log. A log whose header SQLite would not take counts as empty. Errors: damaged for a log of
// another database.
func ApplyLog(db Copy, size int64, log io.ReadSeeker) (frames int64, err error) {
	l, ok, err := readLog(log)
	if err != nil || !ok {
		return 0, err
	}
	head := make([]byte, sqlconn.HeaderBytes)
	if size > 0 {
		if _, err := db.ReadAt(head, 0); err != nil {
			return 0, damaged("the header cannot be read: %w", err)
		}
	}
	if own := sqlconn.PageSize(head); size > 0 && own != l.pageSize {
		return 0, damaged("the log beside the database has pages of %d bytes, the database has %d", l.pageSize, own)
	}
	if l.frames == 0 {
		return 0, nil
	}
	if most := size/l.pageSize + l.frames; l.pages > most {
		return 0, damaged("the log says %d pages, database and log have %d", l.pages, most)
	}
	if err := l.apply(db, log); err != nil {
		return 0, err
	}
	return l.frames, db.Truncate(l.pages * l.pageSize)
}

// committed is what is known of a log.
type committed struct {
	pageSize int64
	frames   int64 // up to the last commit
	pages    int64 // of the database, as that commit says
}

// readLog reads a log to the end of its last commit; ok is false for what is no log.
func readLog(log io.ReadSeeker) (l committed, ok bool, err error) {
	if _, err := log.Seek(0, io.SeekStart); err != nil {
		return l, false, err
	}
	in := bufio.NewReaderSize(log, 1<<16)
	head := make([]byte, LogHeaderBytes)
	if _, err := io.ReadFull(in, head); err != nil {
		return l, false, ended(err)
	}
	magic := binary.BigEndian.Uint32(head)
	l.pageSize = int64(binary.BigEndian.Uint32(head[8:]))
	if magic&^1 != logMagic || binary.BigEndian.Uint32(head[4:]) != logSQLite || l.pageSize < 512 || l.pageSize > 1<<16 || l.pageSize&(l.pageSize-1) != 0 {
		return l, false, nil
	}
	sum := checksum{big: magic&1 == 1}
	if sum.add(head[:24]); !sum.is(head[24:]) {
		return l, false, nil
	}
	frame := make([]byte, frameHeader+l.pageSize)
	for n := int64(1); ; n++ {
		if _, err := io.ReadFull(in, frame); err != nil {
			return l, true, ended(err)
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		if string(frame[8:16]) != string(head[16:24]) || !sum.is(frame[16:]) || binary.BigEndian.Uint32(frame) == 0 {
			return l, true, nil
		}
		if pages := binary.BigEndian.Uint32(frame[4:]); pages > 0 {
			l.frames, l.pages = n, int64(pages)
		}
	}
}

// ended is the error of a log that was read; its end is none.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return fmt.Errorf("read log: %w", err)
}

// apply copies the frames of a log, the later over the earlier.
func (l committed) apply(db io.WriterAt, log io.ReadSeeker) error {
	if _, err := log.Seek(LogHeaderBytes, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReaderSize(log, 1<<16)
	frame := make([]byte, frameHeader+l.pageSize)
	for range l.frames {
		if _, err := io.ReadFull(in, frame); err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		page := int64(binary.BigEndian.Uint32(frame))
		if page > l.pages {
			continue // what was cut off since
		}
		if _, err := db.WriteAt(frame[frameHeader:], (page-1)*l.pageSize); err != nil {
			return err
		}
	}
	return nil
}

// checksum is the one that goes through a whole log.
type checksum struct {
	big    bool
	s0, s1 uint32
}

// add adds bytes, whose number is a multiple of eight.
func (c *checksum) add(b []byte) {
	word := binary.LittleEndian.Uint32
	if c.big {
		word = binary.BigEndian.Uint32
	}
	for ; len(b) >= 8; b = b[8:] {
		c.s0 += word(b) + c.s1
		c.s1 += word(b[4:]) + c.s0
	}
}

// is reports whether the sum is the one that is written down.
func (c *checksum) is(b []byte) bool {
	return binary.BigEndian.Uint32(b) == c.s0 && binary.BigEndian.Uint32(b[4:]) == c.s1
}
