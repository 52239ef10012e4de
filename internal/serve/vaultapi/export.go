package vaultapi

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/share/colony"
)

// export sends the files whose names begin with the prefix as a zip archive, as it reads them. A failure on the way
// cuts the answer off: the caller never takes half an archive for a whole one.
func (h *Handler) export(ctx context.Context, c *call) (answer, error) {
	prefix, err := c.prefix()
	if err != nil {
		return answer{}, err
	}
	files, err := c.store.List(ctx, prefix)
	if err != nil {
		return answer{}, err
	}
	header := c.w.Header()
	header.Set("Content-Type", "application/zip")
	header.Set("Content-Disposition", `attachment; filename="vault.zip"`)
	header.Set("Cache-Control", "no-store")
	still := func() error { _, err := h.caller(c.Request); return err }
	if err := archive(ctx, c.w, c.store, files, still); err != nil {
		h.o.Log.ErrorContext(ctx, "vault export was cut off", "error", err, "request_id", c.Header.Get(requestIDHeader))
		panic(http.ErrAbortHandler)
	}
	return answer{}, nil
}

// archive writes files into a zip archive. It leaves out a file that was deleted since the listing. Where the entry
// of a file cannot have the name of the file, the comment of the entry has it. Still says before each file whether
// the caller may have it: a token may be revoked meanwhile.
func archive(ctx context.Context, w io.Writer, store Store, files []colony.FileInfo, still func() error) error {
	z := zip.NewWriter(w)
	all := make([]string, len(files))
	for i, f := range files {
		all[i] = f.Name
	}
	for i, name := range entryNames(all) {
		if err := still(); err != nil {
			return err
		}
		f, err := store.Get(ctx, all[i])
		if amber.KindOf(err) == amber.KindNotFound {
			continue
		}
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: f.UpdatedAt.Time()}
		if name != f.Name {
			header.Comment = "in the vault: " + f.Name
		}
		entry, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(entry, f.Content); err != nil {
			return err
		}
	}
	return z.Close()
}

// entryNames are the names of files inside of an archive. A user who unpacks it, on any system, finds each of them
// below the folder of the archive. A number distinguishes names that would be one there, such as names that differ
// in case only, and names of files that are also folders.
func entryNames(all []string) []string {
	safe := make([]string, len(all))
	taken := map[string]bool{} // folded
	for i, name := range all {
		safe[i] = safeName(name)
		for dir := path.Dir(safe[i]); dir != "."; dir = path.Dir(dir) {
			taken[fold(dir)] = true
		}
	}
	for i, name := range safe {
		ext := path.Ext(name)
		for n := 2; taken[fold(safe[i])]; n++ {
			safe[i] = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
		}
		taken[fold(safe[i])] = true
	}
	return safe
}

// fold makes names one that are one where case means nothing.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// safeName is a name without what some system takes for something else.
func safeName(name string) string {
	clean := path.Clean("/" + strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name))[1:]
	elements := strings.Split(clean, "/")
	for i, e := range elements {
		elements[i] = safeElement(e)
	}
	return strings.Join(elements, "/")
}

// safeElement is a part of a name. Windows leaves out dots and spaces at its end.
func safeElement(e string) string {
	if trimmed := strings.TrimRight(e, ". "); trimmed != e || e == "" {
		e = trimmed + strings.Repeat("_", max(len(e)-len(trimmed), 1))
	}
	if names.IsDevice(e) {
		e = "_" + e
	}
	return e
}
