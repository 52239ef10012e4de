package colonytest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
)

// MayWrite implements [colony.GuardedBackend].
func (f *Fake) MayWrite(ctx context.Context) error {
	return f.ask(ctx, "may-write", "", func() error { return f.writable() })
}

func (f *Fake) writable() error {
	if f.ReadOnly {
		return amber.Errorf(amber.KindRefused, "write", "", "the vault may only be read")
	}
	return nil
}

// Status implements [colony.Backend].
func (f *Fake) Status(ctx context.Context) (s colony.Status, err error) {
	err = f.ask(ctx, "status", "", func() error {
		s = colony.Status{UsedBytes: f.used(), FileCount: int64(len(f.files))}
		if f.written {
			s.QuotaBytes, s.AvailableBytes = f.quota(), f.quota()-s.UsedBytes
		}
		return nil
	})
	return s, err
}

func (f *Fake) quota() int64 {
	if f.Quota > 0 {
		return f.Quota
	}
	return colony.DefaultQuota
}

func (f *Fake) used() (n int64) {
	for _, file := range f.files {
		n += int64(len(file.Content))
	}
	return n
}

// List implements [colony.Backend].
func (f *Fake) List(ctx context.Context, prefix string) (all []colony.FileInfo, err error) {
	err = f.ask(ctx, "list", prefix, func() error {
		for _, name := range slices.Sorted(maps.Keys(f.files)) {
			if strings.HasPrefix(name, prefix) {
				all = append(all, f.told(f.files[name].FileInfo))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (f *Fake) told(info colony.FileInfo) colony.FileInfo {
	if f.Bare {
		return colony.FileInfo{Name: info.Name, Size: -1}
	}
	return info
}

// Get implements [colony.Backend].
func (f *Fake) Get(ctx context.Context, name string) (file colony.File, err error) {
	err = f.ask(ctx, "get", name, func() error {
		found, ok := f.files[name]
		if !ok {
			return missing("get", name)
		}
		if f.rotten[name] {
			return rotten("get", name)
		}
		file = colony.File{FileInfo: f.told(found.FileInfo), Content: found.Content}
		return nil
	})
	if err != nil {
		return colony.File{}, err
	}
	return file, nil
}

func missing(op, name string) error {
	return amber.Errorf(amber.KindNotFound, op, name, "the file does not exist")
}

func rotten(op, name string) error {
	return amber.Errorf(amber.KindDamaged, op, name, "the file is not what was put")
}

// Put implements [colony.Backend].
func (f *Fake) Put(ctx context.Context, name, content string) (colony.FileInfo, error) {
	return f.put(ctx, name, content, func() error { return nil })
}

// PutIf implements [colony.ConditionalBackend].
func (f *Fake) PutIf(ctx context.Context, name, content string, c colony.Condition) (colony.FileInfo, error) {
	if c.Absent == (c.Version != "") {
		return colony.FileInfo{}, amber.Errorf(amber.KindInvalid, "put", name, "one condition is needed")
	}
	return f.put(ctx, name, content, func() error {
		file, ok := f.files[name]
		if f.rotten[name] {
			return rotten("put", name)
		}
		if c.Absent && ok || !c.Absent && (!ok || file.Version != c.Version) {
			return amber.Errorf(amber.KindConflict, "put", name, "the file is not what it should be")
		}
		return nil
	})
}

func (f *Fake) put(ctx context.Context, name, content string, holds func() error) (info colony.FileInfo, err error) {
	err = f.ask(ctx, "put", name, func() error {
		if err := f.writable(); err != nil {
			return err
		}
		if err := holds(); err != nil {
			return err
		}
		if err := f.fits(name, content); err != nil {
			return err
		}
		info = f.told(f.store(name, content))
		return nil
	})
	if err != nil {
		return colony.FileInfo{}, err
	}
	return info, nil
}

func (f *Fake) fits(name, content string) error {
	size := int64(len(content))
	if len(name) > colony.MaxNameBytes {
		return amber.Errorf(amber.KindInvalid, "put", name[:40], "the name is too long")
	}
	if now := f.used() - int64(len(f.files[name].Content)); size > colony.MaxFileBytes || now+size > f.quota() {
		return amber.Errorf(amber.KindQuota, "put", name, "%d bytes do not fit", size)
	}
	return nil
}

// store writes a file. The lock is held.
func (f *Fake) store(name, content string) colony.FileInfo {
	if f.files == nil {
		f.files = map[string]colony.File{}
	}
	f.written = true
	sum := sha256.Sum256([]byte(content))
	file := colony.File{Content: content, FileInfo: colony.FileInfo{
		Name: name, Size: int64(len(content)), Version: hex.EncodeToString(sum[:]),
	}}
	if f.Clock != nil {
		file.UpdatedAt = amber.At(f.Clock())
		file.CreatedAt = file.UpdatedAt
		if old, ok := f.files[name]; ok {
			file.CreatedAt = old.CreatedAt
		}
	}
	f.files[name] = file
	delete(f.rotten, name)
	return file.FileInfo
}

// Delete implements [colony.Backend].
func (f *Fake) Delete(ctx context.Context, name string) error {
	return f.ask(ctx, "delete", name, func() error {
		if _, ok := f.files[name]; !ok {
			return missing("delete", name)
		}
		delete(f.files, name)
		delete(f.rotten, name)
		return nil
	})
}
