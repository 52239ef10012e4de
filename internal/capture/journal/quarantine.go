package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Held is a file in quarantine.
type Held struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	// The rest is set for entries that could not be stored.
	Seq     int64      `json:"seq,omitempty"`
	At      amber.Time `json:"at,omitzero"` // when it was given up
	Reason  string     `json:"reason,omitempty"`
	Payload []byte     `json:"payload,omitempty"`
}

// heldLine is the first line of the file of an entry; the payload follows.
type heldLine struct {
	Format int        `json:"format"`
	Seq    int64      `json:"seq"`
	At     amber.Time `json:"at"`
	Reason string     `json:"reason"`
	Bytes  int        `json:"bytes"`
	CRC    string     `json:"crc32c"`
}

const (
	heldFormat  = 1
	heldSuffix  = ".entry"
	maxReason   = 2000
	maxHeldLine = 16 << 10
)

// Quarantine keeps an entry that could not be stored, with the reason, and
// returns once it is durable. Keeping it again replaces what was kept. Errors:
// invalid, not_found, quota when the session's quarantine is full, busy,
// unreachable, refused, internal.
func (j *Journal) Quarantine(ctx context.Context, key Key, seq int64, payload []byte, reason string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := checkCursor(seq); err != nil {
		return err
	}
	if err := (Entry{Payload: payload}).check(); err != nil {
		return err
	}
	line, err := json.Marshal(heldLine{
		Format: heldFormat, Seq: seq, At: amber.At(j.o.Clock()),
		Reason: strings.ToValidUTF8(reason[:min(len(reason), maxReason)], ""),
		Bytes:  len(payload), CRC: fmt.Sprintf("%08x", crc32.Checksum(payload, castagnoli)),
	})
	if err != nil {
		return err
	}
	b := append(append(line, '\n'), payload...)
	return j.locked(ctx, key, func() error {
		return j.keep(key, fmt.Sprintf("%020d%s", seq, heldSuffix), b)
	})
}

// Quarantined calls fn for every file in the quarantine of a session, by
// name. The payload belongs to fn. An entry whose file is damaged comes without
// what cannot be believed, the reason being that. Errors: those of fn and of
// the disk.
func (j *Journal) Quarantined(ctx context.Context, key Key, fn func(Held) error) error {
	if err := checkKey(key); err != nil {
		return err
	}
	files, err := j.held(key)
	if err != nil {
		return err
	}
	for _, h := range files {
		if ctx.Err() != nil {
			return ended("read quarantine", string(key), ctx)
		}
		if strings.HasSuffix(h.Name, heldSuffix) {
			if h, err = j.readHeld(key, h); err != nil {
				h.Reason = "the file cannot be read: " + err.Error()
			}
		}
		if err := fn(h); err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) readHeld(key Key, h Held) (Held, error) {
	b, err := fsx.ReadFile(j.o.FS, j.path(key, quarantineName, h.Name), maxHeldLine+MaxPayload)
	if err != nil && !errors.Is(err, fsx.ErrTooLarge) {
		return h, diskerr.Own("read quarantine", string(key), err)
	}
	h.parse(b)
	return h, nil
}

// parse sets what the file of an entry says, or that the file is damaged.
func (h *Held) parse(b []byte) {
	line, payload, ok := parseHeld(b)
	if !ok {
		h.Reason = "the file is damaged"
		return
	}
	h.Seq, h.At, h.Reason, h.Payload = line.Seq, line.At, line.Reason, payload
}

func parseHeld(b []byte) (line heldLine, payload []byte, ok bool) {
	head, payload, found := bytes.Cut(b, []byte("\n"))
	if !found || json.Unmarshal(head, &line) != nil {
		return line, nil, false
	}
	ok = line.Format == heldFormat && line.Bytes == len(payload) &&
		line.CRC == fmt.Sprintf("%08x", crc32.Checksum(payload, castagnoli))
	return line, payload, ok
}

// held lists the quarantine of a session.
func (j *Journal) held(key Key) ([]Held, error) {
	dir := j.path(key, quarantineName)
	err := j.checkFolder(dir)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := j.o.FS.ReadDir(dir)
	if err != nil {
		return nil, diskerr.Own("list quarantine", string(key), err)
	}
	var out []Held
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), fsx.TempPrefix) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, diskerr.Own("list quarantine", string(key), err)
		}
		out = append(out, Held{Name: e.Name(), Bytes: info.Size()})
	}
	return out, nil
}

// quarantine returns the folder, made durable, if it has room for so many
// bytes more: it may grow as large as the session itself.
func (j *Journal) quarantine(key Key, more int64) (string, error) {
	files, err := j.held(key)
	if err != nil {
		return "", err
	}
	for _, h := range files {
		more += h.Bytes
	}
	if more > j.o.MaxSessionBytes {
		return "", amber.Errorf(amber.KindQuota, "quarantine", string(key), "the quarantine has reached %d bytes", j.o.MaxSessionBytes).WithHint("amber journal quarantine")
	}
	dir := j.path(key, quarantineName)
	if err := fsx.MkdirAll(j.o.FS, dir, 0o700); err != nil {
		return "", diskerr.Own("make quarantine", string(key), err)
	}
	return dir, nil
}

// keep writes a file into quarantine.
func (j *Journal) keep(key Key, name string, b []byte) error {
	if _, err := j.quarantine(key, int64(len(b))); err != nil {
		return err
	}
	return diskerr.Own("quarantine", string(key), fsx.Replace(j.o.FS, j.path(key, quarantineName, name), 0o600, b))
}

// keepFile gives a file of the session a second name, in quarantine. A file
// that has it already is the same one.
func (j *Journal) keepFile(key Key, name, as string, size int64) error {
	dir, err := j.quarantine(key, size)
	if err != nil {
		return err
	}
	err = j.o.FS.Link(j.path(key, name), j.path(key, quarantineName, as))
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = j.o.FS.SyncDir(dir)
	}
	return diskerr.Own("quarantine", string(key), err)
}

// cutName names bytes that were cut from a file at an offset; the same bytes
// get the same name.
func cutName(file string, at int64, b []byte) string {
	return fmt.Sprintf("%s-%d-%08x.cut", file, at, crc32.Checksum(b, castagnoli))
}
