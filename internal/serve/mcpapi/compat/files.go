package compat

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/op"
)

// memory is the file-style memory tool: a folder /memories of notes, every change a commit. Words and errors are those its models were
// trained on.
var memory = op.NewTool(op.Tool{
	Op: op.NoteGet.Row, Name: "memory", Title: "Memory files", Hints: op.Destroys | op.Changing,
	Use: "A folder /memories of Markdown notes that lasts. View it before you begin; record progress as you go.",
}, fileCommand)

type fileArgs struct {
	Command    string  `json:"command" need:"yes" enum:"view create str_replace insert delete rename"`
	Path       string  `json:"path" doc:"as in /memories/progress.md"`
	ViewRange  []int64 `json:"view_range" doc:"first and last line, -1: the end"`
	FileText   *string `json:"file_text"`
	OldStr     *string `json:"old_str"`
	NewStr     string  `json:"new_str"`
	InsertLine *int64  `json:"insert_line" doc:"insert behind this line, 0: at the beginning"`
	InsertText *string `json:"insert_text"`
	OldPath    string  `json:"old_path"`
	NewPath    string  `json:"new_path"`
}

// replacing is what a caller needs whose answer reveals whether a text is there, and how many lines there are.
var replacing = &op.Row{Scope: op.NoteWrite.Scope, Kind: op.NoteWrite.Kind | op.Shows}

// Needs says that looking is reading and everything else writing.
func (in fileArgs) Needs() *op.Row {
	switch in.Command {
	case "view":
		return op.NoteGet.Row
	case "str_replace", "insert":
		return replacing
	}
	return op.NoteWrite.Row
}

type fileAnswer struct {
	Text string `json:"text"`
}

// fileCommand runs one command.
func fileCommand(ctx context.Context, c *op.Call, in fileArgs) (out fileAnswer, text string, err error) {
	f := folder{c.Store.Notes, c}
	if in.Command != "view" {
		unlock, err := alone(ctx, c)
		if err != nil {
			return out, "", err
		}
		defer unlock()
	}
	redactAll(c, &in.NewStr, in.FileText, in.InsertText)
	switch in.Command {
	case "view":
		text, err = f.view(ctx, in)
	case "create":
		text, c.Subject, err = f.create(ctx, in)
	case "str_replace":
		text, c.Subject, err = f.replace(ctx, in)
	case "insert":
		text, c.Subject, err = f.insert(ctx, in)
	case "delete":
		text, c.Subject, c.Did, err = f.remove(ctx, in)
	case "rename":
		text, c.Subject, c.Did, err = f.rename(ctx, in)
	default:
		err = op.BadArgs("command is missing")
	}
	return fileAnswer{text}, text, err
}

// folder shows notes as files below /memories.
type folder struct {
	notes amber.Notes
	c     *op.Call
}

// root is the folder every path begins with.
const root = "/memories"

// noteName returns the name of the note at a path, "" for the root itself. A
// path with and without .md names the same note. The error is of kind invalid.
func noteName(path string) (string, error) {
	if path == "" {
		return "", op.BadArgs("path is missing")
	}
	rest, ok := strings.CutPrefix(path, root)
	if !ok || rest != "" && rest[0] != '/' {
		return "", amber.Errorf(amber.KindInvalid, "check path", "", "%q is not in %s", clip.Marked(strings.ToValidUTF8(path, "?"), 100), root)
	}
	rest = strings.TrimSuffix(strings.TrimPrefix(rest, "/"), "/")
	if rest == "" {
		return "", nil
	}
	name, err := amber.CheckNoteName(rest)
	return names.Canonical(name), err
}

// fileName returns the path that a note is shown at. Names without an extension
// get the one their file has.
func fileName(note string) string {
	base := note[strings.LastIndexByte(note, '/')+1:]
	if !strings.Contains(base, ".") {
		note += ".md"
	}
	return root + "/" + note
}

// read returns a note. For a path without a note the error has the text
// missing.
func (f folder) read(ctx context.Context, path, missing string) (amber.Note, error) {
	name, err := noteName(path)
	if err != nil {
		return amber.Note{}, err
	}
	if name == "" {
		return amber.Note{}, op.Say(amber.KindNotFound, "read note", missing)
	}
	n, err := f.notes.ReadNote(ctx, name)
	if amber.KindOf(err) == amber.KindNotFound {
		return n, op.Say(amber.KindNotFound, "read note", missing)
	}
	return n, err
}

