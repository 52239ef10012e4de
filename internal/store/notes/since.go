package notes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/gitrun"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// Committed is what the branch holds, or how it differs from an earlier commit.
type Committed struct {
	Head    string
	Whole   bool         // these are all notes; what is not among them is gone
	Notes   []amber.Note // with their text, the commit that wrote it and the time of that commit
	Removed []string
}

// Since returns the notes that differ between a commit and the end of the branch. For a commit that the repository does
// not know, "" among them, it returns all notes. A change in the folder that is not committed does not count, nor does
// a file that is too large for a note or no text. Errors: unsupported when there is no git; damaged; unreachable when
// git hangs.
func (d *Dir) Since(ctx context.Context, commit string) (c Committed, err error) {
	err = d.guard.Read(ctx, func(dir string) error {
		r := d.repoAt(dir)
		ready, err := r.vet()
		if err != nil || !ready {
			c.Whole = true
			return err
		}
		c, err = r.since(ctx, commit)
		return err
	})
	return c, wrap("read committed notes", "", err)
}

// Blobs returns the ids of the blobs of all notes that a commit holds, by name. Errors: those of [Dir.Since].
func (d *Dir) Blobs(ctx context.Context, commit string) (blobs map[string]string, err error) {
	err = d.guard.Read(ctx, func(dir string) error {
		blobs, err = d.repoAt(dir).tree(ctx, commit)
		return err
	})
	return blobs, wrap("list committed notes", "", err)
}

func (r *repo) since(ctx context.Context, commit string) (c Committed, err error) {
	c.Whole = true
	if c.Head, err = r.head(); err != nil || c.Head == "" {
		return c, err
	}
	var blobs map[string]string
	if isCommit(commit) {
		blobs, err = r.differ(ctx, commit, c.Head)
		c.Whole = errors.Is(err, gitrun.ErrExit) // it knows no such commit
	}
	if c.Whole {
		blobs, err = r.tree(ctx, c.Head)
	}
	if err != nil {
		return c, err
	}
	for name, blob := range blobs {
		if blob == gitobj.ZeroOID {
			c.Removed = append(c.Removed, name)
			delete(blobs, name)
		}
	}
	err = r.read(ctx, blobs, &c)
	slices.Sort(c.Removed)
	return c, err
}

// differ returns the notes that differ between two commits, with their blobs in the second one.
func (r *repo) differ(ctx context.Context, from, to string) (map[string]string, error) {
	out, err := r.query(ctx, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", from, to)
	if err != nil {
		return nil, err
	}
	blobs := map[string]string{}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(fields[i]) // :mode mode blob blob letter
		if len(f) != 5 {
			return nil, errors.New("git diff-tree answers in an unknown form")
		}
		if name, isNote := notefile.NameOf(fields[i+1]); isNote {
			if blobs[name] = f[3]; blobOf(f[1], f[3]) == "" {
				blobs[name] = gitobj.ZeroOID
			}
		}
	}
	return blobs, nil
}

// tree returns the notes of a commit with their blobs.
func (r *repo) tree(ctx context.Context, commit string) (map[string]string, error) {
	blobs := map[string]string{}
	if commit == "" {
		return blobs, nil
	}
	out, err := r.query(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if errors.Is(err, gitrun.ErrExit) {
		return nil, damagedRepo(err)
	}
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		about, file, _ := strings.Cut(entry, "\t") // mode type id
		f := strings.Fields(about)
		if name, isNote := notefile.NameOf(file); isNote && len(f) == 3 && blobOf(f[0], f[2]) != "" {
			blobs[name] = f[2]
		}
	}
	return blobs, nil
}

