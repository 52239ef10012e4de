package targettest_test

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// mem is the plainest target that keeps every promise.
type mem struct {
	mu      sync.Mutex
	objects map[string]string
}

func newMem() *mem { return &mem{objects: map[string]string{}} }

func fail(kind amber.Kind, name string) error {
	return amber.Errorf(kind, "mem", name, "%s", string(kind))
}

func ready(ctx context.Context, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return target.CheckObjectName(name)
}

func (m *mem) Put(ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
	if err := ready(ctx, name); err != nil {
		return false, err
	}
	data, err := io.ReadAll(r)
	switch {
	case err != nil:
		return false, err
	case int64(len(data)) != size:
		return false, fail(amber.KindInvalid, name)
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[name]; ok {
		return false, nil
	}
	m.objects[name] = string(data)
	return true, nil
}

func (m *mem) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if err := ready(ctx, name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[name]
	size := int64(len(data))
	switch {
	case !ok:
		return nil, fail(amber.KindNotFound, name)
	case offset < 0 || offset > size || length > size-offset:
		return nil, fail(amber.KindInvalid, name)
	case length < 0:
		length = size - offset
	}
	return io.NopCloser(strings.NewReader(data[offset : offset+length])), nil
}

func (m *mem) List(ctx context.Context, prefix string, fn func(target.Object) error) error {
	m.mu.Lock()
	objects := maps.Clone(m.objects)
	m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if err := fn(target.Object{Name: name, Size: int64(len(objects[name])), Modified: amber.UnixMilli(1)}); err != nil {
			return err
		}
	}
	return nil
}

func (m *mem) Delete(ctx context.Context, name string) error {
	if err := ready(ctx, name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}
