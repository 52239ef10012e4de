package mem0

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxFields bounds the lines of the head of a block.
const maxFields = 50

// exportName is the name of a file, with its project.
var exportName = pattern.Of(`^mem0-export-(.+)-\d{4}-\d{2}-\d{2}$`)

// isMarkdown reports whether a file begins with a block.
func isMarkdown(f foreign.File) bool {
	lines := strings.Split(strings.ReplaceAll(string(f.Head(headBytes)), "\r\n", "\n"), "\n")
	return len(lines) > 3 && lines[0] == "---" && strings.HasPrefix(lines[1], "id:") && strings.HasPrefix(lines[2], "created_at:")
}

// block is one memory of a file.
type block struct {
	line   int
	fields map[string]string
	text   string
}

// blocks returns the blocks of a file. A line "---" within a text begins a block only if an id follows.
func (r *reader) blocks(f foreign.File, skip foreign.SkipFunc) (out []block) {
	b, err := f.Bytes(foreign.MaxItemBytes)
	if err != nil {
		skip(f.Place(""), "%v", err)
		return nil
	}
	lines := strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	begins := func(i int) bool { return lines[i] == "---" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "id:") }
	for i := 0; i < len(lines); {
		end := i + 1
		for end < len(lines) && !begins(end) {
			end++
		}
		place := f.Line(int64(i + 1))
		if !begins(i) {
			if text := strings.TrimSpace(strings.Join(lines[i:end], "\n")); text != "" {
				skip(place, "text %.60q is in no block", text)
			}
		} else if fields, text, ok := parseBlock(lines[i+1 : end]); ok {
			out = append(out, block{i + 1, fields, text})
		} else {
			skip(place, "head of the block has no end: want a line --- after at most %d lines", maxFields)
		}
		i = end
	}
	return out
}

func parseBlock(lines []string) (fields map[string]string, text string, ok bool) {
	fields = map[string]string{}
	for i, line := range lines {
		if line == "---" {
			return fields, strings.TrimSpace(strings.Join(lines[i+1:], "\n")), true
		}
		if i == maxFields {
			break
		}
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return nil, "", false
}

func (r *reader) readMarkdown(f foreign.File) error {
	project := r.o.Project
	if found := exportName().FindStringSubmatch(f.Stem()); found != nil && project == "" {
		project = found[1]
	}
	for _, b := range r.blocks(f, r.to.Skip) {
		m, err := b.memory()
		m.Place = f.Line(int64(b.line))
		if err != nil {
			r.to.Skip(m.Place, "%v", err)
			continue
		}
		m.Identities = amber.Identities{UserID: r.o.User, ProjectID: project}
		m.Scope = scopeOf(m.Identities)
		if err := r.memory(f, m); err != nil {
			return err
		}
	}
	return nil
}

// memory returns the memory of a block. The error says why there is none.
func (b block) memory() (m foreign.Memory, err error) {
	if b.text == "" {
		return m, fmt.Errorf("block has no text")
	}
	m = foreign.Memory{Key: keyOf(b.fields["id"], b.text), Content: b.text, Tags: words(b.fields["categories"]), Metadata: map[string]string{}}
	if s := b.fields["created_at"]; s != "" {
		if m.CreatedAt, err = foreign.Text(s); err != nil {
			return m, fmt.Errorf("created_at: %w", err)
		}
	}
	for _, file := range words(b.fields["files"]) {
		m.SourceRefs = append(m.SourceRefs, amber.SourceRef{Kind: "file", Value: file})
	}
	for k, v := range b.fields {
		if v != "" && k != "id" && k != "created_at" && k != "files" && k != "categories" {
			m.Metadata[k] = v
		}
	}
	m.Kind = kindOf(m)
	return m, nil
}

// words cuts a list at its commas.
func words(s string) (out []string) {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
