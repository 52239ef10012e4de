package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amber-memory/amber/gitsync/chunk"
)

// fullSync is what it took to bring a whole store out and into another one.
type fullSync struct {
	memories              int
	export, imports, bare series // wall is the work alone, without opening the store
	contents              contents
}

// contents is what lies in an exported folder.
type contents struct {
	files, records int
	bytes, text    int64 // compressed, and as lines
}

// full measures rounds of: the first export of a store to a folder; the import
// of that folder into an empty store; bare inserts of the same rows. Each of
// them is a process of its own.
func (l *syncLab) full(ctx context.Context, memories, rounds int) (*fullSync, error) {
	s, err := l.store(ctx, memories)
	if err != nil {
		return nil, err
	}
	stats, err := s.Stats(ctx) // a folder that was given may hold the store of an earlier run, which has grown
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	f := &fullSync{memories: int(stats.Memories)}
	for n := range rounds {
		fmt.Printf("round %d of %d\n", n+1, rounds)
		if err := f.round(ctx, filepath.Join(l.dir, storeName(memories)), filepath.Join(l.dir, fmt.Sprint("round-", n))); err != nil {
			return nil, fmt.Errorf("round %d: %w", n+1, err)
		}
	}
	return f, nil
}

func (f *fullSync) round(ctx context.Context, source, dir string) (err error) {
	folder := filepath.Join(dir, ".amber")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := f.run(ctx, &f.export, syncTask{Do: "export", Home: source, Folder: folder}); err != nil {
		return err
	}
	if f.contents, err = look(folder); err != nil {
		return err
	}
	perChunk := (f.contents.records + f.contents.files - 1) / f.contents.files
	if err := f.run(ctx, &f.imports, syncTask{Do: "import", Home: filepath.Join(dir, "import"), Folder: folder}); err != nil {
		return err
	}
	return f.run(ctx, &f.bare, syncTask{Do: "bare", Home: filepath.Join(dir, "bare"), Source: source, Rows: perChunk})
}

// run does a task in a process of its own and keeps what it took.
func (f *fullSync) run(ctx context.Context, into *series, t syncTask) error {
	task, err := json.Marshal(t)
	if err != nil {
		return err
	}
	took, err := command{program: os.Args[0], env: []string{syncJob + "=" + string(task)}}.run(ctx)
	if err != nil {
		return err
	}
	var done syncDone
	if err := json.Unmarshal(took.stdout, &done); err != nil {
		return err
	}
	if done.Memories != f.memories {
		return fmt.Errorf("%s: %d of %d memories", t.Do, done.Memories, f.memories)
	}
	took.wall = done.Took
	*into = append(*into, took)
	return nil
}

// look reads the chunks in a folder.
func look(folder string) (c contents, err error) {
	dir := filepath.Join(folder, "chunks")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return c, err
	}
	for _, e := range entries {
		id, ok := chunk.ParseFileName(e.Name())
		if !ok {
			return c, fmt.Errorf("%s is no chunk", e.Name())
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return c, err
		}
		read, err := chunk.Decode(id, b)
		if err != nil {
			return c, err
		}
		c.files, c.records = c.files+1, c.records+len(read.Records)
		c.bytes, c.text = c.bytes+int64(len(b)), c.text+int64(read.Text)
	}
	return c, nil
}

func (f *fullSync) ratio() ratio {
	return ratio{
		name: "full import", ours: f.imports.wall(), theirs: f.bare.wall(), limit: limitImport,
		what: fmt.Sprintf("%d memories", f.memories), base: "bare batched inserts",
	}
}

// lines tells what is no ratio: how fast it was, and memory.
func (f *fullSync) lines() []line {
	c := f.contents
	return []line{
		f.speed("first export", f.export, fmt.Sprintf("of %s as lines, %s in %d chunks", mb(c.text), mb(c.bytes), c.files)),
		f.speed("full import", f.imports, "of the same lines"),
		f.speed("bare inserts", f.bare, fmt.Sprintf("of the same rows, %d in a transaction", (c.records+c.files-1)/c.files)),
		f.memory("peak memory, first export", f.export),
		f.memory("peak memory, full import", f.imports),
	}
}

func (f *fullSync) speed(name string, s series, note string) line {
	return line{
		name: name, wall: s.wall(), amount: float64(f.contents.text) / 1e6 / s.wall().Seconds(), unit: "MB/s",
		note: fmt.Sprintf("%s; %s, cpu %s", note, s.spread(), ms(s.cpu())),
	}
}

func (f *fullSync) memory(name string, s series) line {
	var all []string
	for _, c := range s {
		all = append(all, mb(c.resident))
	}
	slices.Sort(all)
	return line{name: name, amount: float64(s.resident()) / 1e6, unit: "MB", limit: limitSyncMemory, note: fmt.Sprint("each run: ", all)}
}

// syncTask is what a process of this part does.
type syncTask struct {
	Do     string `json:"do"`   // export, import or bare
	Home   string `json:"home"` // of the store it works on
	Folder string `json:"folder,omitempty"`
	Source string `json:"source,omitempty"` // the home whose rows are inserted
	Rows   int    `json:"rows,omitempty"`   // inserted in one transaction
}

// syncDone is what it tells.
type syncDone struct {
	Took     time.Duration `json:"took"`
	Memories int           `json:"memories"`
}
