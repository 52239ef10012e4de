package sqlite

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// counting counts what is read.
type counting struct {
	io.ReaderAt
	pages sync.Map
	fail  atomic.Bool
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	if c.fail.Load() {
		return 0, amber.Errorf(amber.KindDamaged, "read chunk", "abc", "it does not match its digest")
	}
	c.pages.Store(off/4096, true)
	return c.ReaderAt.ReadAt(p, off)
}

func (c *counting) count() (n int) {
	c.pages.Range(func(any, any) bool { n++; return true })
	return n
}

func readOnlyOptions() Options { return Options{Clock: newHandClock().Now, Random: rand.Reader} }

func TestReadOnlyAnswersAsTheLiveStore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	words := strings.Fields("amber resin forest harbour lantern compass 記憶 保存 copper violet")
	for i := range 400 {
		save(t, l.s, amber.WriteRequest{
			Title: words[i%len(words)], Tags: []string{words[i%3]},
			Content: fmt.Sprintf("%s and %s number %d %s", words[i%7], words[(i*3)%len(words)], i, strings.Repeat("filler ", 60)),
		})
	}
	must.Do(t, l.s.Delete(ctx, must.Get(l.s.List(ctx, amber.ListQuery{All: true}))(t).Items[0].ID))
	path := filepath.Join(l.snapshot(t), "memory.db")
	b := must.Get(os.ReadFile(path))(t)
	r := &counting{ReaderAt: bytes.NewReader(b)}
	v := must.Get(OpenReadOnly(ctx, "memory.db", r, int64(len(b)), readOnlyOptions()))(t)
	defer func() { must.Do(t, v.Close()); must.Do(t, v.Close()) }()
	file := must.Get(OpenReadOnlyFile(ctx, path, readOnlyOptions()))(t)
	defer func() { must.Do(t, file.Close()) }()

	got := must.Get(v.Recall(ctx, amber.Query{Text: "number 77", Limit: 3}))(t)
	if n, all := r.count(), len(b)/4096; len(got.Hits) != 3 || n*2 > all {
		t.Errorf("%d hits for %d of %d pages", len(got.Hits), n, all)
	}
	for _, q := range []amber.Query{
		{Text: "forest lantern"},
		{Text: "記憶"},
		{Text: "ompas"},
		{Text: ""},
		{Text: "copper", Explain: true},
		{Text: "amber", Filter: amber.Filter{Tags: []string{"resin"}}},
	} {
		want := must.Get(l.s.Recall(ctx, q))(t)
		for name, v := range map[string]*ReadOnly{"reader": v, "file": file} {
			must.Equal(t, fmt.Sprintf("%s: recall %q", name, q.Text), must.Get(v.Recall(ctx, q))(t), want, sameTime)
		}
	}
	for q := (amber.ListQuery{All: true, Deleted: true, Limit: 70}); ; {
		want := must.Get(l.s.List(ctx, q))(t)
		if diff := cmp.Diff(want, must.Get(v.List(ctx, q))(t), sameTime); diff != "" {
			t.Fatalf("list (-live +read only):\n%s", diff)
		}
		if want.Next == "" {
			break
		}
		q.Cursor = want.Next
	}
	id := got.Hits[0].ID
	must.Equal(t, "get", must.Get(v.Get(ctx, id))(t), must.Get(l.s.Get(ctx, id))(t), sameTime)
	must.Fail(v.Get(ctx, "0193c5a8-0000-7000-8000-000000000000"))(t, "get what is not there", amber.KindNotFound)
	must.Fail(v.s.Write(ctx, amber.WriteRequest{Content: "x"}))(t, "write", amber.KindRefused)
	must.Hold(t, bytes.Equal(b, must.Get(os.ReadFile(path))(t)), "the file changed")
}

// A page that cannot be read is named as what it is, and never taken for an
// empty one.
func TestReadOnlyTellsWhyAPageIsMissing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	for i := range 200 {
		save(t, l.s, amber.WriteRequest{Content: fmt.Sprintf("text %d %s", i, strings.Repeat("filler ", 60))})
	}
	b := must.Get(os.ReadFile(filepath.Join(l.snapshot(t), "memory.db")))(t)
	r := &counting{ReaderAt: bytes.NewReader(b)}
	v := must.Get(OpenReadOnly(ctx, "memory.db", r, int64(len(b)), readOnlyOptions()))(t)
	defer func() { must.Do(t, v.Close()) }()
	r.fail.Store(true)
	_, err := v.Recall(ctx, amber.Query{Text: "text"})
	must.Kind(t, "recall", err, amber.KindDamaged)
	must.Hold(t, strings.Contains(err.Error(), "digest"), "the cause is lost: %v", err)
	short := io.NewSectionReader(bytes.NewReader(b[:len(b)-len(b)/8]), 0, int64(len(b)))
	w := must.Get(OpenReadOnly(ctx, "memory.db", short, int64(len(b)), readOnlyOptions()))(t)
	defer func() { must.Do(t, w.Close()) }()
	_, err = w.List(ctx, amber.ListQuery{All: true, Limit: 200})
	must.Kind(t, "list of a file that is cut off", err, amber.KindDamaged)
	if e, ok := errors.AsType[*amber.Error](err); !ok || e.ID == "" {
		t.Errorf("the error names nothing: %v", err)
	}
}

func TestReadOnlyReadsOlderSchemas(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a := agentWithMemory1(t)
	path := filepath.Join(a.GenDir(must.Get(a.Current())(t)), "memory.db")
	v := must.Get(OpenReadOnlyFile(ctx, path, readOnlyOptions()))(t)
	defer func() { must.Do(t, v.Close()) }()
	must.Equal(t, "schema", v.header.Version, 1)
	must.Get(v.List(ctx, amber.ListQuery{All: true}))(t)
	must.Get(v.Recall(ctx, amber.Query{Text: "text"}))(t)
}
