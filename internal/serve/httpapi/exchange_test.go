package httpapi_test

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// aFile is an export of Amber with n memories.
func aFile(n int) string { return fileOf(n, "The queue %d is in SQLite, since it is one file.") }

func fileOf(n int, format string) string {
	var b strings.Builder
	b.WriteString(`{"amber":"export","version":1}` + "\n")
	for i := range n {
		at := amber.At(time.Date(2026, 1, 2, 3, 4, i%60, 0, time.UTC))
		content := fmt.Sprintf(format, i)
		line, err := json.Marshal(map[string]amber.Memory{"memory": {
			ID: amber.MemoryID(fmt.Sprintf("0198c0de-0000-7000-8000-%012d", i)), Kind: amber.WorkspaceFact, Scope: amber.ScopeGlobal, Title: "Queue", Content: content,
			Tags: []string{}, Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{}, Trust: amber.TrustOwn, Revision: 1, ContentDigest: amber.ContentDigest(content),
			Origin: amber.Origin{Device: "elsewhere", Counter: 1, Clock: amber.StampAt(at.Time())}, CreatedAt: at, UpdatedAt: at,
		}})
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// noise is a text of 2n characters that packs badly.
func noise(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// onDisk returns a store that can be synced, for as long as a test runs.
func onDisk(t testing.TB, clock amber.Clock) amber.Store {
	t.Helper()
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: clock, Random: rand.Reader})
	must.Do(t, err)
	folder := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	s := must.Get(sqlite.Open(context.Background(), folder, sqlite.Options{Clock: clock, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	return s.Store()
}

// lazily is the sync of such a store, which is made for those tests that use it.
func lazily(t testing.TB, clock amber.Clock) amber.Replica {
	return lazy{store: sync.OnceValue(func() amber.Replica { return onDisk(t, clock).Sync })}
}

type lazy struct {
	amber.Replica
	store func() amber.Replica
}

func (l lazy) Apply(ctx context.Context, in amber.Incoming) (amber.Applied, error) {
	return l.store().Apply(ctx, in)
}

func (l lazy) Links(ctx context.Context, q amber.LinkQuery) ([]amber.SyncLink, error) {
	return l.store().Links(ctx, q)
}

func (l lazy) SyncRecords(ctx context.Context, refs []amber.SyncRef) ([]amber.SyncRecord, error) {
	return l.store().SyncRecords(ctx, refs)
}

func (l lazy) Held(ctx context.Context, place string, marks []amber.SyncMark) ([]bool, error) {
	return l.store().Held(ctx, place, marks)
}

func (l lazy) Exported(ctx context.Context, n amber.ExportNote) error {
	return l.store().Exported(ctx, n)
}

// importing is a rig whose agents are on disk, and where secrets are taken out.
func importing(t testing.TB, tweaks ...func(*rig, *httpapi.Options)) *rig {
	t.Helper()
	rules := redact.New()
	r := newRig(t, append(tweaks, func(_ *rig, o *httpapi.Options) { o.Desk.Redact = func() *redact.Redactor { return rules } })...)
	for _, name := range []string{"acme/ada", "umbrella/eve"} {
		r.agents[name].Store = onDisk(t, r.clock.Read)
	}
	return r
}

// upload imports a file of ada's.
func (r *rig) upload(query, body string) reply {
	r.t.Helper()
	return r.ask(call{method: "POST", path: "imports?" + query, body: body, token: ada})
}

func (a reply) imported() (report wire.ForeignImport) {
	a.t.Helper()
	must.Do(a.t, json.Unmarshal(a.want(http.StatusOK).body, &report))
	return report
}

// contents are those of ada's memories.
func (r *rig) contents() (all []string) {
	r.t.Helper()
	for q := (amber.ListQuery{All: true, Limit: amber.MaxPageSize}); ; {
		page := must.Get(r.store("acme/ada").Memories.List(context.Background(), q))(r.t)
		for _, m := range page.Items {
			all = append(all, m.Content)
		}
		if q.Cursor = page.Next; page.Next == "" {
			return all
		}
	}
}

// zipped is a zip file.
func zipped(t testing.TB, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		_ = must.Get(io.WriteString(must.Get(z.Create(name))(t), text))(t)
	}
	must.Do(t, z.Close())
	return b.String()
}

// tarred is a tar.gz file.
func tarred(t testing.TB, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	must.Do(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}))
	_ = must.Get(io.WriteString(w, text))(t)
	must.Do(t, errors.Join(w.Close(), z.Close()))
	return b.String()
}

// TestAFileIsImportedOnceAndTakenBack uploads a file, again, lists, undoes and uploads once more.
func TestAFileIsImportedOnceAndTakenBack(t *testing.T) {
	t.Parallel()
	r := importing(t)
	look := r.upload("name=a.jsonl&dry_run=true", aFile(3)).imported()
	must.Equal(t, "a dry run finds", look.New, 3)
	must.Equal(t, "a dry run has made an import", look.ID, "")
	must.Equal(t, "memories after a dry run", len(r.contents()), 0)
	must.Equal(t, "entries of the audit log", len(r.book.Entries(0)), 0)

	first := r.upload("name=a.jsonl", aFile(3)).imported()
	must.Equal(t, "new", first.New, 3)
	must.Equal(t, "path, format and trust", []string{first.Path, first.Format, first.Trust}, []string{"a.jsonl", "amber", "imported"})
	must.Equal(t, "memories", len(r.contents()), 3)
	e := r.book.Entries(0)
	must.Equal(t, "the audit log", []string{e[0].Action, e[0].Subject, e[0].Outcome}, []string{"import.upload", first.ID, "ok"})

	head := must.Get(r.store("acme/ada").Changes.Head(t.Context()))(t)
	again := r.upload("name=a.jsonl", aFile(3)).imported()
	must.Equal(t, "new, changed, known and id of the second", []any{again.New, again.Changed, again.Known, again.ID}, []any{int64(0), int64(0), int64(3), ""})
	must.Equal(t, "the store after the second", must.Get(r.store("acme/ada").Changes.Head(t.Context()))(t), head)

	list := r.ask(call{method: "GET", path: "imports", token: adaRead}).want(200)
	must.Equal(t, "the list", []string{list.text("items.0.id"), list.text("items.0.path")}, []string{first.ID, "a.jsonl"})
	undone := r.ask(call{method: "POST", path: "imports/" + first.ID + "/undo", token: ada}).want(200)
	must.Equal(t, "deleted", undone.field("deleted").(float64), 3)
	must.Equal(t, "memories after undo", len(r.contents()), 0)
	must.Equal(t, "undoing again", r.ask(call{method: "POST", path: "imports/" + first.ID + "/undo", token: ada}).want(200).field("already").(bool), true)
	r.ask(call{method: "POST", path: "imports/0198c0de-0000-7000-8000-000000000001/undo", token: ada}).failed(amber.KindNotFound)
	r.ask(call{method: "POST", path: "imports?name=a.jsonl&as_own=true", body: aFile(3), token: adaBot}).failed(amber.KindRefused)
	must.Equal(t, "memories after an import as own by an agent", len(r.contents()), 0)
	must.Equal(t, "new after undo", r.upload("name=a.jsonl&as_own=true", aFile(3)).imported().New, 3)
	must.Equal(t, "memories of a stranger's agent", len(must.Get(r.store("umbrella/eve").Memories.List(t.Context(), amber.ListQuery{All: true}))(t).Items), 0)
}

// The entries that hooks have written into the journal are stored before an import, and before an import is taken
// back.
func TestTheJournalComesBeforeAnImport(t *testing.T) {
	t.Parallel()
	r := importing(t)
	var settled []int // memories that were there
	r.agents["acme/ada"].Settle = func(context.Context) []string {
		settled = append(settled, len(r.contents()))
		return []string{"2 entries of session s"}
	}
	r.upload("name=a.jsonl&dry_run=true", aFile(1)).imported()
	must.Equal(t, "settled for a dry run", len(settled), 0)
	report := r.upload("name=a.jsonl", aFile(1)).imported()
	must.Says(t, "warnings", fmt.Sprint(report.Warnings), "may be stored twice: 2 entries of session s")
	r.ask(call{method: "POST", path: "imports/" + report.ID + "/undo", token: ada}).want(http.StatusOK)
	must.Equal(t, "memories at each time", settled, []int{0, 1})
}

func TestAFolderIsImportedAsAnArchive(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"home.zip":    zipped(t, map[string]string{"notes/a.jsonl": aFile(2)}),
		"home":        zipped(t, map[string]string{"notes/a.jsonl": aFile(2)}),
		"home.tar.gz": tarred(t, "notes/a.jsonl", aFile(2)),
	} {
		r := importing(t)
		got := r.upload("from=amber&name="+name, body).imported()
		must.Equal(t, name+": new, files and path", []any{got.New, got.Files, got.Path}, []any{int64(2), int64(1), name})
	}
}

