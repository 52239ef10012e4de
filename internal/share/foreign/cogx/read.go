package cogx

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// reader reads one archive.
type reader struct {
	ctx  context.Context
	o    foreign.Options
	to   foreign.Sink
	file foreign.File
	used map[string]string      // keys, and the kind of record that has each
	refs map[string]foreign.Key // what a fact can lead to: by id, and by name
	raw  map[string]bool        // ids of raw nodes
	lost int                    // facts about raw nodes
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &reader{ctx: ctx, o: o, to: to, used: map[string]string{}, refs: map[string]foreign.Key{}, raw: map[string]bool{}}
	if f, ok := t.Single(); ok {
		return r.lines(f, "")
	}
	dir, _ := root(t)
	if f, ok := t.File(dir + manifest); ok {
		r.checkManifest(f)
	}
	if f, ok := t.File(dir + nodesFile); ok {
		if err := r.nodes(f); err != nil {
			return err
		}
	}
	for _, k := range kinds {
		f, ok := t.File(dir + k.file)
		if !ok {
			continue
		}
		if err := r.lines(f, k.name); err != nil {
			return err
		}
	}
	if len(r.raw) > 0 {
		to.Warn("%d raw nodes of the graph and %d facts about them are not imported", len(r.raw), r.lost)
	}
	return nil
}

// checkManifest says what a person should know before trusting the result.
func (r *reader) checkManifest(f foreign.File) {
	b, err := f.Bytes(1 << 20)
	if err != nil {
		r.to.Skip(f.Place(""), "%v", err)
		return
	}
	m, err := foreign.ParseRecord(b)
	if err != nil {
		r.to.Skip(f.Place(""), "%v", err)
		return
	}
	if v := m.Text("cogx_version"); v != "" && !strings.HasPrefix(v, "0.") {
		r.to.Warn("%s is of COGX version %.20s, want %s; what is new in it is not read", f.Name, v, version)
	}
}

// each calls fn with the records of a file. The report names the lines that cannot be read.
func (r *reader) each(f foreign.File, fn func(at foreign.Place, rec foreign.Object) error) error {
	return f.EachLine(r.ctx, r.to.Skip, func(n int64, line []byte) error {
		rec, err := foreign.ParseRecord(line)
		if err != nil {
			r.to.Skip(f.Line(n), "%v", err)
			return nil
		}
		return fn(f.Line(n), rec)
	})
}

// maxNodes bounds the ids of raw nodes that are held.
const maxNodes = 5_000_000

func (r *reader) nodes(f foreign.File) error {
	return r.each(f, func(_ foreign.Place, rec foreign.Object) error {
		if id := rec.Text("id"); id != "" && len(r.raw) < maxNodes {
			r.raw[id] = true
		}
		return nil
	})
}

// record is a line, with what all kinds have.
type record struct {
	foreign.Object
	at               foreign.Place
	kind, system, id string
	key              foreign.Key
	created, updated amber.Time
	own              foreign.Object // what Amber wrote
}

// lines reads a file of records of one kind; "" for one that says it in each line.
func (r *reader) lines(f foreign.File, kind string) error {
	r.file = f
	return r.each(f, func(at foreign.Place, rec foreign.Object) error {
		x, ok := r.record(at, cmp.Or(kind, rec.Text("kind")), rec)
		if !ok {
			return nil
		}
		switch x.kind {
		case "memory":
			return r.memory(x)
		case "memory_block":
			return r.block(x)
		case "entity":
			return r.entity(x)
		case "document":
			return r.document(x)
		case "episode":
			return r.episode(x)
		case "fact":
			return r.fact(x)
		}
		r.to.Skip(at, "record is of the kind %.40q, which is not known", x.kind)
		return nil
	})
}

// record reads what all kinds have. It reports two records with one key.
func (r *reader) record(at foreign.Place, kind string, rec foreign.Object) (record, bool) {
	x := record{Object: rec, at: at, kind: kind, system: cmp.Or(rec.Text("external_system"), "unknown"), id: rec.Text("external_id")}
	x.own = rec.Sub("metadata").Sub("amber")
	var err1, err2 error
	x.created, err1 = timeOf(rec, "created_at")
	x.updated, err2 = timeOf(rec, "updated_at")
	switch {
	case x.id == "":
		r.to.Skip(at, "record has no external_id")
	case err1 != nil || err2 != nil:
		r.to.Skip(at, "%v", cmp.Or(err1, err2))
	default:
		x.created = cmp.Or(x.created, x.updated, r.file.ModifiedAt())
		x.updated = cmp.Or(x.updated, x.created)
		return x, r.take(&x)
	}
	return x, false
}

