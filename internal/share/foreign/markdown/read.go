package markdown

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxFile bounds a file: what a note may hold, with room for the head and the marks of an export.
const maxFile = 4 << 20

// reader reads the files of a folder.
type reader struct {
	o     foreign.Options
	to    foreign.Sink
	facts bool // observations and relations are asked for
	index *index
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink, facts bool) error {
	files := documents(t)
	x, err := makeIndex(ctx, files)
	if err != nil {
		return err
	}
	r := &reader{o: o, to: to, facts: facts, index: x}
	for _, e := range x.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.file(e); err != nil {
			return err
		}
	}
	if other := countOthers(t) - len(files); other > 0 {
		to.Warn("%d files are not Markdown and are not imported", other)
	}
	return nil
}

func countOthers(t *foreign.Tree) (n int) {
	for _, f := range t.Files() {
		if !isHidden(f.Name) {
			n++
		}
	}
	return n
}

// page is a file with its text.
type page struct {
	entry
	front    foreign.Front
	text     string // all of it
	body     string // without the head
	note     string // the name of its note
	before   int    // lines of the head
	exported bool   // a memory that an export wrote
	known    bool   // a note that an export wrote, as it was
}

func (p *page) at(line int) foreign.Place {
	if line == 0 {
		return foreign.Place{File: p.file.Name}
	}
	return foreign.Place{File: p.file.Name, At: fmt.Sprintf("line %d", p.before+line)}
}

func (r *reader) file(e entry) error {
	p := page{entry: e, note: foreign.NoteName(e.file.Name)}
	b, err := e.file.Bytes(maxFile)
	if err != nil {
		r.to.Skip(p.at(0), "%v", err)
		return nil
	}
	p.text = string(b)
	if p.front, p.body, err = foreign.SplitFront(b); err != nil {
		r.to.Warn("%s: %v; all of the file is taken for text", e.file.Name, err)
	}
	p.body = strings.TrimLeftFunc(p.body, isSpace) // as the program does: text that is indented at the top is no code
	p.before = strings.Count(strings.ReplaceAll(p.text, "\r\n", "\n"), "\n") - strings.Count(p.body, "\n")
	if p.exported = isExported(p.front); p.exported {
		return r.memory(&p)
	}
	p.unwrapNote()
	if strings.TrimSpace(p.text) == "" {
		r.to.Skip(p.at(0), "file is empty")
		return nil
	}
	_, updated := p.times()
	if err := r.to.Note(foreign.Note{Place: p.at(0), Name: p.note, Content: p.text, UpdatedAt: updated}); err != nil {
		return err
	}
	if p.known || !r.facts {
		return nil
	}
	return r.memory(&p)
}

// times returns when a file was made and changed. A time without a zone is one of this machine, and what cannot be read
// gives way to the time of the file.
func (p *page) times() (created, updated amber.Time) {
	created, _ = foreign.TextIn(p.front.Text("created"), time.Local)
	updated, _ = foreign.TextIn(p.front.Text("modified"), time.Local)
	updated = cmp.Or(updated, p.file.ModifiedAt(), created)
	return cmp.Or(created, updated), updated
}

// memory gives out the anchor of a file, its observations and its relations.
func (r *reader) memory(p *page) error {
	m := foreign.Memory{
		Place: p.at(0), Key: p.key, Kind: amber.WorkspaceFact, Title: p.title, Topic: cmp.Or(p.permalink, withoutExt(p.file.Name)),
		Tags: tagList(p.front), AmberID: p.front.Text("amber_id"), SourceRefs: []amber.SourceRef{{Kind: "note", Value: p.note}},
	}
	m.ProjectID = r.o.Project
	m.CreatedAt, m.UpdatedAt = p.times()
	if typ := p.front.Text("type"); typ != "" && typ != "note" {
		m.Metadata = map[string]string{"type": typ}
	}
	docs := []document{parse(p.body)}
	if p.exported {
		docs = p.fillExported(&m)
	} else {
		m.Content = cmp.Or(firstParagraph(docs[0]), m.Title)
	}
	if strings.EqualFold(p.front.Text("bm_parse_semantics"), "false") { // the program makes nothing of such a text
		docs = nil
	}
	links, left := r.links(p, docs)
	m.Foreign = foreignOf(p, left)
	return r.tell(p, m, docs, links)
}