// TestSecretsAreTakenOutOfAnUpload: by the rules of the server, and the answer says so.
func TestSecretsAreTakenOutOfAnUpload(t *testing.T) {
	t.Parallel()
	r := importing(t)
	secret := githubToken
	a := r.upload("name=a.jsonl", fileOf(1, "The token "+secret+" is of machine %d."))
	must.Equal(t, "memories", a.imported().New, 1)
	must.Says(t, "header", a.header.Get("Amber-Redacted"), "github-token=1")
	must.Hides(t, "memory", r.contents()[0], secret)
	must.Hides(t, "answer", string(a.body), secret)
}

func TestUploadsThatCannotBeImported(t *testing.T) {
	t.Parallel()
	r := importing(t)
	zeros := zipped(t, map[string]string{"a.jsonl": strings.Repeat("\x00", 8<<20)})
	for what, c := range map[string]struct{ query, body, says string }{
		"no format fits":    {"name=a.bin", "\x00\x01\x02", formats.Names(formats.Read())},
		"an unknown format": {"from=nosuch", aFile(1), formats.Names(formats.Read())},
		"nothing":           {"name=a.jsonl", "", "empty"},
		"half a zip file":   {"name=a.zip", zeros[:len(zeros)/2], "zip file cannot be read"},
		"a zip bomb":        {"from=amber&name=a.zip", zeros, "200 times"},
		"a bomb in a tar":   {"from=amber&name=a.tar.gz", tarred(t, "a.jsonl", strings.Repeat("\x00", 8<<20)), "200 times"},
		"a name of folders": {"name=" + url.QueryEscape("../../etc/passwd"), aFile(1), "name of a file"},
		"a part":            {"only=everything", aFile(1), "memories"},
		"a project":         {"project=" + url.QueryEscape("a\nb"), aFile(1), "project"},
		"a time":            {"since=yesterday", aFile(1), "since"},
	} {
		a := r.upload(c.query, c.body).failed(amber.KindInvalid)
		must.Says(t, what, string(a.body), c.says)
		must.Hides(t, what, string(a.body), os.TempDir()+"/amber")
	}
	must.Equal(t, "memories", len(r.contents()), 0)
}

