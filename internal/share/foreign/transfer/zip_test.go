package transfer_test

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestAFolderIsWrittenAsAZipFile(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	at := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	z := transfer.Zip(&b, at)
	must.Equal(t, "what is there before", must.Get(z.Existing("a.md"))(t) == nil, true)
	for _, name := range []string{"a.md", "deep/b.md"} {
		w := must.Get(z.Create(name))(t)
		_ = must.Get(io.WriteString(w, "text of "+name))(t)
		must.Fail(z.Create("other.md"))(t, "a second file at the same time", amber.KindInternal)
		must.Do(t, w.Close())
	}
	for name, kind := range map[string]amber.Kind{"": amber.KindInvalid, "../x": amber.KindInvalid, "/x": amber.KindInvalid, ".": amber.KindInvalid, "a.md": amber.KindInternal} {
		must.Fail(z.Create(name))(t, "file "+name, kind)
	}
	must.Do(t, z.Close())
	r := must.Get(zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
	got := map[string]string{}
	for _, f := range r.File {
		in := must.Get(f.Open())(t)
		got[f.Name] = string(must.Get(io.ReadAll(in))(t))
		must.Equal(t, "time of "+f.Name, f.Modified.Equal(at), true)
	}
	must.Equal(t, "files", got, map[string]string{"a.md": "text of a.md", "deep/b.md": "text of deep/b.md"})
}

func TestAZipFileWithAFileLeftOpenIsNotCompleted(t *testing.T) {
	t.Parallel()
	z := transfer.Zip(io.Discard, time.Time{})
	_ = must.Get(z.Create("a.md"))(t)
	must.Kind(t, "closing", z.Close(), amber.KindInternal, "a.md")
}
