package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// memoryScreens are the list of memories, one memory, and the forms that write, edit, forget and erase.
type memoryScreens struct{ *visit }

func memoryRoutes(p *Page) {
	p.get("/memories", withStore(memoryScreens.memories))
	p.get("/memories/new", on(memoryScreens.newMemory))
	p.post("/memories/new", on(memoryScreens.writeMemory))
	p.post("/memories/forget", withStore(memoryScreens.forgetMarked))
	p.get("/memories/{id}", withStore(memoryScreens.memory))
	p.get("/memories/{id}/as-of", on(memoryScreens.memoryAsOf))
	p.get("/memories/{id}/edit", withStore(memoryScreens.editMemory))
	p.post("/memories/{id}/edit", withStore(memoryScreens.saveMemory))
	p.post("/memories/{id}/undo", withStore(memoryScreens.undoMemory))
	p.get("/memories/{id}/forget", withStore(memoryScreens.askToForget))
	p.post("/memories/{id}/forget", withStore(memoryScreens.forgetMemory))
	p.post("/memories/{id}/again", withStore(memoryScreens.rememberAgain))
	p.get("/memories/{id}/erase", withStore(memoryScreens.askToErase))
	p.post("/memories/{id}/erase", withStore(memoryScreens.eraseMemory))
}

// memoriesData is a list of memories.
type memoriesData struct {
	amber.Page[amber.Memory]
	Kind, Scope, Project, Tag string
	Deleted, Trusted          bool
	Kinds                     []amber.MemoryKind
	Scopes                    []amber.Scope
}

func (v memoryScreens) memories(ctx context.Context, store amber.Store) error {
	d := memoriesData{
		Kind: v.query("kind"), Scope: v.query("scope"), Project: v.query("project"), Tag: v.query("tag"),
		Deleted: v.query("deleted") != "", Trusted: v.query("trusted") != "", Kinds: amber.MemoryKinds(), Scopes: amber.Scopes(),
	}
	q := amber.ListQuery{All: d.Project == "", Deleted: d.Deleted, Limit: pageSize, Cursor: amber.Cursor(v.query("cursor"))}
	if d.Trusted {
		q.Trust = amber.TrustSigned
	}
	words := []string{"list"}
	if q.Scope = amber.Scope(d.Scope); d.Scope != "" {
		words = append(words, "--scope", d.Scope)
	}
	if d.Deleted {
		words = append(words, "--deleted")
	}
	if d.Kind != "" {
		q.Kinds = []amber.MemoryKind{amber.MemoryKind(d.Kind)}
		words = append(words, "--kind", d.Kind)
	}
	if d.Tag != "" {
		q.Tags = []string{d.Tag}
		words = append(words, "--tag", d.Tag)
	}
	if d.Project != "" {
		q.ProjectID = d.Project
		words = append(words, "--project", d.Project)
	} else {
		words = append(words, "--all")
	}
	page, err := store.Memories.List(ctx, q)
	if err != nil {
		return err
	}
	d.Page = page
	return v.render("memories", screen{Title: "Memories", Nav: "memories", Command: v.command(words...)}, d)
}

// forgetMarked forgets several memories: first it shows which, then it wants a word.
func (v memoryScreens) forgetMarked(ctx context.Context, store amber.Store) error {
	ids := v.r.PostForm["id"]
	if len(ids) == 0 {
		return v.redirect(v.path("memories"))
	}
	if len(ids) > pageSize {
		return amber.Errorf(amber.KindInvalid, "forget memories", "", "%d memories are marked, at most %d are forgotten at once", len(ids), pageSize)
	}
	d := forgetData{Word: "forget"}
	for _, id := range ids {
		m, err := store.Memories.Get(ctx, amber.MemoryID(id))
		if err != nil {
			return err
		}
		d.Memories = append(d.Memories, m)
	}
	if given := v.field("word"); given != d.Word {
		d.Wrong = given != ""
		return v.render("forget", screen{Title: "Forget " + words.Count(len(ids), "memory", "memories"), Nav: "memories"}, d)
	}
	return v.forgetAll(ctx, store, d)
}

// forgetAll forgets memories, and leads to the list.
func (v memoryScreens) forgetAll(ctx context.Context, store amber.Store, d forgetData) error {
	for i, m := range d.Memories {
		err := store.LongTerm.Delete(ctx, m.ID)
		switch {
		case amber.KindOf(err) == amber.KindRefused && i > 0: // nothing more of them is shown
			return amber.Errorf(amber.KindRefused, "forget memories", string(m.ID), "%d of %d memories are forgotten, the others were refused: %s", i, len(d.Memories), err.Error())
		case amber.KindOf(err) == amber.KindRefused:
			return err
		case err != nil:
			return v.forgotHalf(ctx, store, d, err)
		}
	}
	return v.redirect(v.path("memories") + "?deleted=1")
}

