package gitsync_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Rows of Engram with room for one more field.
const (
	engramSession = `{"id":"s1","project":"acme/shop","directory":"/x","started_at":"2026-01-01 00:00:00"%s}`
	engramRow     = `{"id":1,"session_id":"s1","type":"bugfix","title":"t","content":"c","project":"acme/shop","scope":"project",` +
		`"revision_count":1,"duplicate_count":1,"created_at":"2026-01-01 00:00:00","updated_at":"2026-01-01 00:00:00"%s}`
	engramPrompt = `{"id":1,"session_id":"s1","content":"p","project":"acme/shop","created_at":"2026-01-01 00:00:00"%s}`
)

func engramDoc(session, row, prompt string) string {
	return fmt.Sprintf(`{"sessions":[`+engramSession+`],"observations":[`+engramRow+`],"prompts":[`+engramPrompt+`]}`, session, row, prompt)
}

// finds puts a chunk of that text into the folder of a clone, which imports it.
func (c *clone) finds(doc string) (id string) {
	c.t.Helper()
	sum := sha256.Sum256([]byte(doc))
	id = hex.EncodeToString(sum[:4])
	c.put("chunks/"+id+".jsonl.gz", zip(c.t, doc))
	if r := c.imports(); len(r.Quarantined) > 0 || r.Chunks != 1 {
		c.t.Fatalf("import: %+v", r)
	}
	return id
}

// anew exports to a new folder of Engram that no program has used, and returns what is in it.
func (c *clone) anew(o gitsync.ExportOptions) (r wire.SyncExport, text string) {
	c.t.Helper()
	to := engramFolder(c.t, c.Store)
	r = must.Get(to.Export(c.t.Context(), o))(c.t)
	return r, engramText(c.t, to.Dir())
}

func engramFolder(t *testing.T, from gitsync.Source) *gitsync.Sync {
	t.Helper()
	return must.Get(gitsync.Open(from, filepath.Join(t.TempDir(), ".engram")))(t)
}

// engramText returns the text of all chunks in a folder.
func engramText(t *testing.T, dir string) (text string) {
	t.Helper()
	for _, f := range must.Get(filepath.Glob(filepath.Join(dir, "chunks", "*.gz")))(t) {
		b := must.Get(os.ReadFile(f))(t)
		text += unzip(t, b) + "\n"
	}
	return text
}

