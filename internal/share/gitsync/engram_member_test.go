package gitsync_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// tagged is a memory with everything that Engram has no room for.
var tagged = amber.WriteRequest{
	Content: "one", Title: "T", Summary: "S", Tags: []string{"a", "b"}, Metadata: map[string]string{"k": "v"},
	SourceRefs: []amber.SourceRef{{Kind: "url", Value: "https://example.org"}},
}

// wantHistory checks the versions of a memory, oldest first, and that there is
// no conflict about it.
func wantHistory(t *testing.T, c *clone, id amber.MemoryID, texts ...string) {
	t.Helper()
	h := must.Get(amber.All(t.Context(), c.History, id))(t)
	got := []string{}
	for _, m := range h {
		got = append(got, m.Content)
	}
	must.Equal(t, "versions", got, texts)
	must.Equal(t, "conflicts", must.Get(c.SyncReport(t.Context(), c.folder))(t).ConflictCount, 0)
}

// wantTagged checks that nothing of a memory was lost.
func wantTagged(t *testing.T, c *clone, id amber.MemoryID) {
	t.Helper()
	m := must.Get(c.Get(t.Context(), id))(t)
	got := amber.WriteRequest{Content: "one", Title: m.Title, Summary: m.Summary, Tags: m.Tags, Metadata: m.Metadata, SourceRefs: m.SourceRefs}
	must.Equal(t, "memory", got, tagged)
}

func TestTwoAmbersMeetInAFolderOfEngram(t *testing.T) {
	t.Parallel()
	a, b := engramClone(t), engramClone(t)
	id := a.write(tagged)
	origin := func(c *clone) amber.Origin { return must.Get(c.Get(t.Context(), id))(t).Origin }
	a.pushes(b)
	wantTagged(t, b, id)
	b.edit(id, "two")
	b.pushes(a)
	wantTexts(t, a, "two")
	wantTagged(t, a, id)
	wantHistory(t, a, id, "one", "two")
	a.edit(id, "three")
	a.edit(id, "four")
	if r := a.pushes(b); r.Conflicts != 0 || r.Observations != 1 {
		t.Errorf("import: %+v", r)
	}
	wantTexts(t, b, "four")
	wantTagged(t, b, id)
	wantHistory(t, b, id, "one", "two", "four")
	must.Equal(t, "origins", origin(a), origin(b))
	for _, c := range []*clone{a, b} {
		c.exportsNothing()
		if r := c.imports(); r.Observations != 0 || r.Sessions != 0 {
			t.Errorf("an import of nothing new: %+v", r)
		}
	}
}

// A real conflict is one still.
func TestTwoEditsMeetInAFolderOfEngram(t *testing.T) {
	t.Parallel()
	a, b := engramClone(t), engramClone(t)
	id := a.save("one")
	a.pushes(b)
	a.edit(id, "two of a")
	b.edit(id, "two of b")
	must.Equal(t, "conflicts of the import", b.pushes(a).Conflicts, 1)
}

// also is the same store with a folder of Amber beside that of Engram.
func (c *clone) also() *clone {
	c.t.Helper()
	d := *c
	d.folder = filepath.Join(filepath.Dir(c.folder), ".amber")
	d.sync = must.Get(gitsync.Open(d.Store, d.folder))(c.t)
	return &d
}

func TestFoldersOfAmberAndEngramSayTheSame(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"engram", "amber"} {
		t.Run(first+" first", func(t *testing.T) {
			t.Parallel()
			a, b := engramClone(t), engramClone(t)
			must.Get(a.StartSession(t.Context(), amber.SessionStart{Binding: "x", Project: shop, Name: "Talks"}))(t)
			id := a.write(tagged)
			a.finds(engramDoc("", "", "")) // a row of 1.7.0, without a name
			row := a.byTitle("t")
			swap := func(from, to *clone) {
				t.Helper()
				ways := [][2]*clone{{from, to}, {from.also(), to.also()}}
				if first == "amber" {
					ways[0], ways[1] = ways[1], ways[0]
				}
				for i, w := range ways {
					w[0].export(gitsync.ExportOptions{})
					w[0].gives(w[1])
					if r := w[1].imports(); r.Conflicts != 0 || i == 1 && first == "amber" && r.Observations != 0 {
						t.Errorf("import: %+v", r)
					}
				}
			}
			swap(a, b)
			swap(b, a)
			a.edit(row, "c edited")
			a.edit(row, "c edited twice")
			a.edit(id, "two")
			swap(a, b)
			b.edit(id, "three")
			swap(b, a)
			for _, c := range []*clone{a, b} {
				wantTexts(t, c, "c edited twice", "three")
				wantTagged(t, c, id)
				wantHistory(t, c, id, "one", "two", "three")
				must.Equal(t, "conflicts", must.Get(c.SyncReport(t.Context(), c.also().folder))(t).ConflictCount, 0)
				for _, s := range []*clone{c, c.also()} {
					s.exportsNothing()
				}
			}
		})
	}
}

