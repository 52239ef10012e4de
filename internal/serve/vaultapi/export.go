package vaultapi

import (
	"archive/zip"
	"context"
	"io"
	"net/http"

	"github.com/amber-memory/amber"
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
