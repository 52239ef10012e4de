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
	"github.com/amber-memory/amber/colony"
)

// export sends the files whose names begin with the prefix as a zip archive, as
// they are read. What fails on the way cuts the answer off: half an archive is
// never taken for a whole one.
func (h *Handler) export(ctx context.Context, c *call) (answer, []string, error) {
	prefix, err := c.prefix()
	if err != nil {
		return answer{}, nil, err
	}
	files, err := c.store.List(ctx, prefix)
	if err != nil {
		return answer{}, nil, err
	}
	header := c.w.Header()
	header.Set("Content-Type", "application/zip")
	header.Set("Content-Disposition", `attachment; filename="vault.zip"`)
	header.Set("Cache-Control", "no-store")
	if err := archive(ctx, c.w, c.store, files); err != nil {
		h.o.Log.ErrorContext(ctx, "vault export was cut off", "error", err, "request_id", c.Header.Get(requestIDHeader))
		panic(http.ErrAbortHandler)
	}
	return answer{}, nil, nil
}

// archive writes files into a zip archive. One that was deleted since it was
// listed is left out.
func archive(ctx context.Context, w io.Writer, store Store, files []colony.FileInfo) error {
	z := zip.NewWriter(w)
	taken := map[string]bool{}
	for _, info := range files {
		f, err := store.Get(ctx, info.Name)
		if amber.KindOf(err) == amber.KindNotFound {
			continue
		}
		if err != nil {
			return err
		}
		entry, err := z.CreateHeader(&zip.FileHeader{Name: entryName(f.Name, taken), Method: zip.Deflate, Modified: f.UpdatedAt.Time()})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(entry, f.Content); err != nil {
			return err
		}
	}
	return z.Close()
}

// entryName is the name of a file inside of an archive: whoever unpacks it, on
// whatever system, finds it below the folder it is unpacked to. Names that would
// be one there, whatever their case, are told apart by a number.
func entryName(name string, taken map[string]bool) string {
	safe := path.Clean("/" + strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name))[1:]
	if safe == "" {
		safe = "_"
	}
	unique := safe
	for n := 2; taken[strings.ToLower(unique)]; n++ {
		ext := path.Ext(safe)
		unique = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(safe, ext), n, ext)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}
