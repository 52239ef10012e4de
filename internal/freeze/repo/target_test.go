package repo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// memory is a target in memory.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	discard string            // what is put under this prefix is only hashed away
	fail    func(n int) error // decides about the n-th call, from 1
	onPut   func(name string) // called before an object appears
	calls   []string
}

var _ target.Target = (*memory)(nil)

func newMemory() *memory { return &memory{objects: map[string][]byte{}} }

// clone returns a target with the same objects, none of them shared.
func (m *memory) clone() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := newMemory()
	for name, b := range m.objects {
		c.objects[name] = bytes.Clone(b)
	}
	return c
}

func (m *memory) names(prefix string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}

// drop removes the objects whose names begin so.
func drop(objects map[string][]byte, prefix string) {
	maps.DeleteFunc(objects, func(name string, _ []byte) bool { return strings.HasPrefix(name, prefix) })
}

func (m *memory) call(ctx context.Context, op, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, op+" "+name)
	if m.fail != nil {
		if err := m.fail(len(m.calls)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (m *memory) Put(ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
	if err := target.CheckObjectName(name); err != nil {
		return false, err
	}
	if err := m.call(ctx, "put", name); err != nil {
		return false, err
	}
	if m.onPut != nil {
		m.onPut(name)
	}
	if m.discard != "" && strings.HasPrefix(name, m.discard) {
		n, err := io.Copy(io.Discard, r)
		if err == nil && n != size {
			err = fmt.Errorf("%d bytes instead of %d", n, size)
		}
		return true, err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return false, err
	}
	if int64(len(b)) != size {
		return false, amber.Errorf(amber.KindInvalid, "put", name, "wrong size")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[name]; ok {
		return false, nil
	}
	m.objects[name] = b
	return true, nil
}

func (m *memory) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if err := m.call(ctx, "get", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.objects[name]
	if !ok {
		return nil, amber.Errorf(amber.KindNotFound, "get", name, "no such object")
	}
	if length < 0 {
		length = int64(len(b)) - offset
	}
	if offset < 0 || length < 0 || offset+length > int64(len(b)) {
		return nil, amber.Errorf(amber.KindInvalid, "get", name, "no such range")
	}
	return io.NopCloser(bytes.NewReader(b[offset : offset+length])), nil
}

func (m *memory) List(ctx context.Context, prefix string, fn func(target.Object) error) error {
	if err := m.call(ctx, "list", prefix); err != nil {
		return err
	}
	for _, name := range m.names(prefix) {
		m.mu.Lock()
		size := int64(len(m.objects[name]))
		m.mu.Unlock()
		if err := fn(target.Object{Name: name, Size: size}); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Delete(ctx context.Context, name string) error {
	if err := m.call(ctx, "delete", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

var errCut = errors.New("the plug was pulled")
