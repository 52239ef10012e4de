package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
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
func (l *syncLab) full(ctx context.Context, memories, rounds int) *fullSync {
	s := l.store(ctx, memories)
	stats := get(s.Stats(ctx)) // a folder that was given may hold the store of an earlier run, which has grown
	check(s.Close())
	f := &fullSync{memories: int(stats.Memories)}
	for n := range rounds {
		fmt.Printf("round %d of %d\n", n+1, rounds)
		within(fmt.Sprint("round ", n+1), func() {
			f.round(ctx, filepath.Join(l.dir, storeName(memories)), filepath.Join(l.dir, fmt.Sprint("round-", n)))
		})
	}
	return f
}

func (f *fullSync) round(ctx context.Context, source, dir string) {
	folder := filepath.Join(dir, ".amber")
	check(os.MkdirAll(dir, 0o700))
	defer os.RemoveAll(dir)
	f.run(ctx, &f.export, syncTask{Do: "export", Home: source, Folder: folder})
	f.contents = look(folder)
	perChunk := (f.contents.records + f.contents.files - 1) / f.contents.files
	f.run(ctx, &f.imports, syncTask{Do: "import", Home: filepath.Join(dir, "import"), Folder: folder})
	f.run(ctx, &f.bare, syncTask{Do: "bare", Home: filepath.Join(dir, "bare"), Source: source, Rows: perChunk})
}

// run does a task in a process of its own and keeps what it took.
func (f *fullSync) run(ctx context.Context, into *series, t syncTask) {
	task := get(json.Marshal(t))
	took := get(command{program: os.Args[0], env: []string{syncJob + "=" + string(task)}}.run(ctx))
	var done syncDone
	check(json.Unmarshal(took.stdout, &done))
	if done.Memories != f.memories {
		fail("%s: %d of %d memories", t.Do, done.Memories, f.memories)
	}
	took.wall = done.Took
	*into = append(*into, took)
}

// look reads the chunks in a folder.
func look(folder string) (c contents) {
	dir := filepath.Join(folder, "chunks")
	entries := get(os.ReadDir(dir))
	for _, e := range entries {
		id, ok := chunk.ParseFileName(e.Name())
		if !ok {
			fail("%s is no chunk", e.Name())
		}
		b := get(os.ReadFile(filepath.Join(dir, e.Name())))
		read := get(chunk.Decode(id, b))
		c.files, c.records = c.files+1, c.records+len(read.Records)
		c.bytes, c.text = c.bytes+int64(len(b)), c.text+int64(read.Text)
	}
	return c
}

func (f *fullSync) ratio() ratio {
	return ratio{
		name: "full import", ours: f.imports.wall(), theirs: f.bare.wall(), limit: limitImport,
		what: fmt.Sprintf("%d memories", f.memories), base: "bare batched inserts",
	}
}

// lines returns the results that are no ratio: speed and memory.
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
	all := slices.Sorted(slices.Values(each(s, func(c cost) string { return mb(c.resident) })))
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

// syncDone is its report.
type syncDone struct {
	Took     time.Duration `json:"took"`
	Memories int           `json:"memories"`
}
