package claudecode

import (
	"cmp"
	"path"
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxImports bounds how deep instructions import each other, as Claude Code does.
const maxImports = 5

// instructions reads what people tell agents, and the files that this imports. Each becomes a note: they are standing
// orders of a person, not something an agent has learnt.
type instructions struct {
	l       *layout
	project string
	to      foreign.Sink
	told    map[string]bool
}

func (in *instructions) read() error {
	for _, f := range in.l.instructions {
		if err := in.note(f, 0); err != nil {
			return err
		}
	}
	return nil
}

func (in *instructions) note(f foreign.File, depth int) error {
	if in.told[f.Name] {
		return nil
	}
	in.told[f.Name] = true
	b, err := f.Bytes(maxFile)
	if err != nil {
		in.to.Skip(f.Place(""), "%v", err)
		return nil
	}
	if strings.TrimSpace(string(b)) == "" {
		return nil
	}
	err = in.to.Note(foreign.Note{
		Place: f.Place(""), Name: in.nameOf(f), Content: string(b), UpdatedAt: f.ModifiedAt(),
	})
	if err != nil {
		return err
	}
	return in.imports(f, string(b), depth)
}

// nameOf returns the name of the note. Elements of it do not begin with a dot.
func (in *instructions) nameOf(f foreign.File) string {
	whose, rel := in.project, f.Name
	for home := range in.l.homes {
		if home == "" || strings.HasPrefix(f.Name, home+"/") {
			whose, rel = cmp.Or(in.project, "user"), strings.TrimPrefix(strings.TrimPrefix(f.Name, home), "/")
		}
	}
	if in.l.tree.Base() == ".claude" && len(in.l.homes) == 0 {
		rel = "claude/" + rel
	}
	parts := strings.Split(path.Join("instructions", whose, strings.TrimSuffix(rel, ".md")), "/")
	for i, p := range parts {
		parts[i] = strings.TrimLeft(p, ".")
	}
	return path.Join(parts...)
}

var importLine = pattern.Of(`(?:^|\s)@([^\s@]+)`)

// imports follows the lines "@path" of a file.
func (in *instructions) imports(f foreign.File, text string, depth int) error {
	for n, line := range prose(text) {
		for _, match := range importLine().FindAllStringSubmatch(line, -1) {
			target := strings.TrimRight(match[1], ".,;:)!?")
			at := f.Line(int64(n))
			if strings.HasPrefix(target, "~") || path.IsAbs(target) || strings.HasPrefix(path.Join(path.Dir(f.Name), target), "..") {
				in.to.Skip(at, "import of %.100q lies outside of what is imported", target)
				continue
			}
			file, ok := in.l.tree.File(path.Join(path.Dir(f.Name), target))
			switch {
			case !ok && strings.HasSuffix(target, ".md"):
				in.to.Skip(at, "import of %.100q: no such file", target)
			case ok && depth+1 > maxImports && !in.told[file.Name]:
				in.to.Skip(at, "import of %.100q is more than %d deep, the limit", target, maxImports)
			case ok:
				if err := in.note(file, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
