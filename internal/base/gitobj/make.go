package gitobj

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Object is one object of a repository.
type Object struct {
	OID  string
	Type string // commit, tree, blob or tag
	Raw  []byte // what git hashes: type, length and content
}

// newObject makes an object, by SHA-1.
func newObject(kind string, content []byte) Object {
	raw := append([]byte(objectHeader(kind, int64(len(content)))), content...)
	h := newHash(len(ZeroOID))
	h.Write(raw)
	return Object{hex.EncodeToString(h.Sum(nil)), kind, raw}
}

// CheckObject returns what raw is, after its bytes were found to be those of the id oid. The error is of kind damaged.
func CheckObject(oid string, raw []byte) (Object, error) {
	if !isOID(oid) {
		return Object{}, badObject(oid, "has no valid id")
	}
	if err := checkOID(oid, raw); err != nil {
		return Object{}, err
	}
	kind, _, err := splitRaw(oid, raw)
	return Object{oid, kind, raw}, err
}

// NewBlob makes the object of a file.
func NewBlob(content []byte) Object { return newObject(typeBlob, content) }

// ReadBlob returns the content of a file. The error is of kind damaged.
func ReadBlob(oid string, raw []byte) ([]byte, error) { return contentOf(oid, raw, typeBlob) }

// NewCommit makes a commit as Amber makes them; no parent begins a history. The bytes are those of git fast-import.
func NewCommit(tree, parent, message string, at time.Time) Object {
	return newObject(typeCommit, commitContent(tree, parent, message, at))
}

func commitContent(tree, parent, message string, at time.Time) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	if parent != "" {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	who := fmt.Sprintf("%s <%s> %d +0000", Author, Email, UnixSeconds(at))
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", who, who, message)
	return b.Bytes()
}

// contentOf returns the content of an object of the given type.
func contentOf(oid string, raw []byte, want string) ([]byte, error) {
	kind, content, err := splitRaw(oid, raw)
	if err == nil && kind != want {
		err = badObject(oid, "is not a "+want)
	}
	return content, err
}

// Commit is what a commit says.
type Commit struct {
	Tree    string
	Parents []string
	Seconds int64  // when it was committed, since 1970
	Subject string // the first paragraph of the message, in one line
	Author  string // "Name <email>", who wrote it first
	Written int64  // when, since 1970
	By      string // the values of the trailers [ByTrailer], joined by spaces
}

// ByTrailer is the key of the line at the end of a message that says who made the change, where that was not the owner.
const ByTrailer = "Amber-Author"

// ReadCommit reads a commit: its tree, then its parents, then who made it and what it says. A date that cannot be read is 1970.
// The error is of kind damaged.
func ReadCommit(oid string, raw []byte) (Commit, error) {
	content, err := contentOf(oid, raw, typeCommit)
	if err != nil {
		return Commit{}, err
	}
	var c Commit
	head, message, _ := bytes.Cut(content, []byte("\n\n"))
	parents := true
	for line := range bytes.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		isTree, isParent := key == "tree" && c.Tree == "", parents && key == "parent" && c.Tree != ""
		if (isTree || isParent) && (!isOID(value) || len(value) != len(oid)) {
			return Commit{}, badObject(oid, "names an id that is not valid")
		}
		switch {
		case isTree:
			c.Tree = value
		case isParent:
			c.Parents = append(c.Parents, value)
		case c.Tree == "":
			return Commit{}, badObject(oid, "has no tree")
		case key == "committer":
			c.Seconds = secondsOf(value)
		case key == "author":
			c.Author, c.Written = value[:strings.LastIndexByte(value, '>')+1], secondsOf(value)
		}
		parents = isTree || isParent
	}
	if c.Tree == "" {
		return Commit{}, badObject(oid, "has no tree")
	}
	c.Subject, c.By = subjectOf(string(message)), trailersOf(string(message))
	return c, nil
}

