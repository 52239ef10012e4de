package targettest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/targettest"
)

// chances is how often a check may look at a mutant: one that races is wrong
// only sometimes.
const chances = 30

// broken is mem with any of its methods replaced.
type broken struct {
	*mem
	put  func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error)
	get  func(m *mem, ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	list func(m *mem, ctx context.Context, prefix string, fn func(target.Object) error) error
	del  func(m *mem, ctx context.Context, name string) error
}

func (b broken) Put(ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
	if b.put != nil {
		return b.put(b.mem, ctx, name, size, r)
	}
	return b.mem.Put(ctx, name, size, r)
}

func (b broken) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if b.get != nil {
		return b.get(b.mem, ctx, name, offset, length)
	}
	return b.mem.Get(ctx, name, offset, length)
}

func (b broken) List(ctx context.Context, prefix string, fn func(target.Object) error) error {
	if b.list != nil {
		return b.list(b.mem, ctx, prefix, fn)
	}
	return b.mem.List(ctx, prefix, fn)
}

func (b broken) Delete(ctx context.Context, name string) error {
	if b.del != nil {
		return b.del(b.mem, ctx, name)
	}
	return b.mem.Delete(ctx, name)
}

// mutants are targets that break one promise, and the check that must notice.
var mutants = []struct {
	name  string
	check string
	broken
}{
	{"takes too few bytes", "put/wrong-size-leaves-nothing", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			data, err := io.ReadAll(r)
			if err != nil || int64(len(data)) > size {
				return m.Put(ctx, name, size, io.MultiReader(bytes.NewReader(data), r))
			}
			return m.Put(ctx, name, int64(len(data)), bytes.NewReader(data))
		},
	}},
	{"cuts too many bytes off", "put/wrong-size-leaves-nothing", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			return m.Put(ctx, name, size, io.LimitReader(r, size))
		},
	}},
	{"cuts all bytes of an empty object off", "put/empty", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			if size == 0 {
				r = strings.NewReader("")
			}
			return m.Put(ctx, name, size, r)
		},
	}},
	{"keeps what a broken reader gave", "put/reader-error-leaves-nothing", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			data, err := io.ReadAll(r)
			if err != nil {
				_, _ = m.Put(ctx, name, int64(len(data)), bytes.NewReader(data))
				return false, err
			}
			return m.Put(ctx, name, size, bytes.NewReader(data))
		},
	}},
	{"hides the reader's error", "put/reader-error-leaves-nothing", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			created, err := m.Put(ctx, name, size, r)
			if amber.KindOf(err) == amber.KindInternal {
				err = errors.New("it did not work")
			}
			return created, err
		},
	}},
	{"writes over what is there", "put/twice", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			data, err := io.ReadAll(r)
			if err == nil && int64(len(data)) == size {
				_ = m.Delete(ctx, name)
			}
			return m.Put(ctx, name, size, bytes.NewReader(data))
		},
	}},
	{"looks before it writes, without a lock", "put/one-of-many-creates", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			_, missing := m.Get(ctx, name, 0, -1)
			runtime.Gosched()
			_, err := m.Put(ctx, name, size, r)
			return missing != nil && err == nil, err
		},
	}},
	{"loses the end of a large object", "put/large", broken{
		get: func(m *mem, ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
			r, err := m.Get(ctx, name, offset, length)
			if err != nil {
				return nil, err
			}
			return io.NopCloser(io.LimitReader(r, 4<<20)), nil
		},
	}},
	{"ignores the offset", "get/ranges", broken{
		get: func(m *mem, ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
			if length > 0 && offset > 0 {
				if r, err := m.Get(ctx, name, 0, length); err == nil {
					return r, nil
				}
			}
			return m.Get(ctx, name, offset, length)
		},
	}},
	{"shortens a range that is too long", "get/ranges", broken{
		get: func(m *mem, ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
			r, err := m.Get(ctx, name, offset, length)
			if amber.KindOf(err) == amber.KindInvalid && offset >= 0 {
				return m.Get(ctx, name, offset, -1)
			}
			return r, err
		},
	}},
	{"calls a missing object empty", "get/missing", broken{
		get: func(m *mem, ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
			r, err := m.Get(ctx, name, offset, length)
			if amber.KindOf(err) == amber.KindNotFound {
				return io.NopCloser(strings.NewReader("")), nil
			}
			return r, err
		},
	}},
	{"lists by folder", "list/order", broken{
		list: func(m *mem, ctx context.Context, prefix string, fn func(target.Object) error) error {
			var all []target.Object
			_ = m.List(ctx, prefix, func(o target.Object) error {
				all = append(all, o)
				return nil
			})
			slices.SortFunc(all, func(a, b target.Object) int {
				return slices.Compare(strings.Split(a.Name, "/"), strings.Split(b.Name, "/"))
			})
			for _, o := range all {
				if err := fn(o); err != nil {
					return err
				}
			}
			return nil
		},
	}},
	{"takes a prefix for a folder", "list/prefix", broken{
		list: func(m *mem, ctx context.Context, prefix string, fn func(target.Object) error) error {
			if prefix != "" && !strings.HasSuffix(prefix, "/") {
				prefix += "/"
			}
			return m.List(ctx, prefix, fn)
		},
	}},
	{"tells no sizes", "list/what-it-tells", broken{
		list: func(m *mem, ctx context.Context, prefix string, fn func(target.Object) error) error {
			return m.List(ctx, prefix, func(o target.Object) error {
				o.Size = 0
				return fn(o)
			})
		},
	}},
	{"goes on after the caller's error", "list/ends-with-the-callers-error", broken{
		list: func(m *mem, ctx context.Context, prefix string, fn func(target.Object) error) error {
			var errs []error
			err := m.List(ctx, prefix, func(o target.Object) error {
				errs = append(errs, fn(o))
				return nil
			})
			return errors.Join(append(errs, err)...)
		},
	}},
	{"deletes nothing", "delete/removes", broken{
		del: func(_ *mem, ctx context.Context, name string) error { return ready(ctx, name) },
	}},
	{"deletes what is below too", "delete/missing-is-no-error", broken{
		del: func(m *mem, ctx context.Context, name string) error {
			err := m.Delete(ctx, name)
			for n := range m.objects {
				if strings.HasPrefix(n, name+"/") {
					delete(m.objects, n)
				}
			}
			return err
		},
	}},
	{"misses what it deletes", "delete/missing-is-no-error", broken{
		del: func(m *mem, ctx context.Context, name string) error {
			if _, err := m.Get(ctx, name, 0, -1); err != nil {
				return err
			}
			return m.Delete(ctx, name)
		},
	}},
	{"takes any name", "names/bad-ones-are-refused", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			if target.CheckObjectName(name) != nil {
				name = "other"
			}
			return m.Put(ctx, name, size, r)
		},
	}},
	{"puts although the context is over", "context/ended-before", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			return m.Put(context.WithoutCancel(ctx), name, size, r)
		},
	}},
	{"looks at the context at the beginning only", "context/ends-during-put", broken{
		put: func(m *mem, ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			return m.Put(context.WithoutCancel(ctx), name, size, r)
		},
	}},
}

func checks() map[string]targettest.Check {
	all := map[string]targettest.Check{}
	for _, c := range targettest.Checks() {
		all[c.Name] = c
	}
	return all
}

func TestChecksNoticeMutants(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			c, ok := checks()[m.check]
			if !ok {
				t.Fatalf("there is no check %q", m.check)
			}
			for range chances {
				b := m.broken
				b.mem = newMem()
				if err := c.Run(t.Context(), func() (target.Target, error) { return b, nil }); err != nil {
					t.Log(err)
					return
				}
			}
			t.Fatalf("check %s does not notice it", m.check)
		})
	}
}

func TestForgetfulTargetIsNotDurable(t *testing.T) {
	t.Parallel()
	const name = "durable/objects-are-there-after-opening-again"
	if err := checks()[name].Run(t.Context(), func() (target.Target, error) { return newMem(), nil }); err == nil {
		t.Errorf("check %s passes a target that forgets", name)
	}
}
