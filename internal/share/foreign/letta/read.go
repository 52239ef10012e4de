package letta

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// reader reads the agent files of a tree.
type reader struct {
	ctx  context.Context
	o    foreign.Options
	to   foreign.Sink
	used map[string]string // keys of memories, turns and sessions, and where they are
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &reader{ctx: ctx, o: o, to: to, used: map[string]string{}}
	files := agentFiles(t)
	if len(files) == 0 {
		files = damaged(t)
	}
	// Where an agent was exported several times, the last one counts.
	slices.SortStableFunc(files, func(a, b foreign.File) int { return b.Modified.Compare(a.Modified) })
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.file(f); err != nil {
			return err
		}
	}
	return readNotes(ctx, memoryFiles(t), to)
}

// damaged returns what has the name of an agent file and does not look like one, to say why it is not read.
func damaged(t *foreign.Tree) (out []foreign.File) {
	for _, f := range t.Files() {
		if f.Is(".af") {
			out = append(out, f)
		}
	}
	return out
}

// readNotes makes a note of each document of a memory folder.
func readNotes(ctx context.Context, files []memoryFile, to foreign.Sink) error {
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		note := strings.TrimSuffix(f.path, ".md")
		if f.agent != "" {
			note = f.agent + "/" + note
		}
		if err := f.GiveNote(formatName+"/"+note, amber.MaxContentBytes, to); err != nil {
			return err
		}
	}
	return nil
}

// file reads an agent file twice: its blocks stand behind the agents that they belong to.
func (r *reader) file(f foreign.File) error {
	d := &document{reader: r, file: f, blocks: map[string]block{}, created: f.ModifiedAt(), quiet: true}
	if err := d.parse(d.collect); err != nil {
		return err
	}
	d.quiet = false
	if err := d.parse(d.tell); err != nil {
		return err
	}
	if d.old != nil {
		d.old["messages"] = d.messages
		if err := d.agent(d.old, "agent"); err != nil {
			return err
		}
	}
	if !d.found && len(d.order) == 0 {
		d.to.Skip(d.at(""), "file has no agents and no blocks, want an agent file of Letta")
	}
	return d.leftBlocks()
}

// document is one agent file.
type document struct {
	*reader
	file    foreign.File
	created amber.Time
	blocks  map[string]block // by the id that they have in this file
	order   []string
	bytes   int
	quiet   bool // what is broken was told, or will be
	found   bool // an agent

	old      foreign.Object // the agent of the older form, which is one
	messages []any
}

type block struct {
	foreign.Object
	at   string
	told bool
}

func (d *document) at(at string) foreign.Place { return foreign.Place{File: d.file.Name, At: at} }

// part takes an element of a list, or a member of the document, for which n is 0.
type part func(list string, n int64, raw []byte) error

// parse gives out the parts of a document. A document that is one JSON string is decoded, and its text is read as the
// document.
func (d *document) parse(fn part) error {
	in, err := d.file.Open()
	if err != nil {
		d.skip("", err.Error())
		return nil
	}
	defer in.Close()
	var inner string
	doc := foreign.Document{
		Element: fn, Skip: d.skip,
		Member: func(member string, raw []byte) error {
			if member == "" && raw[0] == '"' && json.Unmarshal(raw, &inner) == nil {
				return nil
			}
			return fn(member, 0, raw)
		},
	}
	if err := foreign.ReadJSON(in, doc); err != nil || inner == "" {
		return err
	}
	doc.Member = func(member string, raw []byte) error { return fn(member, 0, raw) }
	return foreign.ReadJSON(strings.NewReader(inner), doc)
}

func (d *document) skip(at, reason string) {
	if !d.quiet {
		d.to.Skip(d.at(at), "%s", reason)
	}
}

// maxBlocks bounds the text of the blocks of one file, which are held.
const maxBlocks = 64 << 20

// collect takes what the agents need to know.
func (d *document) collect(list string, n int64, raw []byte) error {
	switch list {
	case "created_at":
		if at, err := (foreign.Object{"t": foreign.StringOf(raw)}).Time("t"); err == nil {
			d.created = cmp.Or(at, d.created)
		}
	case "blocks":
		if d.bytes += len(raw); d.bytes > maxBlocks {
			return nil
		}
		if rec, err := foreign.ParseRecord(raw); err == nil && rec.Text("id") != "" {
			d.keep(rec, place("block", n))
		}
	}
	return nil
}

func (d *document) keep(rec foreign.Object, at string) {
	id := rec.Text("id")
	if _, twice := d.blocks[id]; !twice {
		d.blocks[id] = block{Object: rec, at: at}
		d.order = append(d.order, id)
	}
}

// tell gives out an agent, and reports what is not imported.
func (d *document) tell(list string, n int64, raw []byte) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	at := place(strings.TrimSuffix(list, "s"), n)
	switch list {
	case "agents", "blocks", "core_memory", "messages":
		rec, err := foreign.ParseRecord(raw)
		if err != nil {
			d.to.Skip(d.at(at), "%v", err)
			return nil
		}
		return d.element(list, at, rec)
	case "files":
		d.to.Skip(d.at(at), "documents of agents are not imported")
	case "name":
		d.older()["name"] = foreign.StringOf(raw)
	}
	return nil
}

func (d *document) element(list, at string, rec foreign.Object) error {
	switch list {
	case "agents":
		return d.agent(rec, at)
	case "blocks":
		if id := rec.Text("id"); id == "" {
			d.to.Skip(d.at(at), "block has no id")
		} else if d.blocks[id].at != at {
			d.to.Skip(d.at(at), "block has the id of another block, or the blocks of the file have more than %d bytes", maxBlocks)
		}
	case "core_memory":
		d.older()
		rec["id"] = at
		d.keep(rec, at)
	case "messages":
		d.older()
		if len(d.messages) < maxMessages {
			d.messages = append(d.messages, map[string]any(rec))
		}
	}
	return nil
}

// maxMessages bounds the messages of an agent of the older form.
const maxMessages = 200_000

func (d *document) older() foreign.Object {
	if d.old == nil {
		d.old = foreign.Object{}
	}
	return d.old
}
