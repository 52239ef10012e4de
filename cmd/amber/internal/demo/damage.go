package demo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/store/home"
)

// damage overwrites pages of the live database, removes the notes, and lets
// the doctor see it.
func (d *Demo) damage(ctx context.Context) error {
	h, err := home.At(d.Home(), home.Options{Clock: d.o.Clock, Random: d.o.Random})
	if err != nil {
		return err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return err
	}
	current, err := agent.Current()
	if err != nil {
		return err
	}
	file := filepath.Join(agent.GenDir(current), "memory.db")
	spoilt, pages, err := spoil(file, d.o.Random)
	if err != nil {
		return err
	}
	d.found("%d of the %d pages of %s are noise now", spoilt, pages, file)
	notes := filepath.Join(agent.GenDir(current), "memdir")
	if err := os.RemoveAll(notes); err != nil {
		return err
	}
	d.found("%s is gone", notes)
	for _, args := range [][]string{{"recall", question}, {"doctor"}} {
		if err := d.fails(ctx, amber.KindDamaged, args...); err != nil {
			return err
		}
	}
	return nil
}

// spoil overwrites every third page of a database with noise, but for the
// first: it still looks like a database.
func spoil(path string, noise io.Reader) (spoilt, pages int64, err error) {
	f, err := fsx.OS().OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Sync(), f.Close()) }()
	header := make([]byte, 18)
	if _, err := io.ReadFull(f, header); err != nil {
		return 0, 0, err
	}
	size := int64(binary.BigEndian.Uint16(header[16:]))
	if size < 512 {
		return 0, 0, fmt.Errorf("%s: the page size is %d", path, size)
	}
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	page := make([]byte, size)
	pages = info.Size() / size
	for n := int64(2); n < pages; n += 3 {
		if _, err := io.ReadFull(noise, page); err != nil {
			return spoilt, pages, err
		}
		if _, err := f.WriteAt(page, n*size); err != nil {
			return spoilt, pages, err
		}
		spoilt++
	}
	return spoilt, pages, nil
}