func TestSecretsInRowsOfEngramDoNotLeave(t *testing.T) {
	t.Parallel()
	hidden := `\u0067` + oneKey[1:]
	for name, doc := range map[string]string{
		"a folder":                           strings.Replace(engramDoc("", "", ""), "/x", "/x/"+oneKey, 1),
		"a summary":                          engramDoc(`,"summary":"`+oneKey+`"`, "", ""),
		"a field nobody knows, of a session": engramDoc(`,"note":"`+oneKey+`"`, "", ""),
		"the name of a tool":                 strings.Replace(engramDoc("", "", ""), `"c",`, `"c","tool_name":"`+oneKey+`",`, 1),
		"a type":                             strings.Replace(engramDoc("", "", ""), "bugfix", oneKey, 1),
		"a title in two lines":               strings.Replace(engramDoc("", "", ""), `"t"`, `"t\n`+oneKey+`"`, 1),
		"a topic that is not valid":          strings.Replace(engramDoc("", "", ""), `"project",`, `"project","topic_key":"`+strings.Repeat("x", 300)+" "+oneKey+`",`, 1),
		"a field nobody knows":               engramDoc("", `,"note":"`+oneKey+`"`, ""),
		"a field nobody knows, escaped":      engramDoc("", `,"note":"`+hidden+`"`, ""),
		"the name of a field":                engramDoc("", `,"`+oneKey+`":1,"`+anotherKey+`":2`, ""),
		"a field nobody knows, of a prompt":  engramDoc("", "", `,"note":"`+oneKey+`"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := engramClone(t)
			id := c.finds(doc)
			if r, _ := c.anew(gitsync.ExportOptions{NoRedact: true}); !slices.Equal(r.ChunkIDs, []string{id}) {
				t.Errorf("with secrets it is another chunk than %s: %+v", id, r)
			}
			_, err := engramFolder(t, c.Store).Export(t.Context(), gitsync.ExportOptions{RefuseSecrets: true})
			must.Kind(t, "an export that refuses secrets", err, amber.KindRefused)
			r, text := c.anew(gitsync.ExportOptions{})
			for _, key := range []string{oneKey, anotherKey, hidden} {
				if strings.Contains(text, key) {
					t.Errorf("left, with %v redacted and %v withheld:\n%s", r.Redacted, r.Withheld, text)
				}
			}
			if len(r.Redacted) == 0 || r.Sessions != 1 || r.Observations != 1 || r.Prompts != 1 {
				t.Errorf("%+v\n%s", r, text)
			}
		})
	}
}

// Two rows that had secrets for names do not become one.
func TestRowsOfEngramWithSecretsForNamesStayApart(t *testing.T) {
	t.Parallel()
	row := func(name, key string) string {
		return strings.Replace(fmt.Sprintf(engramRow, `,"sync_id":"obs-`+key+`"`), `"c"`, `"`+name+`"`, 1)
	}
	c := engramClone(t)
	c.finds(fmt.Sprintf(`{"sessions":[`+engramSession+`],"observations":[%s,%s],"prompts":null}`, "", row("one", oneKey), row("two", anotherKey)))
	r, text := c.anew(gitsync.ExportOptions{})
	if strings.Contains(text, oneKey) || strings.Contains(text, anotherKey) || strings.Contains(text, `"sync_id":"[`) || r.Observations != 2 {
		t.Errorf("%+v\n%s", r, text)
	}
}

func TestPrivatePassagesOfRowsStayWhateverIsRedacted(t *testing.T) {
	t.Parallel()
	const hidden = "HIDDEN"
	c := engramClone(t)
	c.finds(strings.Replace(engramDoc(`,"note":"<private>`+hidden+`"`, `,"note":"<private>`+hidden+`</private>","open":"\u003cprivate\u003e`+hidden+`"`,
		`,"note":{"<private>`+hidden+`":1}`), `"t"`, `"a\n<private>`+hidden+`</private>"`, 1))
	for _, o := range []gitsync.ExportOptions{{}, {NoRedact: true}} {
		if r, text := c.anew(o); strings.Contains(text, hidden) || r.Observations != 1 || r.Prompts != 1 {
			t.Errorf("with %+v: %+v\n%s", o, r, text)
		}
	}
}

func TestASessionOfAnotherProjectIsAnIDAndNoMore(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	s, err := c.StartSession(t.Context(), amber.SessionStart{Binding: "x", Project: "client/nda", Directory: "/home/me/nda", Name: "NDA talks"})
	must.Do(t, err)
	c.write(amber.WriteRequest{Content: "a fact", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: shop, SessionID: s.ID}})
	r := c.export(gitsync.ExportOptions{Project: shop})
	text := engramText(t, c.folder)
	want := fmt.Sprintf(`{"sessions":[{"id":%q,"project":%q,"directory":".",`, s.ID, shop)
	if strings.Contains(strings.ToLower(text), "nda") || !strings.HasPrefix(text, want) || r.Observations != 1 {
		t.Errorf("%+v\n%s", r, text)
	}
}