// read adds the notes with these blobs. Blobs that are no text of a note count as removed.
func (r *repo) read(ctx context.Context, blobs map[string]string, c *Committed) error {
	names := slices.Sorted(maps.Keys(blobs))
	if len(names) == 0 {
		return nil
	}
	sizes, err := r.sizes(ctx, names, blobs)
	if err != nil {
		return err
	}
	wrote, err := r.writers(ctx, names, c.Head)
	if err != nil {
		return err
	}
	for begin := 0; begin < len(names); {
		end, size := begin, 0
		for end < len(names) && (end == begin || size+sizes[names[end]] <= maxBatch) {
			size += sizes[names[end]]
			end++
		}
		texts, err := r.blobs(ctx, names[begin:end], blobs, sizes)
		if err != nil {
			return err
		}
		for _, name := range names[begin:end] {
			text, ok := texts[name]
			if !ok || amber.CheckNoteContent(text) != nil {
				c.Removed = append(c.Removed, name)
				continue
			}
			w, found := wrote[name]
			if !found { // as in a history that a person has cut short
				w = amber.NoteCommit{Commit: c.Head, At: amber.At(r.clock())}
			}
			c.Notes = append(c.Notes, amber.Note{Name: name, Content: text, Bytes: int64(len(text)), Commit: w.Commit, UpdatedAt: w.At, NoteBy: w.NoteBy})
		}
		begin = end
	}
	return nil
}

// sizes returns the sizes of blobs; one that is too large for a note, or no blob, has none.
func (r *repo) sizes(ctx context.Context, names []string, blobs map[string]string) (map[string]int, error) {
	out, err := r.feed(ctx, names, blobs, "cat-file", "--batch-check=%(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		return nil, errors.New("git cat-file answers in an unknown form")
	}
	sizes := map[string]int{}
	for i, line := range lines {
		kind, size, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(size); kind == "blob" && err == nil && n <= amber.MaxContentBytes {
			sizes[names[i]] = n
		}
	}
	return sizes, nil
}

// blobs returns the texts of the notes that have a size.
func (r *repo) blobs(ctx context.Context, names []string, blobs map[string]string, sizes map[string]int) (map[string]string, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { _, ok := sizes[n]; return !ok })
	out, err := r.feed(ctx, names, blobs, "cat-file", "--batch=%(objectsize)")
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, name := range names {
		_, rest, found := bytes.Cut(out, []byte("\n"))
		if n := sizes[name]; !found || len(rest) < n+1 {
			return nil, errors.New("git cat-file answers in an unknown form")
		}
		texts[name], out = string(rest[:sizes[name]]), rest[sizes[name]+1:]
	}
	return texts, nil
}

// feed asks git about blobs, one line each.
func (r *repo) feed(ctx context.Context, names []string, blobs map[string]string, args ...string) ([]byte, error) {
	var in bytes.Buffer
	for _, name := range names {
		fmt.Fprintln(&in, blobs[name])
	}
	out, err := r.git.Run(ctx, gitrun.Call{Args: args, Dir: r.dir, Env: r.readEnv(), Stdin: in.Bytes()})
	if errors.Is(err, gitrun.ErrExit) {
		err = damagedRepo(err)
	}
	return out, err
}

// fewNotes is how many notes are asked for one by one who wrote them; for more the whole history is read once.
const fewNotes = 8

// writers returns the last commit of each note.
func (r *repo) writers(ctx context.Context, names []string, head string) (map[string]amber.NoteCommit, error) {
	wrote := map[string]amber.NoteCommit{}
	if len(names) > fewNotes {
		return wrote, r.allWriters(ctx, head, wrote)
	}
	for _, name := range names {
		log, err := r.history(ctx, name, 1)
		if err != nil {
			return nil, err
		}
		if len(log) == 1 {
			wrote[name] = log[0].NoteCommit
		}
	}
	return wrote, nil
}

// allWriters reads the whole history for the last commit of every note.
func (r *repo) allWriters(ctx context.Context, head string, wrote map[string]amber.NoteCommit) error {
	out, err := r.git.Run(ctx, gitrun.Call{
		Args: []string{"log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", logFormat, head, "--"},
		Dir:  r.dir, Env: r.readEnv(), Extra: []string{"core.quotePath=false"},
	})
	if errors.Is(err, gitrun.ErrExit) {
		return damagedRepo(err)
	}
	if err != nil {
		return err
	}
	return eachLogged(string(out), func(l logged, file string) {
		if name, isNote := notefile.NameOf(file); isNote && wrote[name].Commit == "" {
			wrote[name] = l.NoteCommit
		}
	})
}