func (r *reader) tell(p *page, m foreign.Memory, docs []document, links []foreign.Relation) error {
	if err := r.to.Memory(m); err != nil {
		return err
	}
	for _, d := range docs {
		if err := r.observations(p, m, d); err != nil {
			return err
		}
	}
	for _, l := range links {
		if err := r.to.Relation(l); err != nil {
			return err
		}
	}
	return nil
}

func firstParagraph(d document) string {
	for _, b := range d.blocks {
		if !b.heading && !b.item && !b.quote {
			return b.text
		}
	}
	return ""
}

// tagList returns the tags of a head, without the "#" that some people write.
func tagList(front foreign.Front) (out []string) {
	for _, item := range front.Texts("tags") {
		for tag := range strings.SplitSeq(item, ",") {
			tag = strings.TrimLeft(strings.TrimSpace(tag), "#")
			if tag != "" && tag != "<nil>" && !slices.Contains(out, tag) {
				out = append(out, tag)
			}
		}
	}
	return out
}

// links resolves the relations of a page. It returns in left the relations that name no file of the folder, and those
// with a context, which has no place in a relation of Amber.
func (r *reader) links(p *page, docs []document) (out []foreign.Relation, left []relation) {
	seen := map[string]bool{}
	for _, d := range docs {
		for _, rel := range d.relations() {
			e, found := r.index.find(rel.Target, p.file.Name)
			strength, context := strengthOf(rel.Context, p.exported)
			if rel.Context = context; !found || context != "" {
				left = append(left, rel)
			}
			id := foreign.Fingerprint("", rel.Type, e.key)
			if !found || seen[id] || e.file.Name == p.file.Name {
				continue
			}
			seen[id] = true
			created, _ := p.times()
			out = append(out, foreign.Relation{
				Place: p.at(rel.line), From: p.key, To: e.key, Type: rel.Type, Strength: strength, CreatedAt: created,
			})
		}
	}
	return out, left
}

func (r *reader) observations(p *page, anchor foreign.Memory, d document) error {
	seen := map[string]int{}
	for _, b := range d.blocks {
		o, ok := observed(b)
		if !ok {
			continue
		}
		digest := foreign.Hex(foreign.Digest(o.text))
		if line, twice := seen[o.category+"\x00"+digest]; twice {
			r.to.Skip(p.at(b.line), "observation is the same as that of line %d", p.before+line)
			continue
		}
		seen[o.category+"\x00"+digest] = b.line
		m := r.observation(p, anchor, o, b.line)
		m.Key = append(slices.Clone(p.key), o.category, digest)
		if err := r.to.Memory(m); err != nil {
			return err
		}
		part := foreign.Relation{Place: m.Place, From: m.Key, To: p.key, Type: "part_of", CreatedAt: anchor.CreatedAt}
		if err := r.to.Relation(part); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) observation(p *page, anchor foreign.Memory, o observation, line int) foreign.Memory {
	m := foreign.Memory{
		Place: p.at(line), Kind: o.kind(), Content: o.text, Summary: o.context, Tags: o.tags, SourceRefs: anchor.SourceRefs,
		CreatedAt: anchor.CreatedAt, UpdatedAt: anchor.UpdatedAt, Identities: anchor.Identities,
	}
	for name, value := range map[string]string{"category": o.category, "qualifier": o.qualifier} {
		if value != "" {
			if m.Metadata == nil {
				m.Metadata = map[string]string{}
			}
			m.Metadata[name] = value
		}
	}
	return m
}
