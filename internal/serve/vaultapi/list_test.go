package vaultapi_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/vaultapi"
	"github.com/amber-memory/amber/internal/test/must"
)

func (w *world) fill(token string, names ...string) {
	w.t.Helper()
	for _, n := range names {
		w.put(token, n, "content of "+n).want(200)
	}
}

func (w *world) names(token, query string) (names []string) {
	w.t.Helper()
	var got struct {
		Items []file
		Total int
		More  *bool `json:"has_more"`
	}
	w.do(ask{method: "GET", path: "/vault/files" + query, token: token}).want(200).read(&got)
	for _, f := range got.Items {
		names = append(names, f.Name)
	}
	if got.Total != len(names) || got.More == nil || *got.More {
		w.t.Errorf("%+v", got)
	}
	return names
}

func TestLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.fill(token, "b.md", "a.md", "dir/x.md", "dir/sub/y.md", "di.md", "日.md")
	for query, want := range map[string][]string{
		"": {"a.md", "b.md", "di.md", "dir/sub/y.md", "dir/x.md", "日.md"}, "?prefix=": {"a.md", "b.md", "di.md", "dir/sub/y.md", "dir/x.md", "日.md"},
		"?prefix=di": {"di.md", "dir/sub/y.md", "dir/x.md"}, "?prefix=dir%2F": {"dir/sub/y.md", "dir/x.md"}, "?prefix=%E6%97%A5": {"日.md"}, "?prefix=zz": nil,
	} {
		must.Equal(t, query, w.names(token, query), want)
	}
	w.do(ask{method: "GET", path: "/vault/files?prefix=" + strings.Repeat("p", 256), token: token}).unfit("query", "prefix")
	w.do(ask{method: "GET", path: "/vault/files?prefix=%ff", token: token}).unfit("query", "prefix")
	w.do(ask{method: "GET", path: "/vault/files?prefix=%zz", token: token}).unfit("query")
	w.do(ask{method: "GET", path: "/vault/files?x=" + strings.Repeat("x", 9<<10), token: token}).unfit("query")
	r := w.do(ask{method: "GET", path: "/vault/folders", token: token}).want(200)
	if want := `{"items":[{"folder":"(root)","file_count":4},{"folder":"dir","file_count":2}],"total":2}`; string(r.body) != want {
		t.Errorf("%s", r.body)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.fill(token, "a.md", "b.md", "c.md")
	w.put(token, "d.md", "nothing").want(200)
	type hit struct {
		file
		Snippet string
	}
	look := func(query string) (total int, items []hit) {
		var got struct {
			Items []hit
			Total int
		}
		w.do(ask{method: "GET", path: "/vault/search?" + query, token: token}).want(200).read(&got)
		return got.Total, got.Items
	}
	total, items := look("q=CONTENT&limit=1&offset=1")
	if total != 3 || len(items) != 1 || items[0].Name != "b.md" || items[0].Snippet != "[[hl]]content[[/hl]] of b.md" || items[0].Size != 15 {
		t.Errorf("%d %+v", total, items)
	}
	total, items = look("q=not+there")
	must.Equal(t, "total", total, 0)
	must.Equal(t, "items", len(items), 0)
	for _, bad := range []struct{ query, where string }{
		{"", "q"},
		{"q=x", "q"},
		{"q=" + strings.Repeat("x", 201), "q"},
		{"q=xx&limit=0", "limit"},
		{"q=xx&limit=101", "limit"},
		{"q=xx&limit=ten", "limit"},
		{"q=xx&offset=-1", "offset"},
	} {
		w.do(ask{method: "GET", path: "/vault/search?" + bad.query, token: token}).unfit("query", bad.where)
	}
}

func archiveOf(t *testing.T, b []byte) map[string]string {
	t.Helper()
	z := must.Get(zip.NewReader(bytes.NewReader(b), int64(len(b))))(t)
	files := map[string]string{}
	for _, f := range z.File {
		r := must.Get(f.Open())(t)
		content := must.Get(io.ReadAll(r))(t)
		if !fs.ValidPath(f.Name) || files[f.Name] != "" {
			t.Errorf("an entry is called %q", f.Name)
		}
		files[f.Name] = string(content)
	}
	return files
}

func TestExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	r := w.do(ask{method: "GET", path: "/vault/export", token: token}).want(200)
	must.Equal(t, "files", len(archiveOf(t, r.body)), 0)
	must.Equal(t, "type", r.header.Get("Content-Type"), "application/zip")
	w.fill(token, "a.md", "dir/x.md", "日.md")
	w.put(token, "C:x.md", "one").want(200)
	w.put(token, "c*x.md", "two").want(200)
	want := map[string]string{"a.md": "content of a.md", "dir/x.md": "content of dir/x.md", "日.md": "content of 日.md", "C_x.md": "one", "c_x (2).md": "two"}
	r = w.do(ask{method: "GET", path: "/vault/export", token: token}).want(200)
	must.Equal(t, "", archiveOf(t, r.body), want)
	r = w.do(ask{method: "GET", path: "/vault/export?prefix=dir/", token: token}).want(200)
	must.Equal(t, "", archiveOf(t, r.body), map[string]string{"dir/x.md": want["dir/x.md"]})
	w.do(ask{method: "GET", path: "/vault/export?prefix=" + strings.Repeat("p", 256), token: token}).unfit("query", "prefix")
}

