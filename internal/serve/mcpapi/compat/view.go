package compat

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// viewBytes bounds the text of a view; view_range reads the rest.
const viewBytes = 32 << 10

// view shows a note with line numbers, or what a folder holds.
func (f folder) view(ctx context.Context, in fileArgs) (string, error) {
	name, err := noteName(in.Path)
	if err != nil {
		return "", err
	}
	if name != "" {
		switch n, err := f.notes.ReadNote(ctx, name); amber.KindOf(err) {
		case "":
			return viewNote(in.Path, n.Content, in.ViewRange)
		case amber.KindNotFound:
		default:
			return "", err
		}
	}
	inside, err := f.below(ctx, name)
	if err != nil {
		return "", err
	}
	if name != "" && len(inside) == 0 {
		return "", op.Say(amber.KindNotFound, "view note", fmt.Sprintf("The path %s does not exist. Please provide a valid path.", in.Path))
	}
	return viewFolder(strings.TrimSuffix(in.Path, "/"), name, inside), nil
}

// maxLines is how many lines a file may have, in the contract of the tool.
const maxLines = 999_999

func viewNote(path, content string, span []int64) (string, error) {
	lines := linesOf(content)
	if len(lines) > maxLines {
		return "", op.Say(amber.KindInvalid, "view note", fmt.Sprintf("File %s exceeds maximum line limit of 999,999 lines.", path))
	}
	first, last, err := lineSpan(span, len(lines))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Here's the content of %s with line numbers:", path)
	for i := first; i <= last; i++ {
		if b.Len()+len(lines[i-1]) > viewBytes && i > first {
			fmt.Fprintf(&b, "\n[cut: call again with view_range [%d, -1]]", i)
			break
		}
		fmt.Fprintf(&b, "\n%6d\t%s", i, clip.Marked(lines[i-1], viewBytes))
	}
	return b.String(), nil
}

// lineSpan returns the first and the last line to show, of n.
func lineSpan(span []int64, n int) (first, last int, err error) {
	switch {
	case len(span) == 0:
		return 1, n, nil
	case len(span) != 2 || span[0] < 1 || span[1] != -1 && span[1] < span[0]:
		return 0, 0, op.BadArgs("view_range is the first and the last line, as in [1, 10] or [11, -1]")
	case span[0] > int64(n):
		return 0, 0, op.BadArgs("view_range begins at line %d, there are %d", span[0], n)
	case span[1] == -1:
		return int(span[0]), n, nil
	}
	return int(span[0]), int(min(span[1], int64(n))), nil
}

// viewFolder lists what is in a folder, two levels deep, folders with what they
// hold in all.
func viewFolder(path, dir string, notes []amber.Note) string {
	sizes, total := map[string]int64{}, int64(0)
	for _, n := range notes {
		total += n.Bytes
		elems := strings.Split(strings.TrimPrefix(strings.TrimPrefix(n.Name, dir), "/"), "/")
		for i := 1; i <= min(2, len(elems)); i++ {
			entry := root + "/" + strings.TrimPrefix(dir+"/"+strings.Join(elems[:i], "/"), "/")
			if i == len(elems) {
				entry = fileName(n.Name)
			}
			sizes[entry] += n.Bytes
		}
	}
	names := slices.Sorted(maps.Keys(sizes))
	var b strings.Builder
	fmt.Fprintf(&b, "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:", path)
	fmt.Fprintf(&b, "\n%s\t%s", human(total), path)
	for i, name := range names {
		if b.Len() > viewBytes {
			fmt.Fprintf(&b, "\n[cut: %d more; view a folder inside]", len(names)-i)
			break
		}
		fmt.Fprintf(&b, "\n%s\t%s", human(sizes[name]), name)
	}
	return b.String()
}

// human writes a size as du does.
func human(n int64) string {
	switch {
	case n < 1024:
		return fmt.Sprintf("%dB", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1fK", float64(n)/1024)
	}
	return fmt.Sprintf("%.1fM", float64(n)/(1<<20))
}

// snippet shows the lines from byte start to byte end, and two around them.
func snippet(content string, start, end int) string {
	lines := linesOf(content)
	first := max(1, strings.Count(content[:start], "\n")+1-2)
	last := min(len(lines), strings.Count(content[:end], "\n")+1+2)
	var b strings.Builder
	for i := first; i <= last && b.Len() < shown.PageBytes; i++ {
		fmt.Fprintf(&b, "%6d\t%s\n", i, clip.Marked(lines[i-1], shown.PageBytes))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