// secondsOf reads the date behind a name.
func secondsOf(who string) int64 {
	_, date, _ := strings.Cut(who[strings.LastIndexByte(who, '>')+1:], " ")
	digits, _, _ := strings.Cut(date, " ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// subjectOf is what git calls %s.
func subjectOf(message string) string {
	paragraph, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n\n")
	return strings.Join(strings.Split(strings.TrimRight(paragraph, "\n"), "\n"), " ")
}

// trailersOf returns the values of the trailers in the last paragraph of a message, which is not its first.
func trailersOf(message string) string {
	message = strings.Trim(message, "\n")
	at := strings.LastIndex(message, "\n\n")
	if at < 0 {
		return ""
	}
	var values []string
	for line := range strings.SplitSeq(message[at+2:], "\n") {
		if value, found := strings.CutPrefix(line, ByTrailer+":"); found {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return strings.Join(values, " ")
}

// The modes of entries.
const (
	modeFolder     = "40000"
	modeFile       = "100644"
	modeExecutable = "100755"
	modeSymlink    = "120000"
	modeLink       = "160000" // to a commit of another repository
)

// TreeEntry is one line of a tree.
type TreeEntry struct {
	Mode, Name, OID string
}

// IsTree reports whether the entry is a folder.
func (e TreeEntry) IsTree() bool { return strings.TrimLeft(e.Mode, "0") == modeFolder }

// IsFile reports whether the entry is a regular file.
func (e TreeEntry) IsFile() bool { return strings.HasPrefix(e.Mode, "100") }

// IsSymlink reports whether the entry is a symbolic link.
func (e TreeEntry) IsSymlink() bool { return e.Mode == modeSymlink }

func (e TreeEntry) isLink() bool { return e.Mode == modeLink }

// ReadTree reads a tree. The error is of kind damaged.
func ReadTree(oid string, raw []byte) (entries []TreeEntry, err error) {
	content, err := contentOf(oid, raw, typeTree)
	if err != nil {
		return nil, err
	}
	for size := len(oid) / 2; len(content) > 0; {
		head, rest, found := bytes.Cut(content, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		if !found || !spaced || name == "" || len(rest) < size {
			return nil, badObject(oid, "is a damaged tree")
		}
		entries = append(entries, TreeEntry{Mode: mode, Name: name, OID: hex.EncodeToString(rest[:size])})
		content = rest[size:]
	}
	return entries, nil
}

// treeContent is the content of a tree of entries, which are sorted as git sorts them.
func treeContent(tree []TreeEntry) []byte {
	slices.SortFunc(tree, func(x, y TreeEntry) int { return strings.Compare(sortName(x), sortName(y)) })
	var b []byte
	for _, e := range tree {
		oid, _ := hex.DecodeString(e.OID) // made here, or read from a tree
		b = append(fmt.Appendf(b, "%s %s\x00", e.Mode, e.Name), oid...)
	}
	return b
}

// sortName is what git sorts a tree by.
func sortName(e TreeEntry) string {
	if e.IsTree() {
		return e.Name + "/"
	}
	return e.Name
}

// PutFiles returns the id of a tree with blobs at slash-separated paths, and the trees that are new by it, in no order that
// matters. The tree so far may be "", for none. Blob "" takes a file away, and folders that are empty then. Errors: damaged;
// those of get.
func PutFiles(get ObjectGetter, tree string, blobs map[string]string) (root string, made []Object, err error) {
	root, err = putFiles(get, tree, blobs, &made)
	if err == nil && root == "" {
		empty := newObject(typeTree, nil)
		root, made = empty.OID, append(made, empty)
	}
	return root, made, err
}

// putFiles does so in one folder. It returns "" for one without entries.
func putFiles(get ObjectGetter, tree string, blobs map[string]string, made *[]Object) (string, error) {
	var entries []TreeEntry
	if tree != "" {
		raw, err := get(tree)
		if err != nil {
			return "", err
		}
		if entries, err = ReadTree(tree, raw); err != nil {
			return "", err
		}
	}
	files, folders := split(blobs)
	for _, name := range keys(folders) {
		if files[name] != "" {
			continue // which has the place
		}
		below := ""
		if at := slices.IndexFunc(entries, func(e TreeEntry) bool { return e.Name == name && e.IsTree() }); at >= 0 {
			below = entries[at].OID
		}
		below, err := putFiles(get, below, folders[name], made)
		if err != nil {
			return "", err
		}
		entries = replaced(entries, TreeEntry{Mode: modeFolder, Name: name, OID: below})
		delete(files, name)
	}
	for _, name := range keys(files) {
		entries = replaced(entries, TreeEntry{Mode: modeFile, Name: name, OID: files[name]})
	}
	if len(entries) == 0 {
		return "", nil
	}
	o := newObject(typeTree, treeContent(entries))
	*made = append(*made, o)
	return o.OID, nil
}

// split returns the blobs that lie in a folder, and those in each folder below it.
func split(blobs map[string]string) (files map[string]string, folders map[string]map[string]string) {
	files, folders = map[string]string{}, map[string]map[string]string{}
	for path, blob := range blobs {
		name, rest, isBelow := strings.Cut(path, "/")
		if !isBelow {
			files[name] = blob
			continue
		}
		if folders[name] == nil {
			folders[name] = map[string]string{}
		}
		folders[name][rest] = blob
	}
	return files, folders
}

// replaced returns entries with another one of its name; one without an id is none.
func replaced(entries []TreeEntry, next TreeEntry) []TreeEntry {
	entries = slices.DeleteFunc(entries, func(e TreeEntry) bool { return e.Name == next.Name })
	if next.OID == "" {
		return entries
	}
	return append(entries, next)
}