func TestAnErasureReachesFoldersOfEngram(t *testing.T) {
	t.Parallel()
	a, b := engramClone(t), engramClone(t)
	id := a.save("to be erased")
	a.save("stays")
	a.pushes(b)
	must.Get(a.Erase(t.Context(), id))(t)
	r := a.export(gitsync.ExportOptions{})
	must.Equal(t, "exported deletions", r.Deleted, 1)
	if text := engramText(t, a.folder); !strings.Contains(text, fmt.Sprintf(`"entity_key":%q,"op":"delete"`, id)) {
		t.Errorf("no row is named:\n%s", text)
	}
	a.gives(b)
	b.imports()
	wantTexts(t, b, "stays")
	a.exportsNothing()
	// An export to a folder that never had the memory writes no deletion of it.
	if r, text := a.anew(gitsync.ExportOptions{}); r.Deleted != 0 || strings.Contains(text, string(id)) {
		t.Errorf("the first export to another folder: %+v\n%s", r, text)
	}
}

// A row that has a secret for a name is written under another one.
func TestADeletionIsToldByANameThatMayLeave(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	c.finds(engramDoc("", `,"sync_id":"obs-`+oneKey+`"`, ""))
	page, err := c.List(t.Context(), amber.ListQuery{All: true, Limit: 1})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	id := page.Items[0].ID
	to := engramFolder(t, c.Store)
	must.Equal(t, "exported", must.Get(to.Export(t.Context(), gitsync.ExportOptions{}))(t).Observations, 1)
	must.Do(t, c.Delete(t.Context(), id))
	if r, err := to.Export(t.Context(), gitsync.ExportOptions{}); err != nil || r.Deleted != 1 || len(r.Withheld) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	text := engramText(t, to.Dir())
	if strings.Contains(text, oneKey) || !strings.Contains(text, fmt.Sprintf(`"entity_key":%q,"op":"delete"`, id)) {
		t.Errorf("%s", text)
	}
}

type replica = amber.Replica

// broken is a store that has a trouble of its own.
type broken struct {
	replica
	applied, links, apply error
}

func (b broken) Replica() amber.Replica { return b }

func (b broken) AppliedChunks(ctx context.Context, place string, ids []string) (map[string]bool, error) {
	if b.applied != nil {
		return nil, b.applied
	}
	return b.replica.AppliedChunks(ctx, place, ids)
}

func (b broken) Links(ctx context.Context, q amber.LinkQuery) ([]amber.SyncLink, error) {
	if b.links != nil {
		return nil, b.links
	}
	return b.replica.Links(ctx, q)
}

func (b broken) Apply(ctx context.Context, in amber.Incoming) (amber.Applied, error) {
	if b.apply != nil {
		return amber.Applied{}, b.apply
	}
	return b.replica.Apply(ctx, in)
}

func TestTheTroublesOfTheStoreAreNotTheChunks(t *testing.T) {
	t.Parallel()
	trouble := func(k amber.Kind) error { return amber.Errorf(k, "store", "", "it is not well") }
	for name, tt := range map[string]struct {
		store broken
		ends  bool
	}{
		"a full disk":           {broken{apply: trouble(amber.KindQuota)}, true},
		"a store to be read":    {broken{apply: trouble(amber.KindRefused)}, true},
		"a later version":       {broken{apply: trouble(amber.KindTooNew)}, true},
		"damage":                {broken{apply: trouble(amber.KindDamaged)}, true},
		"a record is not taken": {broken{apply: trouble(amber.KindInvalid)}, false},
		"links cannot be read":  {broken{links: trouble(amber.KindInvalid)}, true},
		"nothing can be read":   {broken{applied: trouble(amber.KindTooNew)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := engramClone(t)
			c.take("multi")
			tt.store.replica = c.Store.Replica()
			s := must.Get(gitsync.Open(tt.store, c.folder))(t)
			r, err := s.Import(t.Context())
			if (err != nil) != tt.ends || (len(r.Quarantined) > 0) == tt.ends {
				t.Errorf("%+v, %v", r, err)
			}
			if tt.store.applied != nil {
				must.Error(t, "status", must.Err(s.Status(t.Context(), "")))
			}
		})
	}
}

// zip compresses a text.
func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	must.Do(t, errors.Join(err, w.Close()))
	return b.Bytes()
}
