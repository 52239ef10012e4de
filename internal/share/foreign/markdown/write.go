package markdown

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// write writes a file for each memory and each note.
func write(ctx context.Context, c foreign.Contents, _ foreign.WriteOptions, to foreign.Output) error {
	links, err := permalinks(ctx, c)
	if err != nil {
		return err
	}
	relations := map[amber.MemoryID][]amber.Relation{}
	err = c.Relations(ctx, func(r amber.Relation) error {
		if links[r.From] != "" && links[r.To] != "" {
			relations[r.From] = append(relations[r.From], r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.Memories(ctx, func(m amber.Memory) error {
		return foreign.WriteText(to, links[m.ID]+".md", memoryFile(m, links, relations[m.ID]))
	})
	if err != nil {
		return err
	}
	used := map[string]bool{}
	return c.Notes(ctx, func(n amber.Note) error {
		return foreign.WriteText(to, "notes/"+n.Name+".md", noteFile(n, noteLink(n.Name, used)))
	})
}

// permalinks names the file of each memory: after its title, and the end of its id, which is chance.
func permalinks(ctx context.Context, c foreign.Contents) (map[amber.MemoryID]string, error) {
	out, used := map[amber.MemoryID]string{}, map[string]bool{}
	err := c.Memories(ctx, func(m amber.Memory) error {
		id := string(m.ID)
		name := "memories/" + strings.TrimLeft(foreign.ShortSlug(foreign.TitleOf(m))+"-"+id[strings.LastIndexByte(id, '-')+1:], "-")
		if used[name] {
			name = "memories/" + id
		}
		used[name], out[m.ID] = true, name
		return nil
	})
	return out, err
}

// maxHeadValue keeps a head below what readers take.
const maxHeadValue = 24 << 10

func memoryFile(m amber.Memory, links map[amber.MemoryID]string, relations []amber.Relation) string {
	h := head{}
	h.add("title", foreign.TitleOf(m))
	h.add("type", "memory")
	h.add("permalink", links[m.ID])
	h.list("tags", m.Tags)
	h.time("created", m.CreatedAt)
	h.time("modified", m.UpdatedAt)
	h.add("amber_id", string(m.ID))
	h.add("amber_kind", string(m.Kind))
	h.add("amber_scope", string(m.Scope))
	h.add("amber_project", m.ProjectID)
	h.add("amber_user", m.UserID)
	h.add("amber_workspace", m.WorkspaceID)
	h.add("amber_session", string(m.SessionID))
	h.add("amber_topic", m.Topic)
	if summary := quote(m.Summary); len(summary) <= maxHeadValue {
		h.add("amber_summary", m.Summary)
	}
	if m.Title == "" {
		h.add("amber_untitled", "true")
	}
	return "---\n" + h.String() + "---\n\n" + body(escape(m.Content), links, relations)
}

// body returns the text of a memory with its relations behind it. Where the text ends in code or HTML that is never
// closed, relations behind it would be part of that, so they come first.
func body(text string, links map[amber.MemoryID]string, relations []amber.Relation) string {
	if len(relations) == 0 {
		return text + "\n"
	}
	var list strings.Builder
	list.WriteString(relationsHeading + "\n\n")
	for _, r := range relations {
		list.WriteString(relationLine(r, links[r.To]))
	}
	if whole := text + "\n\n" + list.String(); len(parse(strings.TrimLeftFunc(whole, isSpace)).relations()) > 0 {
		return whole
	}
	return list.String() + "\n" + textHeading + "\n\n" + text + "\n"
}

// word is a type of a relation that needs no quotes.
var word = pattern.Of(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func relationLine(r amber.Relation, target string) string {
	typ := r.Type
	if !word().MatchString(typ) {
		typ = `"` + strings.Map(func(r rune) rune {
			if strings.ContainsRune("[]\\\"`", r) {
				return '_'
			}
			return r
		}, typ) + `"`
	}
	if r.Strength != 1 {
		return fmt.Sprintf("- %s [[%s]] (strength %g)\n", typ, target, r.Strength)
	}
	return fmt.Sprintf("- %s [[%s]]\n", typ, target)
}

// noteLink names a note that no other note is named.
func noteLink(name string, used map[string]bool) string {
	link := "notes"
	for part := range strings.SplitSeq(name, "/") {
		link += "/" + cmp.Or(foreign.Slug(part), "note")
	}
	if used[link] {
		link += "-" + amber.ContentDigest(name)[:12]
	}
	used[link] = true
	return link
}

// noteFile returns a note with a head that says which one it is. A head that the note has is kept. It names title, type and
// permalink, too: the program would rewrite a file that lacks one of them.
func noteFile(n amber.Note, link string) string {
	wanted := []struct{ name, value string }{{"title", path.Base(n.Name)}, {"type", "note"}, {"permalink", link}}
	if rest, ok := strings.CutPrefix(n.Content, "---\n"); ok {
		own, _, _ := foreign.SplitFront([]byte(n.Content))
		marks := head{}
		for _, w := range wanted {
			if own[w.name] == nil {
				marks.add(w.name, w.value)
			}
		}
		marks.add("amber_front", n.Name)
		marks.add("amber_digest", amber.ContentDigest(n.Content))
		marked := "---\n" + marks.String() + rest
		if front, _, err := foreign.SplitFront([]byte(marked)); err == nil && front.Text("amber_front") == n.Name {
			return marked
		}
	}
	h := head{}
	h.add("amber_note", n.Name)
	h.add("amber_digest", amber.ContentDigest(n.Content))
	for _, w := range wanted {
		h.add(w.name, w.value)
	}
	h.time("modified", n.UpdatedAt)
	return "---\n" + h.String() + "---\n" + n.Content
}

// head is the YAML at the head of a file.
type head struct{ strings.Builder }

func (h *head) add(name, value string) {
	if value != "" {
		fmt.Fprintf(h, "%s: %s\n", name, quote(value))
	}
}

func (h *head) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(h, "%s:\n", name)
	for _, v := range values {
		fmt.Fprintf(h, "- %s\n", quote(v))
	}
}

func (h *head) time(name string, t amber.Time) {
	if !t.IsZero() {
		h.add(name, t.Time().Format("2006-01-02T15:04:05.000-07:00"))
	}
}

// quote writes a text as YAML has it between double quotes. Characters that are not printable are written as numbers.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