func TestAnEditOfARowWithoutANameIsNoSecondMemory(t *testing.T) {
	t.Parallel()
	a, b := engramClone(t), engramClone(t)
	a.finds(engramDoc("", "", ""))
	a.gives(b)
	b.imports()
	id := a.byTitle("t")
	a.edit(id, "d")
	a.edit(id, "e")
	if r := a.pushes(b); r.Conflicts != 0 || r.Observations != 1 {
		t.Errorf("import: %+v", r)
	}
	wantTexts(t, b, "e")
	wantHistory(t, b, id, "c", "e")
	tags := []string{"x"}
	must.Get(b.Edit(t.Context(), amber.EditRequest{ID: id, Tags: &tags}))(t)
	b.pushes(a)
	must.Equal(t, "tags", must.Get(a.Get(t.Context(), id))(t).Tags, tags)
	wantTexts(t, a, "e")
}

// A secret that is taken out of the text is taken out of the member, too, and the row is still that memory.
func TestSecretsInMembersOfRowsDoNotLeave(t *testing.T) {
	t.Parallel()
	a, b := engramClone(t), engramClone(t)
	id := a.write(amber.WriteRequest{
		Content: "key " + oneKey, Title: "T " + oneKey, Summary: oneKey, Tags: []string{"x", oneKey},
		Metadata: map[string]string{"k": oneKey, "password": "hunter22hunter"}, SourceRefs: []amber.SourceRef{{Kind: "url", Value: oneKey}},
	})
	r := a.export(gitsync.ExportOptions{})
	if text := engramText(t, a.folder); strings.Contains(text, oneKey) || strings.Contains(text, "hunter22") || len(r.Redacted) == 0 {
		t.Errorf("%+v\n%s", r, text)
	}
	a.gives(b)
	b.imports()
	m, err := b.Get(t.Context(), id)
	if err != nil || len(m.Tags) != 2 || m.Origin.Device == "engram" || len(m.Metadata) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
}

// forgetful is a store that dies before it notes an export.
type forgetful struct {
	replica
	dies *bool
}

func (f forgetful) Replica() amber.Replica { return f }

func (f forgetful) Exported(ctx context.Context, n amber.ExportNote) error {
	if *f.dies {
		return errors.New("killed")
	}
	return f.replica.Exported(ctx, n)
}

func TestRowsOfEngramThatWereNotNotedAreNotWrittenAgain(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	must.Get(c.StartSession(t.Context(), amber.SessionStart{Binding: "x", Project: shop, Name: "Talks"}))(t)
	c.shares("before")
	c.save("first")
	id := c.write(tagged)
	dies := true
	s := must.Get(gitsync.Open(forgetful{c.Store.Replica(), &dies}, c.folder))(t)
	if _, err := s.Export(t.Context(), gitsync.ExportOptions{}); err == nil {
		t.Fatal("it was noted")
	}
	marker := filepath.Join(c.folder, ".amber", "writing")
	must.Get(os.Stat(marker))(t)
	was := c.chunkIDs()
	dies = false
	// Another project does not take the mark for its own.
	c.write(amber.WriteRequest{Content: "of another", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "other"}})
	must.Get(s.Export(t.Context(), gitsync.ExportOptions{Project: "other"}))(t)
	must.NoError(t, must.Err(os.Stat(marker)))
	c.save("after")
	must.Get(s.Export(t.Context(), gitsync.ExportOptions{}))(t)
	text := engramText(t, c.folder)
	for _, want := range []string{"before", "first", "one", "after"} {
		must.Equal(t, fmt.Sprintf("times %q is there", want), strings.Count(text, fmt.Sprintf(`"content":%q`, want)), 1)
	}
	must.Is(t, "the mark", must.Err(os.Stat(marker)), os.ErrNotExist)
	links, err := c.Links(t.Context(), amber.LinkQuery{Tool: "engram", Ref: amber.SyncRef{Scope: amber.ChangeMemory, ID: string(id)}})
	if err != nil || len(links) != 1 || links[0].Chunk != was[len(was)-1] {
		t.Errorf("links are %+v, %v", links, err)
	}
	c.exportsNothing()
}