// An upload of a file that another command imports is refused: the error names the command.
func TestUploadsThatAnotherCommandImports(t *testing.T) {
	t.Parallel()
	r := importing(t)
	for what, c := range map[string]struct{ query, body, says string }{
		"a buffer of nexus":  {"name=codex.json", `{"started_at":"2026-01-02T03:00:00Z","entries":[{"context_type":"checkpoint"`, "amber journal import codex.json"},
		"a backup of Engram": {"name=b.json", `{"version":"0.1.0","exported_at":"x","sessions":[],"observations":[]}`, "amber sync import --format engram --dir b.json"},
		"a named format":     {"name=a.jsonl&from=nexo", aFile(1), "amber bundle import a.jsonl"},
	} {
		must.Says(t, what, string(r.upload(c.query, c.body).failed(amber.KindUnsupported).body), c.says)
	}
	must.Equal(t, "memories", len(r.contents()), 0)
}

// TestUploadsAreBounded in size, by the disk, and in number.
func TestUploadsAreBounded(t *testing.T) {
	t.Parallel()
	var free uint64 = 1 << 40
	r := importing(t)
	file := aFile(100)
	r.api.SetUploads(int64(len(file)), 1, func() uint64 { return free })
	must.Equal(t, "new of one at the bound", r.upload("name=a.jsonl", file).imported().New, 100)
	r.upload("name=a.jsonl", file+"\n").failed(amber.KindInvalid)
	q := r.request(t.Context(), call{method: "POST", path: "imports?name=a.jsonl", token: ada})
	q.Body, q.ContentLength = io.NopCloser(strings.NewReader(file+"\n")), -1
	a := r.send(q).failed(amber.KindInvalid)
	must.Says(t, "without a length", string(a.body), fmt.Sprintf("larger than %d bytes", len(file)))

	free = 1 << 20
	r.upload("name=a.jsonl", file).failed(amber.KindQuota)
	free = 1 << 40

	c, in := r.beginUpload(len(file))
	r.upload("name=a.jsonl", file).failed(amber.KindBusy)
	_ = must.Get(io.WriteString(c, file))(t)
	resp := must.Get(http.ReadResponse(in, nil))(t)
	defer resp.Body.Close()
	first := reply{t, resp.StatusCode, resp.Header, must.Get(io.ReadAll(resp.Body))(t)}
	must.Equal(t, "known in the one that came first", first.imported().Known, 100)
	must.Do(t, c.Close())
}

