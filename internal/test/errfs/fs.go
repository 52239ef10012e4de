package errfs

import (
	"io/fs"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// watched leads every call on base past an observer.
type watched struct {
	base fsx.FS
	obs  observer
}

var _ fsx.FS = watched{}

func (w watched) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	var base fsx.File
	err := w.obs.around(&call{op: openOp(flag), name: name}, func() (err error) {
		base, err = w.base.OpenFile(name, flag, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file{base: base, obs: w.obs}, nil
}

func (w watched) Mkdir(name string, perm fs.FileMode) error {
	return w.obs.around(&call{op: OpMkdir, name: name}, func() error { return w.base.Mkdir(name, perm) })
}

func (w watched) Link(oldname, newname string) error {
	c := &call{op: OpLink, name: oldname, to: newname}
	return w.obs.around(c, func() error { return w.base.Link(oldname, newname) })
}

func (w watched) Rename(oldname, newname string) error {
	c := &call{op: OpRename, name: oldname, to: newname}
	return w.obs.around(c, func() error { return w.base.Rename(oldname, newname) })
}

func (w watched) Remove(name string) error {
	return w.obs.around(&call{op: OpRemove, name: name}, func() error { return w.base.Remove(name) })
}

func (w watched) Lstat(name string) (info fs.FileInfo, err error) {
	err = w.obs.around(&call{op: OpLstat, name: name}, func() (err error) {
		info, err = w.base.Lstat(name)
		return err
	})
	return info, err
}

func (w watched) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = w.obs.around(&call{op: OpReadDir, name: name}, func() (err error) {
		list, err = w.base.ReadDir(name)
		return err
	})
	return list, err
}

func (w watched) SyncDir(name string) error {
	return w.obs.around(&call{op: OpSyncDir, name: name}, func() error { return w.base.SyncDir(name) })
}

func (w watched) SyncAll(name string) error {
	return w.obs.around(&call{op: OpSyncAll, name: name}, func() error { return w.base.SyncAll(name) })
}

// file leads every call on an open file past an observer.
type file struct {
	base fsx.File
	obs  observer
}

var _ fsx.File = file{}

func (f file) Name() string { return f.base.Name() }

func (f file) Read(p []byte) (n int, err error) {
	err = f.obs.around(f.call(OpRead), func() (err error) {
		n, err = f.base.Read(p)
		return err
	})
	return n, err
}

func (f file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.obs.around(f.call(OpRead), func() (err error) {
		n, err = f.base.ReadAt(p, off)
		return err
	})
	return n, err
}

func (f file) Write(p []byte) (int, error) {
	c := f.call(OpWrite)
	c.data = p
	err := f.obs.around(c, func() error {
		n, err := f.base.Write(c.data)
		c.n = int64(n)
		return err
	})
	return int(c.n), err
}

func (f file) WriteAt(p []byte, off int64) (int, error) {
	c := f.call(OpWrite)
	c.data = p
	err := f.obs.around(c, func() error {
		n, err := f.base.WriteAt(c.data, off)
		c.n = int64(n)
		return err
	})
	return int(c.n), err
}

func (f file) Truncate(size int64) error {
	c := f.call(OpTruncate)
	c.n = size
	return f.obs.around(c, func() error { return f.base.Truncate(size) })
}

func (f file) Sync() error {
	return f.obs.around(f.call(OpSync), f.base.Sync)
}

func (f file) Stat() (info fs.FileInfo, err error) {
	err = f.obs.around(f.call(OpStat), func() (err error) {
		info, err = f.base.Stat()
		return err
	})
	return info, err
}

func (f file) Close() error {
	return f.obs.around(f.call(OpClose), f.base.Close)
}

func (f file) call(op Op) *call { return &call{op: op, name: f.base.Name(), file: f.base} }
