package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// file is a file of a form.
type file struct{ name, text string }

// send sends a form with a file; fields are names and values in their order.
func (b *browser) send(path string, f *file, fields ...string) page {
	b.r.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i+1 < len(fields); i += 2 {
		must.Do(b.r.t, w.WriteField(fields[i], fields[i+1]))
	}
	if f != nil {
		p := must.Get(w.CreateFormFile("file", f.name))(b.r.t)
		must.Get(io.WriteString(p, f.text))(b.r.t)
	}
	must.Do(b.r.t, w.Close())
	return b.sendBody(path, w.FormDataContentType(), &body)
}

func (b *browser) sendBody(path, kind string, body io.Reader) page {
	b.r.t.Helper()
	req := must.Get(http.NewRequestWithContext(b.r.t.Context(), http.MethodPost, b.r.url+whole(path), body))(b.r.t)
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Origin", b.r.url)
	return b.do(req)
}

// graph is a file of the memory server of MCP with observations of one entity.
func graph(texts ...string) string {
	entity := map[string]any{"type": "entity", "name": "shop", "entityType": "project", "observations": texts}
	b, err := json.Marshal(entity)
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

func (r *rig) memories() int64 {
	r.t.Helper()
	return must.Get(r.store("acme", "ada").Stats.Stats(r.t.Context()))(r.t).Memories
}

func TestAFileIsTriedThenImportedThenTakenBack(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	b := r.visitor(ada)
	p := b.get("import")
	p.shows(t, "Nothing was imported yet", "found out from the file", "dry run", "Export")
	p.harmless(t)
	if v, checked := p.checkbox("dry_run"); v != "1" || !checked {
		t.Errorf("the dry run is not the default")
	}
	f := &file{"memory.jsonl", graph("We chose PostgreSQL", nasty)}
	p = b.send("import", f, "csrf", b.csrf, "from", "", "dry_run", "1")
	must.Equal(t, "status", p.status, http.StatusOK)
	p.shows(t, "Dry run: nothing was written", "mcp-memory", "memory.jsonl", "choose the file once more")
	p.harmless(t)
	must.Equal(t, "memories after a dry run", r.memories(), 0)
	if _, checked := p.checkbox("dry_run"); checked {
		t.Errorf("after a dry run the form asks for another one")
	}
	p = b.send("import", f, "csrf", b.csrf, "from", "mcp-memory", "project", "shop")
	p.shows(t, "Imported", "Take it back")
	p.harmless(t)
	imported := r.memories()
	must.Hold(t, imported > 0, "no memories were imported: %s", p.text())
	p = b.send("import", f, "csrf", b.csrf, "project", "shop")
	must.Equal(t, "memories after the same again", r.memories(), imported)

	list := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/tenants/acme/agents/ada/imports", nil))(t)
	list.Header.Set("Authorization", "Bearer "+ada)
	var records amber.Page[struct{ ID string }]
	must.Do(t, json.Unmarshal([]byte(b.do(list).body), &records))
	undo := "import/" + records.Items[0].ID + "/undo"
	b.get("import")
	b.post(undo, "word", "yes").shows(t, "Nothing was taken back")
	must.Equal(t, "memories", r.memories(), imported)
	b.post(undo, "word", "undo").shows(t, "The import was taken back")
	must.Equal(t, "memories after undo", r.memories(), 0)
}

// checkbox is the value of a box, and whether it is checked.
func (p page) checkbox(name string) (value string, checked bool) {
	for n := range p.all("input") {
		if attribute(n, "name") != name {
			continue
		}
		for _, a := range n.Attr {
			checked = checked || a.Key == "checked"
		}
		return attribute(n, "value"), checked
	}
	return "", false
}

func TestAnImportThatIsNotFromAPageOfTheSessionIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	b.get("import")
	f := &file{"memory.jsonl", graph("We chose PostgreSQL")}
	for name, p := range map[string]page{
		"no value":                 b.send("import", f),
		"another value":            b.send("import", f, "csrf", "x"),
		"the value too late":       b.send("import", f, "project", "shop", "csrf", b.csrf),
		"a file in its place":      b.sendBody("import", "multipart/form-data; boundary=x", strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"+b.csrf+"\r\n--x--\r\n")),
		"a form of one part":       b.post("import", "csrf", b.csrf),
		"other routes by the form": b.send("quarantine/retry", nil, "csrf", b.csrf),
		"a token by the form":      b.send("tokens", nil, "name", "x", "scope", "admin"),
	} {
		if p.status != http.StatusForbidden && p.status != http.StatusBadRequest {
			t.Errorf("%s: status %d: %s", name, p.status, p.text())
		}
	}
	must.Equal(t, "memories", r.memories(), 0)
	must.Equal(t, "tokens", len(must.Get(r.ledger.ListTokens(t.Context(), ""))(t)), 0)
}

func TestAnImportWithoutAFileAsksAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	b.get("import")
	b.send("import", nil, "csrf", b.csrf, "project", "my project").shows(t, "No file was chosen")
	p := b.send("import", &file{"", ""}, "csrf", b.csrf, "project", "my-project")
	p.shows(t, "No file was chosen")
	must.Equal(t, "project", p.value("project"), "my-project")
	b.send("import", &file{"empty.jsonl", ""}, "csrf", b.csrf).shows(t, "the body is empty")
	b.send("import", &file{"x.bin", "\x00\x01 nothing of any program"}, "csrf", b.csrf).shows(t, "mcp-memory") // the formats that there are
	must.Equal(t, "a long field", b.send("import", &file{"a", "b"}, "csrf", b.csrf, "project", strings.Repeat("x", 2000)).status, http.StatusBadRequest)
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprint("f", i), "x")
	}
	must.Equal(t, "many fields", b.send("import", &file{"a", "b"}, append([]string{"csrf", b.csrf}, many...)...).status, http.StatusBadRequest)
}

func TestImportsNeedTheScopeWrite(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	b := r.visitor(adaRead)
	p := b.get("import")
	p.shows(t, "takes a token with the scope write")
	must.Equal(t, "a form without its scope", p.has(adaHome+"/import"), false)
	must.Equal(t, "status", b.send("import", &file{"m.jsonl", graph("x")}, "csrf", b.csrf).status, http.StatusForbidden)
	must.Equal(t, "undo", b.post("import/x/undo", "word", "undo").status, http.StatusForbidden)
	must.Equal(t, "of another agent", r.visitor(eve).send("import", &file{"m.jsonl", graph("x")}, "csrf", "x").status, http.StatusNotFound)
	must.Equal(t, "memories", r.memories(), 0)
}

// A file that is larger than any other request arrives whole, and nothing of it stays behind.
func TestALargeFileIsImportedAsItArrives(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	b.get("import")
	var text strings.Builder
	for i := range 1200 {
		line := must.Get(json.Marshal(map[string]any{"type": "entity", "name": fmt.Sprint("e", i), "entityType": "x", "observations": []string{strings.Repeat(fmt.Sprint("word", i, " "), 1000)}}))(t)
		text.Write(line)
		text.WriteByte('\n')
	}
	must.Hold(t, text.Len() > 9<<20, "the file has %d bytes", text.Len())
	p := b.send("import", &file{"memory.jsonl", text.String()}, "csrf", b.csrf, "dry_run", "1")
	p.shows(t, "Dry run: nothing was written", "mcp-memory")
	if len(p.body) > 100_000 {
		t.Errorf("the page has %d bytes", len(p.body))
	}
	left := must.Get(filepath.Glob(filepath.Join(r.home, "*upload*")))(t)
	must.Equal(t, "files that are left", len(left), 0)
}