// beginUpload begins an upload of ada's, and returns when the server reads the body.
func (r *rig) beginUpload(size int) (net.Conn, *bufio.Reader) {
	r.t.Helper()
	host := strings.TrimPrefix(r.url, "http://")
	c := must.Get(net.Dial("tcp", host))(r.t)
	fmt.Fprintf(c, "POST %s/imports?name=a.jsonl HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		adaPath, host, ada, size)
	in := bufio.NewReader(c)
	must.Says(r.t, "the server", must.Get(in.ReadString('\n'))(r.t), "100 Continue")
	_ = must.Get(in.ReadString('\n'))(r.t)
	return c, in
}

// answered is a tweak that sends the status of every request that has ended.
func answered(told chan<- int) func(*rig, *httpapi.Options) {
	return func(_ *rig, o *httpapi.Options) {
		o.Observe = func(_, _ string, status int, _ time.Duration, _, _ int64) { told <- status }
	}
}

// send makes a request and reads the answer.
func (r *rig) send(q *http.Request) reply {
	r.t.Helper()
	resp := must.Get(r.do.Do(q))(r.t)
	defer resp.Body.Close()
	return reply{r.t, resp.StatusCode, resp.Header, must.Get(io.ReadAll(resp.Body))(r.t)}
}

// TestAnUploadThatBreaksOffLeavesNothing: neither a file nor half an import, and the next try completes it.
func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	over := make(chan int, 16)
	r := importing(t, answered(over))
	file := aFile(600)
	c, _ := r.beginUpload(len(file))
	must.Equal(t, "files while it comes", len(must.Get(os.ReadDir(temp))(t)), 1)
	_ = must.Get(io.WriteString(c, file[:len(file)/2]))(t)
	must.Do(t, c.Close())
	must.Equal(t, "status", <-over, http.StatusBadRequest)
	must.Equal(t, "files afterwards", len(must.Get(os.ReadDir(temp))(t)), 0)
	must.Equal(t, "memories", len(r.contents()), 0)
	must.Equal(t, "entries of the audit log", len(r.book.Entries(0)), 0)
	must.Equal(t, "new in the next try", r.upload("name=a.jsonl", file).imported().New, 600)
	// An archive is copied, too.
	must.Equal(t, "new in a zip file", r.upload("from=amber&name=a.tar.gz", tarred(t, "a.jsonl", file)).imported().Known, 600)
	r.upload("from=amber&name=a.tar.gz", "nothing of that kind").failed(amber.KindInvalid)
	must.Equal(t, "files at the end", len(must.Get(os.ReadDir(temp))(t)), 0)
}

