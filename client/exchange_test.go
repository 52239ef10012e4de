package client_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// storeOnDisk is a store that can be synced.
func storeOnDisk(t *testing.T) amber.Store {
	t.Helper()
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: time.Now, Random: rand.Reader})
	must.Do(t, err)
	folder := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	s := must.Get(sqlite.Open(context.Background(), folder, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	return s.Store()
}

// TestMemoriesLeaveOneServerAndArriveAtAnother exports, imports with and without a known size, twice, and undoes.
func TestMemoriesLeaveOneServerAndArriveAtAnother(t *testing.T) {
	t.Parallel()
	from, to := storeOnDisk(t), storeOnDisk(t)
	for _, text := range []string{"We chose PostgreSQL", "The queue is in SQLite"} {
		must.Do(t, must.Err(from.LongTerm.Write(t.Context(), amber.WriteRequest{Content: text})))
	}
	must.Do(t, must.Err(from.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "Ada likes tea", Identities: amber.Identities{UserID: "ada"}})))
	var file bytes.Buffer
	left := must.Get(serveStore(t, from).agent.Export(t.Context(), &file, client.ExportOptions{To: "amber", Users: []string{"ada"}}))(t)
	must.Equal(t, "memories and format", []any{left.Memories, left.Format}, []any{int64(3), "amber"})

	there := serveStore(t, to).agent
	o := client.ImportOptions{Name: "a.jsonl", Size: int64(file.Len()), AsOwn: true, Modified: amber.At(time.Now())}
	look := o
	look.DryRun = true
	must.Equal(t, "a dry run finds", must.Get(there.Import(t.Context(), bytes.NewReader(file.Bytes()), look))(t).New, 3)
	first := must.Get(there.Import(t.Context(), bytes.NewReader(file.Bytes()), o))(t)
	must.Equal(t, "new and trust", []any{first.New, first.Trust}, []any{int64(3), "own"})
	o.Size = 0
	again := must.Get(there.Import(t.Context(), io.MultiReader(&file), o))(t)
	must.Equal(t, "new and known of the second", []int64{again.New, again.Known}, []int64{0, 3})

	list := must.Get(there.Imports(t.Context()))(t)
	must.Equal(t, "imports", len(list), 1)
	must.Equal(t, "deleted", must.Get(there.UndoImport(t.Context(), list[0].ID))(t).Deleted, 3)
	must.Fail(there.UndoImport(t.Context(), "0198c0de-0000-7000-8000-000000000001"))(t, "an import that is not there", amber.KindNotFound)
	must.Fail(there.Import(t.Context(), strings.NewReader("\x00"), client.ImportOptions{}))(t, "no format", amber.KindInvalid)
	must.Fail(there.Export(t.Context(), io.Discard, client.ExportOptions{To: "nosuch"}))(t, "a format that is not written", amber.KindInvalid)
}

// broken fails in the middle.
type broken struct{ after io.Reader }

var errTorn = errors.New("the disk is torn")

func (b broken) Read(p []byte) (int, error) {
	if n, err := b.after.Read(p); err == nil {
		return n, nil
	}
	return 0, errTorn
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errTorn }

// TestErrorsOfTheCallersOwnFiles: the client reports them as they are, and imports nothing.
func TestErrorsOfTheCallersOwnFiles(t *testing.T) {
	t.Parallel()
	store := storeOnDisk(t)
	a := serveStore(t, store).agent
	_, err := a.Import(t.Context(), broken{strings.NewReader("half")}, client.ImportOptions{Name: "a.jsonl"})
	must.Is(t, "import", err, errTorn)
	must.Equal(t, "imports", len(must.Get(a.Imports(t.Context()))(t)), 0)
	_, err = a.Export(t.Context(), full{}, client.ExportOptions{To: "amber"})
	must.Is(t, "export", err, errTorn)
}

// TestImportsAndExportsAreMadeOnce: neither is sent again, and what is cut off is no export.
func TestImportsAndExportsAreMadeOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(s.Close)
	c := must.Get(client.New(client.Options{URL: s.URL, HTTP: unkept()}))(t)
	a := must.Get(c.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	_, err := a.Import(t.Context(), strings.NewReader("x"), client.ImportOptions{})
	must.Kind(t, "import", err, amber.KindUnreachable)
	must.Says(t, "hint", amber.HintOf(err), "import again")
	must.Equal(t, "requests", asked.Swap(0), 1)
	var file bytes.Buffer
	must.Fail(a.Export(t.Context(), &file, client.ExportOptions{To: "amber"}))(t, "export", amber.KindUnreachable)
	must.Equal(t, "requests", asked.Load(), 1)
}