// spoil changes the last byte of every file of a vault.
func spoil(t *testing.T, w *world) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(w.home.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, filepath.Join("state", "vault")) {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[len(b)-1] ^= 1
		n++
		return os.WriteFile(path, b, 0o600)
	})
	if err != nil || n == 0 {
		t.Fatalf("%d files: %v", n, err)
	}
}

// TestHalfAnArchiveIsNone: an export that meets damage is cut off.
func TestHalfAnArchiveIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.fill(token, "a.md", "b.md")
	spoil(t, w)
	r, err := w.try(ask{method: "GET", path: "/vault/export", token: token})
	if err == nil {
		t.Errorf("%d %q", r.status, r.body)
	}
	w.do(ask{method: "GET", path: "/vault/files/a.md", token: token}).fails(500, "DAMAGED")
	w.mu.Lock()
	defer w.mu.Unlock()
	must.Equal(t, "how an export that was cut off is counted", w.statuses["GET /api/v1/vault/export"], 500)
}

func TestEntryNames(t *testing.T) {
	t.Parallel()
	names := []string{
		"a.md", "A.md", "../../etc/passwd", "/abs", `..\..\x`, "c:con", "a/./b", "", "\x01\x7f", "a.MD",
		"d.md", "D.md/e.md", "CON.md", "notes/lpt1", "console", "x. .", "y ./z", "nul .txt", "COM¹",
	}
	want := []string{
		"a.md", "A (2).md", "etc/passwd", "abs", ".._.._x", "c_con", "a/b", "_", "__", "a (3).MD",
		"d (2).md", "D.md/e.md", "_CON.md", "notes/_lpt1", "console", "x___", "y__/z", "_nul .txt", "_COM¹",
	}
	must.Equal(t, "", vaultapi.EntryNames(names), want)
}

// TestAnArchiveCanBeUnpacked: two files of which one is called like the folder of
// the other are both there, and the one that has another name says which it had.
func TestAnArchiveCanBeUnpacked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.fill(token, "d.md", "d.md/e.md", "plain.md")
	r := w.do(ask{method: "GET", path: "/vault/export", token: token}).want(200)
	dir := t.TempDir()
	for name, content := range archiveOf(t, r.body) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		must.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
		must.NoError(t, os.WriteFile(to, []byte(content), 0o600))
	}
	z := must.Get(zip.NewReader(bytes.NewReader(r.body), int64(len(r.body))))(t)
	told := map[string]string{}
	for _, f := range z.File {
		told[f.Name] = f.Comment
	}
	want := map[string]string{"d (2).md": "in the vault: d.md", "d.md/e.md": "", "plain.md": ""}
	must.Equal(t, "", told, want)
}

// TestRoutes: Observe gets the pattern of the route of a request, and never its path.
func TestRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.put(token, "secret/x%2Fy.md", "x").want(200)
	w.do(ask{method: "POST", path: "/vault/files/secret/x/y.md/append", body: document("content", "y"), token: token}).want(200)
	w.do(ask{method: "GET", path: "/vault/export", token: token}).want(200)
	for _, path := range []string{"/vault", "/vault/files/", "/vaults", "/../v1", "/vault/activity", "/vault/status/", "/", "/auth/token/x"} {
		r := w.do(ask{method: "GET", path: path, token: token}).want(404)
		must.Equal(t, path, string(r.body), `{"detail":"Not Found"}`)
	}
	for path, allow := range map[string]string{"/vault/files": "GET", "/auth/token": "POST", "/vault/files/a/append": "GET, PUT, DELETE, POST", "/me/capabilities": "GET"} {
		r := w.do(ask{method: "PATCH", path: path, token: token}).want(405)
		must.Equal(t, path, r.header.Get("Allow"), allow)
		must.Equal(t, path, string(r.body), `{"detail":"Method Not Allowed"}`)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	want := "POST /api/v1/auth/token,PUT /api/v1/vault/files/{name},POST /api/v1/vault/files/{name}/append,GET /api/v1/vault/export"
	if got := strings.Join(w.routes[:4], ","); got != want || strings.Contains(fmt.Sprint(w.routes), "secret") {
		t.Errorf("%s", w.routes)
	}
	for _, r := range w.routes[4:] {
		if !strings.HasSuffix(r, " other") {
			t.Errorf("%s", r)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	must.Fail(vaultapi.New(vaultapi.Options{}))(t, "without options", amber.KindInvalid)
	var o vaultapi.Options // that work
	newWorld(t, func(given *vaultapi.Options) { o = *given })
	o.Random = noRandom{}
	must.Fail(vaultapi.New(o))(t, "without randomness", amber.KindInternal)
}

type noRandom struct{}

func (noRandom) Read([]byte) (int, error) { return 0, errors.New("no randomness") }
