package colonytest_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
)

// chances is how often a check may look at a mutant: one that races is wrong
// only sometimes.
const chances = 30

// broken is a Fake with some of its methods replaced.
type broken struct {
	*colonytest.Fake
	status func(f *colonytest.Fake, ctx context.Context) (colony.Status, error)
	list   func(f *colonytest.Fake, ctx context.Context, prefix string) ([]colony.FileInfo, error)
	get    func(f *colonytest.Fake, ctx context.Context, name string) (colony.File, error)
	put    func(f *colonytest.Fake, ctx context.Context, name, content string) (colony.FileInfo, error)
	putIf  func(f *colonytest.Fake, ctx context.Context, name, content string, c colony.Condition) (colony.FileInfo, error)
	del    func(f *colonytest.Fake, ctx context.Context, name string) error
}

func (b broken) Status(ctx context.Context) (colony.Status, error) {
	if b.status != nil {
		return b.status(b.Fake, ctx)
	}
	return b.Fake.Status(ctx)
}

func (b broken) List(ctx context.Context, prefix string) ([]colony.FileInfo, error) {
	if b.list != nil {
		return b.list(b.Fake, ctx, prefix)
	}
	return b.Fake.List(ctx, prefix)
}

func (b broken) Get(ctx context.Context, name string) (colony.File, error) {
	if b.get != nil {
		return b.get(b.Fake, ctx, name)
	}
	return b.Fake.Get(ctx, name)
}

func (b broken) Put(ctx context.Context, name, content string) (colony.FileInfo, error) {
	if b.put != nil {
		return b.put(b.Fake, ctx, name, content)
	}
	return b.Fake.Put(ctx, name, content)
}

func (b broken) PutIf(ctx context.Context, name, content string, c colony.Condition) (colony.FileInfo, error) {
	if b.putIf != nil {
		return b.putIf(b.Fake, ctx, name, content, c)
	}
	return b.Fake.PutIf(ctx, name, content, c)
}

func (b broken) Delete(ctx context.Context, name string) error {
	if b.del != nil {
		return b.del(b.Fake, ctx, name)
	}
	return b.Fake.Delete(ctx, name)
}

type fake = colonytest.Fake