// TestAbandonedUploadsAreRemoved: a server that was killed leaves the file of an upload, and the next server
// removes it. The file of an upload that is being received stays.
func TestAbandonedUploadsAreRemoved(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	over := make(chan int, 16)
	r := importing(t, answered(over))
	must.Do(t, os.WriteFile(filepath.Join(temp, "amber-upload-1.amber-scratch"), []byte("half a file"), 0o600))
	own := filepath.Join(temp, "amber-upload-backup.zip")
	must.Do(t, os.WriteFile(own, []byte("a file of the user"), 0o600))
	file := aFile(3)
	c, _ := r.beginUpload(len(file))
	r.api.RemoveAbandoned()
	left := must.Get(os.ReadDir(temp))(t)
	must.Equal(t, "files", len(left), 2)
	must.Equal(t, "the abandoned one is there", left[0].Name() == "amber-upload-1.amber-scratch", false)
	must.Equal(t, "the file of the user", string(must.Get(os.ReadFile(own))(t)), "a file of the user")
	must.Do(t, os.Remove(own))
	_ = must.Get(io.WriteString(c, file))(t)
	must.Equal(t, "status", <-over, http.StatusOK)
	must.Do(t, c.Close())
	must.Equal(t, "memories", len(r.contents()), 3)
	must.Equal(t, "files afterwards", len(must.Get(os.ReadDir(temp))(t)), 0)
}

// cut is a store that fails after some chunks, as one does whose caller has gone.
type cut struct {
	amber.Replica
	left   int
	cancel func()
}

func (c *cut) Apply(ctx context.Context, in amber.Incoming) (amber.Applied, error) {
	if c.left--; c.left < 0 {
		c.cancel()
		<-ctx.Done()
		return amber.Applied{}, ctx.Err()
	}
	return c.Replica.Apply(ctx, in)
}

// TestAnImportWhoseCallerLeavesIsCompletedByTheNext: the caller goes while the import runs.
func TestAnImportWhoseCallerLeavesIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	over := make(chan int, 16)
	r := importing(t, answered(over))
	store := r.store("acme/ada")
	ctx, cancel := context.WithCancel(t.Context())
	broken := store
	broken.Sync = &cut{Replica: store.Sync, left: 1, cancel: cancel}
	r.agents["acme/ada"].Store = broken
	file := fileOf(48, "%d: "+noise(30<<10)) // three chunks
	_, err := r.do.Do(r.request(ctx, call{method: "POST", path: "imports?name=a.jsonl", body: file, token: ada}))
	must.Is(t, "the first", err, context.Canceled)
	<-over
	r.agents["acme/ada"].Store = store
	report := r.upload("name=a.jsonl", file).imported()
	must.Hold(t, report.New > 0 && report.Known > 0, "the next found %d new and %d known, want some of both", report.New, report.Known)
	must.Equal(t, "memories", len(r.contents()), 48)
}

// TestTheKeyOfAnUpload: the same file with the same key gets the same answer, another file is a conflict.
func TestTheKeyOfAnUpload(t *testing.T) {
	t.Parallel()
	r := importing(t, func(r *rig, o *httpapi.Options) { o.Answers = newDoor(t, r.clock.Read) })
	c := call{method: "POST", path: "imports?name=a.jsonl", body: aFile(2), token: ada, header: keyed("k")}
	first := r.ask(c).want(200)
	again := r.ask(c).want(200)
	must.Equal(t, "the answer", string(again.body), string(first.body))
	must.Equal(t, "replayed", again.header.Get("Idempotent-Replayed"), "true")
	c.body = aFile(3)
	r.ask(c).failed(amber.KindConflict)
}