// take gives a record its key. Records of different kinds may have one id.
func (r *reader) take(x *record) bool {
	for _, key := range []foreign.Key{{x.system, x.id}, {x.system, x.id, x.kind}} {
		id := strings.Join(key, "\x00")
		switch before, taken := r.used[id]; {
		case !taken:
			r.used[id], x.key = x.kind, key
			return true
		case before == x.kind:
			r.to.Skip(x.at, "%s %.80q is there twice", strings.ReplaceAll(x.kind, "_", " "), x.id)
			return false
		}
	}
	return false
}

// timeOf reads a time in text or in seconds.
func timeOf(rec foreign.Object, name string) (amber.Time, error) {
	if n, ok := rec.Number(name); ok {
		return foreign.Seconds(n)
	}
	return rec.Time(name)
}

// refer notes that facts can lead to a record.
func (r *reader) refer(x record, names ...string) {
	for _, name := range append([]string{x.id}, names...) {
		if _, taken := r.refs[name]; !taken && name != "" {
			r.refs[name] = x.key
		}
	}
}

// base makes a memory of the fields that all kinds have. Fields without a place in a memory are kept as they were.
func (r *reader) base(x record, taken ...string) foreign.Memory {
	m := foreign.Memory{Place: x.at, Key: x.key, Kind: amber.WorkspaceFact, CreatedAt: x.created, UpdatedAt: x.updated}
	m.ProjectID, m.UserID = r.o.Project, x.Sub("scope").Text("user_id")
	rest := x.Without(append(taken, "kind", "external_system", "external_id", "created_at", "updated_at", "scope", "metadata")...)
	rest = rest.With("scope", x.Sub("scope").Without("user_id")).With("metadata", x.Sub("metadata").Without("amber"))
	for name, v := range rest {
		if list, ok := v.([]any); ok && len(list) == 0 {
			delete(rest, name)
		}
	}
	m.Keep(rest)
	return m
}

func (r *reader) memory(x record) error {
	m := r.base(x, "content", "categories")
	m.Content, m.Tags = x.Text("content"), x.Texts("categories")
	if m.UserID != "" {
		m.Kind = amber.UserFact
	}
	if slices.ContainsFunc(m.Tags, func(s string) bool { return strings.EqualFold(s, "preference") || strings.EqualFold(s, "preferences") }) {
		m.Kind = amber.UserPreference
	}
	if x.system == "amber" {
		m.AmberID = x.id
	}
	if x.own != nil {
		r.restore(&m, x)
	}
	return r.say(x, m)
}

// say gives out a memory. It reports one that is empty.
func (r *reader) say(x record, m foreign.Memory, names ...string) error {
	if strings.TrimSpace(m.Content) == "" {
		r.to.Skip(x.at, "%s %.80q is empty", strings.ReplaceAll(x.kind, "_", " "), x.id)
		return nil
	}
	r.refer(x, names...)
	return r.to.Memory(m)
}

func (r *reader) block(x record) error {
	m := r.base(x, "label", "value")
	m.Title, m.Topic, m.Content = x.Text("label"), x.Text("label"), x.Text("value")
	if m.Title == "human" {
		m.Kind = amber.UserFact
	}
	return r.say(x, m, m.Title)
}

// entityKinds are what entities of some types are about.
var entityKinds = map[string]amber.MemoryKind{
	"person": amber.UserFact, "user": amber.UserFact, "preference": amber.UserPreference, "project": amber.ProjectFact,
}

// entity makes a memory of a thing. An entity that Amber wrote is one of its memories, and only references to it are
// remembered.
func (r *reader) entity(x record) error {
	if id := x.own.Text("memory"); id != "" && x.system == "amber" {
		r.refs[x.id] = foreign.Key{x.system, id}
		return nil
	}
	m := r.base(x, "name", "entity_type", "description")
	m.Title, m.Content = x.Text("name"), x.Text("description", "name")
	m.Kind = cmp.Or(entityKinds[strings.ToLower(x.Text("entity_type"))], amber.WorkspaceFact)
	if typ := x.Text("entity_type"); typ != "" {
		m.Metadata = map[string]string{"entity_type": typ}
	}
	return r.say(x, m, append([]string{m.Title}, x.Texts("aliases")...)...)
}

// document gives out a note.
func (r *reader) document(x record) error {
	name := x.own.Text("note")
	if name == "" {
		name = formatName + "/" + x.system + "/" + cmp.Or(strings.ReplaceAll(x.Text("title"), "/", "-"), x.id)
	}
	if strings.TrimSpace(x.Text("content")) == "" {
		r.to.Skip(x.at, "document %.80q is empty", x.id)
		return nil
	}
	return r.to.Note(foreign.Note{Place: x.at, Name: name, Content: x.Text("content"), UpdatedAt: x.updated})
}
