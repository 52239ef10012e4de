package notes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/gitrun"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// change is what a commit does to one note: it gets new content, or goes.
type change struct {
	name    string
	content []byte
	remove  bool
}

// indexed is what the index shall say about a note; no blob means nothing.
type indexed struct {
	name, blob string
}

// commit adds a commit to the branch, whose commit so far is head, and returns it. between, when there is
// one, runs after everything that is likely to fail and before the branch moves: it is where the file
// changes. All is durable when commit returns.
func (r *repo) commit(
	ctx context.Context, by amber.NoteBy, head, verb string, changes []change, between func() error,
) (string, error) {
	next, err := r.storeObjects(ctx, head, message(by, verb, changes), changes)
	if err != nil {
		return "", err
	}
	if between != nil {
		if err := between(); err != nil {
			return "", err
		}
	}
	if err := r.moveBranch(ctx, head, next); err != nil {
		return "", err
	}
	entries := make([]indexed, len(changes))
	for i, c := range changes {
		entries[i].name = c.name
		if !c.remove {
			entries[i].blob = gitobj.BlobID(c.content)
		}
	}
	// The commit is made; an index that was not brought up to it is mended by the next write.
	_ = r.updateIndex(ctx, entries)
	return next, nil
}

// message says what a commit does and who makes the change. Whose change is recovered is not known: it counts as made by hand.
func message(by amber.NoteBy, verb string, changes []change) string {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.name
	}
	if verb == notefile.OpRecover {
		return notefile.Subject(verb, names...)
	}
	return notefile.Message(by, verb, names...)
}

// storeObjects stores the objects of a commit, durably, and returns its id. Nothing refers to them yet.
func (r *repo) storeObjects(ctx context.Context, head, message string, changes []change) (string, error) {
	stream := importStream(head, message, changes, gitobj.UnixSeconds(r.clock()))
	out, err := r.run(ctx, stream, "fast-import", "--quiet", "--done")
	if err != nil {
		return "", err
	}
	ids := parseIDs(string(out))
	if len(ids) == 0 {
		return "", errors.New("git fast-import did not answer with a commit")
	}
	next := ids[len(ids)-1]
	for _, c := range changes {
		if !c.remove {
			ids = append(ids, gitobj.BlobID(c.content))
		}
	}
	return next, r.syncObjects(ids)
}

// importStream is the input of git fast-import: the commit, then the question what its folders are called,
// and at last itself. The branch it uses is reset at the end, so that it never becomes a ref.
func importStream(head, message string, changes []change, when int64) []byte {
	const scratch = "refs/amber/next"
	var b bytes.Buffer
	fmt.Fprintf(&b, "feature done\ncommit %s\nmark :1\ncommitter %s <%s> %d +0000\ndata %d\n%s\n",
		scratch, gitobj.Author, gitobj.Email, when, len(message), message)
	if head != "" {
		fmt.Fprintf(&b, "from %s\n", head)
	}
	folders := map[string]bool{}
	for _, c := range changes {
		file := c.name + notefile.Suffix
		if c.remove {
			fmt.Fprintf(&b, "D %s\n", file)
		} else {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", file, len(c.content), c.content)
		}
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	b.WriteString("\n")
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		fmt.Fprintf(&b, "ls :1 %s\n", dir)
	}
	fmt.Fprintf(&b, "ls :1 \"\"\nget-mark :1\nreset %s\n\ndone\n", scratch)
	return b.Bytes()
}

// parseIDs reads what git fast-import answers: "mode type id<TAB>path" or "missing path" for each ls, the id
// alone for get-mark.
func parseIDs(out string) []string {
	var ids []string
	for line := range strings.Lines(out) {
		about, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		id := about[strings.LastIndexByte(about, ' ')+1:]
		if isID(id) && !strings.HasPrefix(line, "missing ") {
			ids = append(ids, id)
		}
	}
	return ids
}

func isID(s string) bool {
	return len(s) == len(gitobj.ZeroOID) && strings.Trim(s, "0123456789abcdef") == ""
}

// syncObjects makes the names of new objects durable; git synced their content.
func (r *repo) syncObjects(ids []string) error {
	dirs := map[string]bool{"objects": true}
	for _, id := range ids {
		dir := path.Join("objects", id[:2])
		if _, err := r.fsys.Lstat(r.gitPath(path.Join(dir, id[2:]))); err != nil {
			dir = "objects/pack" // many objects at once become one pack
		}
		dirs[dir] = true
	}
	for dir := range dirs {
		if err := r.fsys.SyncDir(r.gitPath(dir)); err != nil {
			return err
		}
	}
	return nil
}

// moveBranch makes next the commit of the branch, durably. The error is of kind conflict when another process moved the
// branch meanwhile.
func (r *repo) moveBranch(ctx context.Context, head, next string) error {
	if head == "" {
		head = gitobj.ZeroOID
	}
	_, err := r.run(ctx, nil, "update-ref", "--no-deref", branch, next, head)
	if errors.Is(err, gitrun.ErrExit) && strings.Contains(err.Error(), "but expected") {
		return notefile.Moved(err)
	}
	if err != nil {
		return err
	}
	// Git before 2.36 does not sync refs, and no git syncs their folder.
	f, err := r.fsys.OpenFile(r.gitPath(branch), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return r.fsys.SyncDir(path.Dir(r.gitPath(branch)))
}

// updateIndex sets entries of the index.
func (r *repo) updateIndex(ctx context.Context, entries []indexed) error {
	if len(entries) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, e := range entries {
		mode, blob := "100644", e.blob
		if blob == "" {
			mode, blob = "0", gitobj.ZeroOID
		}
		fmt.Fprintf(&b, "%s %s\t%s\x00", mode, blob, e.name+notefile.Suffix)
	}
	_, err := r.run(ctx, b.Bytes(), "update-index", "-z", "--index-info")
	return err
}