// TestATokenThatMayNotReadImports: the answer has what the caller needs to take the import back, and nothing of
// what was stored before.
func TestATokenThatMayNotReadImports(t *testing.T) {
	t.Parallel()
	r := importing(t)
	r.keys.grants["blind"] = wire.Grant{Token: "t-blind", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenWrite}}
	a := r.ask(call{method: "POST", path: "imports?name=a.jsonl", body: aFile(2), token: "blind"}).want(200)
	id := a.text("id")
	must.Equal(t, "the receipt is as wanted", equalJSON(t, a.body, fmt.Sprintf(
		`{"id":%q,"format":"amber","title":"Amber JSONL","path":"a.jsonl","files":1,"bytes":%d,"trust":"imported","dry_run":false}`, id, len(aFile(2)))), true)
	r.ask(call{method: "GET", path: "imports", token: "blind"}).failed(amber.KindRefused)
	r.ask(call{method: "GET", path: "export?to=amber", token: "blind"}).failed(amber.KindRefused)
	r.ask(call{method: "POST", path: "imports/" + id + "/undo", token: "blind"}).want(200)
	for token, kind := range map[string]amber.Kind{adaRead: amber.KindRefused, "-": amber.KindRefused} {
		r.ask(call{method: "POST", path: "imports", body: aFile(1), token: token}).failed(kind)
		r.ask(call{method: "POST", path: "imports/" + id + "/undo", token: token}).failed(kind)
	}
	r.ask(call{method: "POST", path: "/v1/tenants/umbrella/agents/eve/imports", body: aFile(1), token: ada}).failed(amber.KindNotFound)
	r.ask(call{method: "GET", path: "/v1/tenants/umbrella/agents/eve/export?to=amber", token: ada}).failed(amber.KindNotFound)
	must.Equal(t, "memories", len(r.contents()), 0)
}

// TestImportsMadeOnTheServerShowNoFolder: a caller of one tenant does not see the folder of a file that was
// imported on the server.
func TestImportsMadeOnTheServerShowNoFolder(t *testing.T) {
	t.Parallel()
	r := importing(t)
	link := amber.SyncLink{
		Tool: "import", Chunk: "i1", Ref: amber.SyncRef{Scope: "import", ID: "i1"}, Extra: `{"id":"i1","format":"amber","path":"/srv/secret/a.jsonl","trust":"own"}`,
	}
	first := r.upload("name=a.jsonl", aFile(1)).imported()
	made := must.Get(r.store("acme/ada").Sync.Links(t.Context(), amber.LinkQuery{Tool: "import", Chunk: first.ID}))(t)
	link.Fingerprint = made[0].Fingerprint
	must.Do(t, must.Err(r.store("acme/ada").Sync.Apply(t.Context(), amber.Incoming{Place: "import/amber", Chunk: "i1-1", Device: "amber", CreatedBy: "import", At: amber.At(r.clock.Read()), Trust: amber.TrustOwn, Links: []amber.SyncLink{link}})))
	for token, told := range map[string]bool{root: true, ada: false} {
		body := string(r.ask(call{method: "GET", path: "imports", token: token}).want(200).body)
		must.Equal(t, "the folder is told to "+token, strings.Contains(body, "/srv/secret"), told)
		must.Says(t, token, body, "a.jsonl", first.ID)
	}
}

// download is an export, with its trailer.
func (r *rig) download(query string) (body []byte, kind string, report wire.ForeignExport) {
	r.t.Helper()
	resp := must.Get(r.do.Do(r.request(r.t.Context(), call{method: "GET", path: "export?" + query, token: adaRead})))(r.t)
	defer resp.Body.Close()
	body = must.Get(io.ReadAll(resp.Body))(r.t)
	must.Equal(r.t, query, resp.StatusCode, http.StatusOK)
	must.Do(r.t, json.Unmarshal([]byte(resp.Trailer.Get("Amber-Export")), &report))
	return body, resp.Header.Get("Content-Type"), report
}

// TestEveryWrittenFormatIsExported as a file, or as a zip file of its folder.
func TestEveryWrittenFormatIsExported(t *testing.T) {
	t.Parallel()
	r := importing(t)
	r.upload("name=a.jsonl", aFile(3)).want(200)
	for _, f := range formats.Written() {
		body, kind, report := r.download("to=" + f.Name)
		must.Equal(t, f.Name+": memories", report.Memories, 3)
		if !f.Folder {
			must.Equal(t, f.Name+": type", kind, "application/octet-stream")
			must.Says(t, f.Name, string(body), "The queue 2 is in SQLite")
			continue
		}
		must.Equal(t, f.Name+": type", kind, "application/zip")
		z := must.Get(zip.NewReader(bytes.NewReader(body), int64(len(body))))(t)
		must.Equal(t, f.Name+": there are files", len(z.File) > 0, true)
	}
	// The server knows the memories of its own export again.
	body, _, _ := r.download("to=amber")
	got := r.upload("name=a.jsonl", string(body)).imported()
	must.Equal(t, "new and known", []int64{got.Memories.New, got.Memories.Known}, []int64{0, 3})
}