// mutants are vaults that break one promise, and the check that must notice.
var mutants = []struct {
	name, check string
	broken
}{
	{"calls a missing file empty", "get/missing", broken{
		get: func(f *fake, ctx context.Context, name string) (colony.File, error) {
			file, err := f.Get(ctx, name)
			if amber.KindOf(err) == amber.KindNotFound {
				return colony.File{FileInfo: colony.FileInfo{Name: name}}, nil
			}
			return file, err
		},
	}},
	{"calls a missing file unreachable", "get/missing", broken{
		get: func(f *fake, ctx context.Context, name string) (colony.File, error) {
			file, err := f.Get(ctx, name)
			if err != nil {
				err = amber.Errorf(amber.KindUnreachable, "get", name, "away")
			}
			return file, err
		},
	}},
	{"trims texts", "put/texts", broken{
		put: func(f *fake, ctx context.Context, name, content string) (colony.FileInfo, error) {
			_, err := f.Put(ctx, name, strings.TrimSpace(content))
			return colony.FileInfo{Name: name, Size: -1}, err
		},
	}},
	{"keeps the first text", "put/replaces", broken{
		put: func(f *fake, ctx context.Context, name, content string) (colony.FileInfo, error) {
			if _, err := f.Get(ctx, name); err == nil {
				return colony.FileInfo{Name: name, Size: -1}, nil
			}
			return f.Put(ctx, name, content)
		},
	}},
	{"does not know case", "put/names-are-told-apart", broken{
		put: func(f *fake, ctx context.Context, name, content string) (colony.FileInfo, error) {
			if name == "UPPER.json" {
				name = "upper.json"
			}
			info, err := f.Put(ctx, name, content)
			info.Name = name
			return info, err
		},
	}},
	{"cuts long names", "put/names", broken{
		put: func(f *fake, ctx context.Context, name, content string) (colony.FileInfo, error) {
			info, err := f.Put(ctx, name[:min(len(name), 200)], content)
			info.Name = name
			return info, err
		},
	}},
	{"deletes nothing", "delete/removes", broken{del: func(*fake, context.Context, string) error { return nil }}},
	{"does not miss what it deletes", "delete/missing", broken{
		del: func(f *fake, ctx context.Context, name string) error {
			_ = f.Delete(ctx, name)
			return nil
		},
	}},
	{"counts characters", "status/counts", broken{
		status: func(f *fake, ctx context.Context) (colony.Status, error) {
			s, err := f.Status(ctx)
			for _, content := range f.Files() {
				s.UsedBytes += int64(len([]rune(content)) - len(content))
			}
			return s, err
		},
	}},
	{"lists nothing of another folder", "list/prefix", broken{
		list: func(f *fake, ctx context.Context, prefix string) ([]colony.FileInfo, error) {
			all, err := f.List(ctx, "")
			return slices.DeleteFunc(all, func(i colony.FileInfo) bool {
				return !strings.HasPrefix(i.Name, strings.ToLower(prefix)) || prefix == "é+ "
			}), err
		},
	}},
	{"lists in any order", "list/order", broken{
		list: func(f *fake, ctx context.Context, prefix string) ([]colony.FileInfo, error) {
			all, err := f.List(ctx, prefix)
			slices.Reverse(all)
			return all, err
		},
	}},
	{"lists a page", "list/all", broken{
		list: func(f *fake, ctx context.Context, prefix string) ([]colony.FileInfo, error) {
			all, err := f.List(ctx, prefix)
			return all[:min(len(all), 100)], err
		},
	}},
	{"tells wrong sizes", "list/what-it-tells", broken{
		list: func(f *fake, ctx context.Context, prefix string) ([]colony.FileInfo, error) {
			all, err := f.List(ctx, prefix)
			for i := range all {
				all[i].Size = 0
			}
			return all, err
		},
	}},
	{"goes on after the context is over", "context/ended-before", broken{
		put: func(f *fake, ctx context.Context, name, content string) (colony.FileInfo, error) {
			return f.Put(context.WithoutCancel(ctx), name, content)
		},
	}},
	{"knows no conditions and does not say so", "if-absent/writes-once", broken{
		putIf: func(f *fake, ctx context.Context, name, content string, _ colony.Condition) (colony.FileInfo, error) {
			return f.Put(ctx, name, content)
		},
	}},
	{"takes a version of what is not there", "if-version/conflict-changes-nothing", broken{
		putIf: func(f *fake, ctx context.Context, name, content string, c colony.Condition) (colony.FileInfo, error) {
			if _, err := f.Get(ctx, name); err != nil {
				return f.Put(ctx, name, content)
			}
			return f.PutIf(ctx, name, content, c)
		},
	}},
	{"looks before it writes, without a lock", "if-absent/one-of-many-wins", broken{putIf: unlocked}},
	{"compares before it writes, without a lock", "if-version/one-of-many-wins", broken{putIf: unlocked}},
	{"loses writes without a lock", "if-version/no-write-is-lost", broken{putIf: unlocked}},
	{"writes without a condition", "if/neither-condition", broken{
		putIf: func(f *fake, ctx context.Context, name, content string, c colony.Condition) (colony.FileInfo, error) {
			if c == (colony.Condition{}) {
				return f.Put(ctx, name, content)
			}
			return f.PutIf(ctx, name, content, c)
		},
	}},
	{"has the length for a version", "if-version/another-for-other-content", broken{
		get: func(f *fake, ctx context.Context, name string) (colony.File, error) {
			file, err := f.Get(ctx, name)
			file.Version = strings.Repeat("v", len(file.Content)+1)
			return file, err
		},
	}},
}

// unlocked has a gap between the comparison and the write.
func unlocked(f *fake, ctx context.Context, name, content string, c colony.Condition) (colony.FileInfo, error) {
	file, err := f.Get(ctx, name)
	if c.Absent != (err != nil) || file.Version != c.Version {
		return colony.FileInfo{}, amber.Errorf(amber.KindConflict, "put", name, "it is another")
	}
	runtime.Gosched()
	return f.Put(ctx, name, content)
}

func TestChecksNoticeMutants(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			run := checkOf(t, m.check)
			for range chances {
				b := m.broken
				b.Fake = &fake{}
				if err := run(t.Context(), b); err != nil {
					t.Log(err)
					return
				}
			}
			t.Fatalf("check %s does not notice it", m.check)
		})
	}
}
