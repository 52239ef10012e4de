// Package foreigntest has what the tests of formats share: a sink that remembers, and files that are damaged in every
// way.
package foreigntest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // databases of samples

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/test/must"
)

// Recorder is a sink that remembers what it got.
type Recorder struct {
	Memories  []foreign.Memory
	Relations []foreign.Relation
	Sessions  []foreign.Session
	Turns     map[amber.SessionID][]foreign.Turn
	Notes     []foreign.Note
	Skips     []string // "place: reason"
	Warnings  []string

	last amber.SessionID
}

// Memory implements [foreign.Sink]. No metadata are nil, as both are one to a store.
func (r *Recorder) Memory(m foreign.Memory) error {
	if len(m.Metadata) == 0 {
		m.Metadata = nil
	}
	r.Memories = append(r.Memories, m)
	return nil
}

// Relation implements [foreign.Sink].
func (r *Recorder) Relation(x foreign.Relation) error {
	r.Relations = append(r.Relations, x)
	return nil
}

// Session implements [foreign.Sink].
func (r *Recorder) Session(s foreign.Session) (bool, error) {
	r.Sessions, r.last = append(r.Sessions, s), s.ID
	return true, nil
}

// Turn implements [foreign.Sink].
func (r *Recorder) Turn(t foreign.Turn) error {
	if r.last == "" {
		return fmt.Errorf("a turn at %s comes before any session", t.Place)
	}
	if r.Turns == nil {
		r.Turns = map[amber.SessionID][]foreign.Turn{}
	}
	r.Turns[r.last] = append(r.Turns[r.last], t)
	return nil
}

// Note implements [foreign.Sink].
func (r *Recorder) Note(n foreign.Note) error { r.Notes = append(r.Notes, n); return nil }

// Skip implements [foreign.Sink].
func (r *Recorder) Skip(at foreign.Place, format string, args ...any) {
	r.Skips = append(r.Skips, at.String()+": "+fmt.Sprintf(format, args...))
}

// Warn implements [foreign.Sink].
func (r *Recorder) Warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Record implements [foreign.Sink]: the last version counts, as a memory.
func (r *Recorder) Record(at foreign.Place, versions []amber.SyncMemory) error {
	m := versions[len(versions)-1].Memory
	return r.Memory(foreign.Memory{
		Place: at, Key: foreign.Key{string(m.ID)}, Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Title: m.Title, Content: m.Content,
		Summary: m.Summary, Topic: m.Topic, Tags: m.Tags, Metadata: m.Metadata, SourceRefs: m.SourceRefs, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		DeletedAt: m.DeletedAt, AmberID: string(m.ID),
	})
}

// RelationRecord implements [foreign.Sink].
func (r *Recorder) RelationRecord(at foreign.Place, x amber.Relation) error {
	return r.Relation(foreign.Relation{
		Place: at, From: foreign.Key{string(x.From)}, To: foreign.Key{string(x.To)}, Type: x.Type, Strength: x.Strength, CreatedAt: x.CreatedAt,
	})
}

// Count returns how many items there are, turns included.
func (r *Recorder) Count() int {
	n := len(r.Memories) + len(r.Relations) + len(r.Sessions) + len(r.Notes)
	for _, t := range r.Turns {
		n += len(t)
	}
	return n
}

// Options are those of a person without a project; the project of a directory is its last element.
func Options() foreign.Options {
	return foreign.Options{ProjectOf: func(dir string) string { return path.Base(filepath.ToSlash(dir)) }}
}

// Read reads a path, which must be detected as the format for sure, and checks the rules that every format keeps.
func Read(t testing.TB, f foreign.Format, name string) *Recorder {
	t.Helper()
	return ReadWith(t, f, name, Options())
}

// ReadWith is Read with options.
func ReadWith(t testing.TB, f foreign.Format, name string, o foreign.Options) *Recorder {
	t.Helper()
	tree := must.Get(foreign.Open(name))(t)
	defer func() { must.Do(t, tree.Close()) }()
	if got := f.Detect(tree); got == foreign.No {
		t.Errorf("%s is not detected as %s", name, f.Name)
	}
	r := &Recorder{}
	must.Do(t, f.Read(context.Background(), tree, o, r))
	r.check(t)
	return r
}

// check holds what was read against the rules: every item has a place, every row a key, keys name one row each.
func (r *Recorder) check(t testing.TB) {
	t.Helper()
	seen := map[string]string{}
	key := func(what string, k foreign.Key, at foreign.Place) {
		name := foreign.Fingerprint("", what, k)
		if len(k) == 0 || at.File == "" {
			t.Errorf("%s at %q has key %q, want a place and a key", what, at, k)
		}
		if before, twice := seen[name]; twice {
			t.Errorf("%s at %s has the key of %s", what, at, before)
		}
		seen[name] = at.String()
	}
	for _, m := range r.Memories {
		key("memory", m.Key, m.Place)
	}
	for id, turns := range r.Turns {
		for _, turn := range turns {
			key("turn", turn.Key, turn.Place)
			if turn.Content == "" && len(turn.Activity) == 0 && turn.Compaction == "" {
				t.Errorf("a turn of %s at %s is empty", id, turn.Place)
			}
		}
	}
}