// forgotHalf says how many of the memories were forgotten before an error, and asks for the others again. It looks
// up which memories are forgotten: an act that failed may have been done.
func (v memoryScreens) forgotHalf(ctx context.Context, store amber.Store, d forgetData, cause error) error {
	all := len(d.Memories)
	d.Memories = slices.DeleteFunc(d.Memories, func(m amber.Memory) bool {
		_, err := store.Memories.Get(ctx, m.ID)
		return amber.KindOf(err) == amber.KindNotFound
	})
	d.Problem = fmt.Sprintf("%d of %s are forgotten, then this went wrong: %s", all-len(d.Memories), words.Count(all, "memory", "memories"), cause.Error())
	return v.renderStatus(amber.KindOf(cause).HTTPStatus(), "forget", screen{Title: "Forget " + words.Count(len(d.Memories), "memory", "memories"), Nav: "memories"}, d)
}

// forgetData asks whether to forget.
type forgetData struct {
	Memories []amber.Memory
	Word     string // that has to be typed
	Wrong    bool   // another one was
	Problem  string // why only some of them were forgotten
}

// memoryForm is a memory as a form has it.
type memoryForm struct {
	ID                                        amber.MemoryID // "" for a new one
	Revision                                  int64
	Kind, Title, Content, Summary, Tags, Meta string
	Project                                   string
	Kinds                                     []amber.MemoryKind
	// ContentFixed says why the text cannot be changed here; "" where it can.
	ContentFixed string
	MetaFixed    bool
	SummaryFixed bool
	Problem      string
	Conflict     *memoryConflict
}

func (v memoryScreens) newMemory() error {
	return v.render("memory-edit", screen{Title: "Remember", Nav: "memories", Command: v.command("remember", "…")},
		memoryForm{Kinds: amber.MemoryKinds(), Kind: string(amber.WorkspaceFact), Project: v.query("project")})
}

// readForm is the input of a visitor. Properties that the form has no field for stay as they are.
func (v memoryScreens) readForm() memoryForm {
	f := memoryForm{
		Kind: v.field("kind"), Title: v.field("title"), Content: v.text("content"), Summary: v.text("summary"), Tags: v.text("tags"), Meta: v.text("meta"),
		Project: v.field("project"), Kinds: amber.MemoryKinds(),
	}
	if !v.r.PostForm.Has("content") {
		f.ContentFixed = "The text cannot be changed here. The command line changes it."
	}
	f.SummaryFixed, f.MetaFixed = !v.r.PostForm.Has("summary"), !v.r.PostForm.Has("meta")
	return f
}

func (v memoryScreens) writeMemory() error {
	ctx := v.r.Context()
	f := v.readForm()
	meta, err := f.metadata()
	var ack amber.WriteAck
	if err == nil {
		var store amber.Store
		if store, err = v.remote.Store(ctx); err == nil {
			ack, err = store.LongTerm.Write(ctx, amber.WriteRequest{
				Kind: amber.MemoryKind(f.Kind), Identities: amber.Identities{ProjectID: f.Project}, Title: f.Title, Content: f.Content, Summary: f.Summary, Tags: lines(f.Tags), Metadata: meta,
			})
		}
	}
	if err != nil {
		f.Problem = err.Error()
		return v.renderStatus(amber.KindOf(err).HTTPStatus(), "memory-edit", screen{Title: "Remember", Nav: "memories"}, f)
	}
	return v.redirect(v.path("memories", string(ack.ID)))
}

// lines are the lines of a text that are not blank.
func lines(s string) []string {
	out := []string{}
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// metadata reads lines of the form key=value. The error is of kind invalid.
func (f memoryForm) metadata() (map[string]string, error) {
	m := map[string]string{}
	for _, line := range lines(f.Meta) {
		k, val, ok := strings.Cut(line, "=")
		if !ok {
			return nil, amber.Errorf(amber.KindInvalid, "read metadata", "", "the line %q has no =, want key=value", clip.Marked(line, 80))
		}
		m[strings.TrimSpace(k)] = strings.TrimSpace(val)
	}
	return m, nil
}

// memoryAsOf leads to the memory as a snapshot has it.
func (v memoryScreens) memoryAsOf() error {
	id := v.query("snapshot")
	if _, err := amber.ParseSnapshotID(id); err != nil {
		return err
	}
	return v.redirect(v.path("snapshots", id, "memories", v.r.PathValue("id")))
}

// choiceWait is how long a screen waits for the snapshots that it offers: their repository may be locked, or far away.
const choiceWait = 300 * time.Millisecond

// snapshotChoice are the latest snapshots, none where they cannot be read: a memory is of use
// without them.
func (v *visit) snapshotChoice(ctx context.Context) []wire.SnapshotMeta {
	ctx, cancel := context.WithTimeout(ctx, choiceWait)
	defer cancel()
	page, err := v.remote.Snapshots().ListSnapshots(ctx, wire.SnapshotQuery{Limit: 20})
	if err != nil {
		return nil
	}
	return page.Items
}