// TestWhatStaysInAnExport: memories of users that are not named, other projects, private passages, secrets.
func TestWhatStaysInAnExport(t *testing.T) {
	t.Parallel()
	r := importing(t)
	for _, w := range []amber.WriteRequest{
		{Content: "of ada", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}},
		{Content: "of bob", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "bob"}},
		{Content: "of the shop", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop"}},
		{Content: "of all <private>but this</private>, with " + githubToken},
	} {
		must.Do(t, must.Err(r.store("acme/ada").LongTerm.Write(t.Context(), w)))
	}
	for query, want := range map[string]struct {
		memories, held int64
		says, hides    []string
	}{
		"to=amber":                   {2, 2, []string{"of the shop", "of all"}, []string{"of ada", "of bob", "but this", "ghp_"}},
		"to=amber&user=ada":          {3, 1, []string{"of ada"}, []string{"of bob"}},
		"to=amber&user=ada&user=bob": {4, 0, []string{"of ada", "of bob"}, nil},
		"to=amber&all_users=true":    {4, 0, []string{"of ada", "of bob"}, nil},
		"to=amber&project=shop":      {1, 0, []string{"of the shop"}, []string{"of all"}},
		"to=amber&private=true":      {2, 2, []string{"but this"}, []string{"ghp_"}},
	} {
		body, _, report := r.download(query)
		must.Equal(t, query+": memories and held", []int64{report.Memories, report.Held}, []int64{want.memories, want.held})
		must.Says(t, query, string(body), want.says...)
		must.Hides(t, query, string(body), want.hides...)
	}
	for query, says := range map[string]string{"": formats.Names(formats.Written()), "to=nosuch": formats.Names(formats.Written()), "to=amber&user=": "user", "to=amber&project=%0a": "project"} {
		must.Says(t, query, string(r.ask(call{method: "GET", path: "export?" + query}).failed(amber.KindInvalid).body), says)
	}
	must.Equal(t, "HEAD", len(r.ask(call{method: "HEAD", path: "export?to=amber"}).want(200).body), 0)
	must.Equal(t, "entries of the audit log", len(r.book.Entries(0)), 0)
}

// failing is a store whose sessions cannot be read.
type failing struct{ amber.Sessions }

func (failing) ListSessions(context.Context, amber.SessionQuery) (amber.Page[amber.Session], error) {
	return amber.Page[amber.Session]{}, amber.Errorf(amber.KindDamaged, "list sessions", "", "the page is torn")
}

// TestAnExportThatFailsIsNotTakenForAWhole: where the answer has begun the server cuts the connection, otherwise it
// answers with the error.
func TestAnExportThatFailsIsNotTakenForAWhole(t *testing.T) {
	t.Parallel()
	r := importing(t)
	store := r.store("acme/ada")
	store.Sessions = failing{store.Sessions}
	r.agents["acme/ada"].Store = store
	r.ask(call{method: "GET", path: "export?to=amber"}).failed(amber.KindDamaged) // all of it is still held back
	r.upload("name=a.jsonl", fileOf(50, "%d: "+noise(4<<10))).want(200)
	for _, encoding := range []string{"identity", "gzip"} {
		q := r.request(t.Context(), call{method: "GET", path: "export?to=amber", header: servertest.Header("Accept-Encoding", encoding)})
		resp, err := r.do.Do(q)
		if encoding == "gzip" && err != nil {
			must.Is(t, encoding, err, io.EOF) // the packer held all of it back
			continue
		}
		must.Do(t, err)
		n, err := io.Copy(io.Discard, resp.Body)
		must.Do(t, resp.Body.Close())
		must.Is(t, encoding, err, io.ErrUnexpectedEOF)
		must.Equal(t, encoding+": something came", n > 0, true)
		must.Equal(t, encoding+": trailer", resp.Trailer.Get("Amber-Export"), "")
	}
}