// Damage cuts a file at every byte (at every step-th of a long one) and breaks each of its lines, and reads the tree
// each time: nothing may panic or fail, an item that a cut or a broken line costs is named, and one broken line of a
// format of lines costs no more than most items.
func Damage(t *testing.T, f foreign.Format, root, file string, most int) {
	t.Helper()
	whole := must.Get(os.ReadFile(filepath.Join(root, file)))(t)
	dir := t.TempDir()
	copyTree(t, root, dir)
	full := readDamaged(t, f, dir)
	step := max(1, len(whole)/2000)
	for cut := 0; cut < len(whole); cut += step {
		put(t, filepath.Join(dir, file), whole[:cut])
		readDamaged(t, f, dir)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for i := range lines {
		for _, with := range []string{"\x00\xff garbage \"{[\n", string(lines[i][:len(lines[i])/2]) + "\n", "{}\n", "[[[[\n", "null\n"} {
			broken := bytes.Join([][]byte{bytes.Join(lines[:i], nil), []byte(with), bytes.Join(lines[i+1:], nil)}, nil)
			put(t, filepath.Join(dir, file), broken)
			r := readDamaged(t, f, dir)
			if lost := full.Count() - r.Count(); most >= 0 && lost > most {
				t.Errorf("line %d of %s as %.20q costs %d items, want at most %d (%v)", i+1, file, with, lost, most, r.Skips)
			}
		}
	}
}

func readDamaged(t *testing.T, f foreign.Format, dir string) *Recorder {
	t.Helper()
	tree := must.Get(foreign.Open(dir))(t)
	defer func() { must.Do(t, tree.Close()) }()
	f.Detect(tree)
	r := &Recorder{}
	must.Do(t, f.Read(context.Background(), tree, Options(), r))
	return r
}

// put writes a file that only this test reads, so nothing needs to reach the disk.
func put(t testing.TB, name string, b []byte) {
	t.Helper()
	f := must.Get(create(name))(t)
	must.Get(f.Write(b))(t)
	must.Do(t, f.Close())
}

func create(name string) (io.WriteCloser, error) {
	return fsx.OS().OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	must.Do(t, os.CopyFS(to, os.DirFS(from)))
}

// Fuzz reads arbitrary bytes as a file of the given name in an otherwise empty folder.
func Fuzz(f *testing.F, format foreign.Format, name string, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		put(t, file, b)
		readDamaged(t, format, dir)
	})
}

// Texts returns the role and text of turns, one per line, for comparison.
func Texts(turns []foreign.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		if t.Content != "" {
			fmt.Fprintf(&b, "%s: %s\n", t.Role, t.Content)
		}
	}
	return b.String()
}

// Contents are contents in memory, for tests of what a format writes.
type Contents struct {
	MemoryList   []amber.Memory
	RelationList []amber.Relation
	SessionList  []amber.Session
	TurnList     map[amber.SessionID][]amber.Turn
	NoteList     []amber.Note
}

// Memories implements [foreign.Contents].
func (c *Contents) Memories(_ context.Context, fn func(amber.Memory) error) error {
	return each(c.MemoryList, fn)
}

// Versions implements [foreign.Contents]: the memory itself is the only one.
func (c *Contents) Versions(_ context.Context, id amber.MemoryID) (out []amber.SyncMemory, err error) {
	for _, m := range c.MemoryList {
		if m.ID == id {
			out = append(out, amber.SyncMemory{Memory: m})
		}
	}
	return out, nil
}

// Relations implements [foreign.Contents].
func (c *Contents) Relations(_ context.Context, fn func(amber.Relation) error) error {
	return each(c.RelationList, fn)
}

// Notes implements [foreign.Contents].
func (c *Contents) Notes(_ context.Context, fn func(amber.Note) error) error {
	return each(c.NoteList, fn)
}

// Sessions implements [foreign.Contents].
func (c *Contents) Sessions(_ context.Context, fn func(amber.Session, func(func(amber.Turn) error) error) error) error {
	return each(c.SessionList, func(s amber.Session) error {
		return fn(s, func(fn func(amber.Turn) error) error { return each(c.TurnList[s.ID], fn) })
	})
}

func each[T any](list []T, fn func(T) error) error {
	for _, v := range list {
		if err := fn(v); err != nil {
			return err
		}
	}
	return nil
}

// Folder is an output in a directory. The file "" is called out.
type Folder string

// Create implements [foreign.Output].
func (f Folder) Create(name string) (io.WriteCloser, error) {
	file := f.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	return create(file)
}

// Existing implements [foreign.Output].
func (f Folder) Existing(name string) ([]byte, error) {
	b, err := os.ReadFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func (f Folder) path(name string) string {
	if name == "" {
		name = "out"
	}
	return filepath.Join(string(f), filepath.FromSlash(name))
}
