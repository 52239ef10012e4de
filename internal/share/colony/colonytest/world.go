package colonytest

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
)

// world is the vault as one check sees it.
type world struct {
	ctx context.Context
	b   colony.Backend
	c   colony.ConditionalBackend // nil when the vault has no conditions
}

// put writes a file.
func (w *world) put(name, content string) colony.FileInfo {
	info := must(w.b.Put(w.ctx, name, content))
	w.tells(info, name, content)
	return info
}

// tells ends the check unless info is true of the file.
func (w *world) tells(info colony.FileInfo, name, content string) {
	hold(info.Name == name, "the name of %q is %q", short(name), short(info.Name))
	hold(info.Size == int64(len(content)) || info.Size == -1,
		"the size of %q is %d, want %d or -1", short(name), info.Size, len(content))
}

// holds ends the check unless the file holds content.
func (w *world) holds(name, content string) colony.File {
	f := must(w.b.Get(w.ctx, name))
	w.tells(f.FileInfo, name, content)
	hold(f.Content == content, "%q holds %q, want %q", short(name), short(f.Content), short(content))
	return f
}

// missing ends the check unless there is no such file.
func (w *world) missing(name string) {
	_, err := w.b.Get(w.ctx, name)
	refused(err, amber.KindNotFound, "get of %q", short(name))
}

// list returns the names that begin with prefix, in the order they come. A
// vault may list others, too.
func (w *world) list(prefix string) (names []string) {
	for _, f := range must(w.b.List(w.ctx, prefix)) {
		if strings.HasPrefix(f.Name, prefix) {
			names = append(names, f.Name)
		}
	}
	return names
}

// short cuts a text for a message.
func short(s string) string {
	if len(s) <= 60 {
		return s
	}
	return s[:40] + "…" + s[len(s)-10:]
}