// below returns the notes in a folder, by name.
func (f folder) below(ctx context.Context, dir string) ([]amber.Note, error) {
	all, err := f.notes.ListNotes(ctx)
	if dir == "" || err != nil {
		return all, err
	}
	var out []amber.Note
	for _, n := range all {
		if strings.HasPrefix(names.Canonical(n.Name), dir+"/") {
			out = append(out, n)
		}
	}
	return out, nil
}

func (f folder) create(ctx context.Context, in fileArgs) (text, subject string, err error) {
	if in.FileText == nil {
		return "", "", op.BadArgs("file_text is missing")
	}
	name, err := noteName(in.Path)
	if err != nil {
		return "", "", err
	}
	if name == "" {
		return "", "", op.BadArgs("path is the folder itself")
	}
	if err := f.free(ctx, name, fmt.Sprintf("Error: File %s already exists", in.Path)); err != nil {
		return "", name, err
	}
	_, err = f.notes.WriteNote(ctx, amber.NoteWrite{Name: name, Content: *in.FileText})
	return "File created successfully at: " + in.Path, name, err
}

// free checks that neither a note nor a folder has a name.
func (f folder) free(ctx context.Context, name, taken string) error {
	_, err := f.notes.ReadNote(ctx, name)
	if err == nil {
		return op.Say(amber.KindConflict, "check path", taken)
	}
	if amber.KindOf(err) != amber.KindNotFound {
		return err
	}
	inside, err := f.below(ctx, name)
	if err == nil && len(inside) > 0 {
		err = op.Say(amber.KindConflict, "check path", taken)
	}
	return err
}

func (f folder) replace(ctx context.Context, in fileArgs) (text, subject string, err error) {
	n, err := f.read(ctx, in.Path, fmt.Sprintf("Error: The path %s does not exist. Please provide a valid path.", in.Path))
	if err != nil {
		return "", n.Name, err
	}
	if in.OldStr == nil || *in.OldStr == "" {
		return "", n.Name, op.BadArgs("old_str is missing")
	}
	old := *in.OldStr
	switch at := occurrences(n.Content, old); len(at) {
	case 0:
		return "", n.Name, op.Say(amber.KindInvalid, "edit note", fmt.Sprintf("No replacement was performed, old_str `%s` did not appear verbatim in %s.", clip.Marked(old, maxRepeated), in.Path))
	case 1:
	default:
		return "", n.Name, op.Say(amber.KindInvalid, "edit note", fmt.Sprintf("No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. Please ensure it is unique",
			clip.Marked(old, maxRepeated), lineNumbers(n.Content, at)))
	}
	at := strings.Index(n.Content, old)
	content := n.Content[:at] + in.NewStr + n.Content[at+len(old):]
	if _, err := f.notes.WriteNote(ctx, amber.NoteWrite{Name: n.Name, Content: content}); err != nil {
		return "", n.Name, err
	}
	return "The memory file has been edited.\n" + snippet(content, at, at+len(in.NewStr)), n.Name, nil
}

// occurrences returns where old begins, overlapping ones too.
func occurrences(s, old string) (at []int) {
	for from := 0; len(at) < 100; {
		i := strings.Index(s[from:], old)
		if i < 0 {
			break
		}
		at = append(at, from+i)
		_, size := utf8.DecodeRuneInString(s[from+i:])
		from += i + size
	}
	return at
}

func lineNumbers(s string, at []int) string {
	var out []string
	for _, i := range at {
		out = append(out, fmt.Sprint(strings.Count(s[:i], "\n")+1))
	}
	return strings.Join(out, ", ")
}

func (f folder) insert(ctx context.Context, in fileArgs) (text, subject string, err error) {
	n, err := f.read(ctx, in.Path, fmt.Sprintf("Error: The path %s does not exist", in.Path))
	if err != nil {
		return "", n.Name, err
	}
	if in.InsertLine == nil || in.InsertText == nil {
		return "", n.Name, op.BadArgs("insert_line and insert_text are required")
	}
	lines := linesOf(n.Content)
	if *in.InsertLine < 0 || *in.InsertLine > int64(len(lines)) {
		return "", n.Name, op.Say(amber.KindInvalid, "edit note", fmt.Sprintf(
			"Error: Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", *in.InsertLine, len(lines)))
	}
	before, after := lines[:*in.InsertLine], lines[*in.InsertLine:]
	added := strings.TrimSuffix(*in.InsertText, "\n")
	content := strings.Join(append(append(append([]string{}, before...), added), after...), "\n") + "\n"
	if _, err := f.notes.WriteNote(ctx, amber.NoteWrite{Name: n.Name, Content: content}); err != nil {
		return "", n.Name, err
	}
	return fmt.Sprintf("The file %s has been edited.", in.Path), n.Name, nil
}

