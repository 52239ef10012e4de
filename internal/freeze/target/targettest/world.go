package targettest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// world is the target as one check sees it: its names begin with base.
type world struct {
	ctx    context.Context
	open   Open
	base   string
	target target.Target
}

// reopen opens the place anew.
func (w *world) reopen() {
	w.target = must(w.open())
}

// put stores data and returns whether it is new.
func (w *world) put(name, data string) bool {
	return must(w.target.Put(w.ctx, w.base+name, int64(len(data)), reader(data)))
}

// get returns a range of an object.
func (w *world) get(name string, offset, length int64) string {
	r := must(w.target.Get(w.ctx, w.base+name, offset, length))
	data, err := io.ReadAll(r)
	must0(errors.Join(err, r.Close()))
	return string(data)
}

// holds ends the check unless the object holds data.
func (w *world) holds(name, data string) {
	if got := w.get(name, 0, -1); got != data {
		fail(fmt.Errorf("%s holds %s, want %s", name, show(got), show(data)))
	}
}

// missing ends the check unless there is no such object.
func (w *world) missing(name string) {
	r, err := w.target.Get(w.ctx, w.base+name, 0, -1)
	if err == nil {
		_ = r.Close()
	}
	refused(err, amber.KindNotFound, "get of %s", name)
	if slices.Contains(w.list(name), name) {
		fail(fmt.Errorf("%s is listed", name))
	}
}

// list returns the names with the prefix, in the order they come, without
// the base.
func (w *world) list(prefix string) (names []string) {
	must0(w.target.List(w.ctx, w.base+prefix, func(o target.Object) error {
		if len(o.Name) < len(w.base) || o.Name[:len(w.base)] != w.base {
			return fmt.Errorf("%s is listed below %s", o.Name, w.base)
		}
		names = append(names, o.Name[len(w.base):])
		return nil
	}))
	return names
}

// reader hides everything but Read, and gives its bytes in small pieces.
func reader(data string) io.Reader { return pieces{bytes.NewReader([]byte(data))} }

type pieces struct{ r io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), 1000)]) }

// show shortens data for a message.
func show(data string) string {
	if len(data) <= 40 {
		return fmt.Sprintf("%q", data)
	}
	sum := sha256.Sum256([]byte(data))
	return fmt.Sprintf("%d bytes with digest %x", len(data), sum[:4])
}