// linesOf returns the lines of a text; the last one may lack its line break.
func linesOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// remove deletes a note, or a folder with everything in it.
func (f folder) remove(ctx context.Context, in fileArgs) (text, subject string, done []string, err error) {
	name, err := noteName(in.Path)
	if err != nil {
		return "", "", nil, err
	}
	if name == "" {
		return "", "", nil, amber.Errorf(amber.KindRefused, "delete note", "", "the root folder of notes cannot be deleted")
	}
	names, err := f.meant(ctx, name, fmt.Sprintf("Error: The path %s does not exist", in.Path))
	if err != nil {
		return "", name, nil, err
	}
	ctx, cancel := f.c.Host.Begun(ctx)
	defer cancel()
	done, err = f.removeAll(ctx, names)
	if err != nil {
		return "", name, done, err
	}
	return "Successfully deleted " + in.Path, name, done, nil
}

// removeAll deletes notes, and returns those that it did.
func (f folder) removeAll(ctx context.Context, names []string) (done []string, err error) {
	for _, n := range names {
		switch err := f.notes.DeleteNote(audited.About(ctx, n), n, amber.NoteBy{}); {
		case err == nil:
			done = append(done, n)
		case amber.KindOf(err) != amber.KindNotFound: // it is gone
			return done, err
		}
	}
	return done, nil
}

// meant returns the notes that a name means: one note, or those of a folder. Missing is the text of the error when
// there are none.
func (f folder) meant(ctx context.Context, name, missing string) ([]string, error) {
	_, err := f.notes.ReadNote(ctx, name)
	if err == nil {
		return []string{name}, nil
	}
	if amber.KindOf(err) != amber.KindNotFound {
		return nil, err
	}
	inside, err := f.below(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(inside) == 0 {
		return nil, op.Say(amber.KindNotFound, "find note", missing)
	}
	var names []string
	for _, n := range inside {
		names = append(names, n.Name)
	}
	return names, nil
}

// rename writes every note under its new name before it deletes one: an interruption loses nothing.
func (f folder) rename(ctx context.Context, in fileArgs) (text, subject string, done []string, err error) {
	from, err := noteName(in.OldPath)
	if err != nil {
		return "", "", nil, err
	}
	to, err := noteName(in.NewPath)
	if err != nil {
		return "", "", nil, err
	}
	if from == "" || to == "" || strings.HasPrefix(to, from+"/") {
		return "", "", nil, amber.Errorf(amber.KindInvalid, "rename note", "", "a folder cannot be moved into itself")
	}
	found, err := f.meant(ctx, from, fmt.Sprintf("Error: The path %s does not exist", in.OldPath))
	if err == nil {
		err = f.free(ctx, to, fmt.Sprintf("Error: The destination %s already exists", in.NewPath))
	}
	if err != nil {
		return "", from, nil, err
	}
	moved := make([]string, len(found))
	for i, name := range found {
		if moved[i], err = amber.CheckNoteName(to + strings.TrimPrefix(names.Canonical(name), from)); err != nil {
			return "", from, nil, err
		}
	}
	if done, err = f.move(ctx, found, moved); err != nil {
		return "", from, done, err
	}
	return fmt.Sprintf("Successfully renamed %s to %s", in.OldPath, in.NewPath), to, done, nil
}

// move writes notes under other names and deletes the old ones. It returns the
// new names that were written.
func (f folder) move(ctx context.Context, names, to []string) (done []string, err error) {
	ctx, cancel := f.c.Host.Begun(ctx)
	defer cancel()
	for i, name := range names {
		n, err := f.notes.ReadNote(ctx, name)
		if err == nil {
			_, err = f.notes.WriteNote(audited.About(ctx, to[i]), amber.NoteWrite{Name: to[i], Content: n.Content})
		}
		if err != nil {
			return done, err
		}
		done = append(done, to[i])
	}
	for _, name := range names {
		if err := f.notes.DeleteNote(ctx, name, amber.NoteBy{}); err != nil {
			return done, err
		}
	}
	return done, nil
}
