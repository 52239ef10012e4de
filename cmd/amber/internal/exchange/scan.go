package exchange

import (
	"fmt"
	"io"
	"os"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/wire"
)

// scan lists where files of known programs lie.
func (a *app) scan() error {
	home := a.Getenv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir() // "" finds what variables name
	}
	found := amber.Page[wire.Found]{Items: []wire.Found{}}
	for _, f := range formats.Read() {
		if f.Homes == nil {
			continue
		}
		for _, path := range f.Homes(a.Getenv, home) {
			if item, ok := lookAt(f, path); ok {
				found.Items = append(found.Items, item)
			}
		}
	}
	return a.Out.Show(found, func(w io.Writer) {
		for _, i := range found.Items {
			fmt.Fprintf(w, "%s  %s, %s, %s\n    %s\n", a.Out.Style(cli.Bold, i.Title), cli.Flat(i.Path), words.Count(i.Files, "file", "files"), bytesOf(i.Bytes),
				a.Out.Style(cli.Dim, cli.Flat(i.Command)))
		}
		if len(found.Items) == 0 {
			a.Out.Note("no files of a known program were found; amber import PATH takes any file or folder")
		}
	})
}

func lookAt(f foreign.Format, path string) (wire.Found, bool) {
	t, err := foreign.Open(path)
	if err != nil {
		return wire.Found{}, false
	}
	defer t.Close()
	if len(t.Files()) == 0 || f.Detect(t) == foreign.No {
		return wire.Found{}, false
	}
	return wire.Found{
		Format: f.Name, Title: f.Title, Path: path, Files: int64(len(t.Files())), Bytes: t.Bytes(), Command: command(f, t),
	}, true
}

// command returns the command that imports a tree of a format.
func command(f foreign.Format, t *foreign.Tree) string {
	if f.Read == nil && (f.Name != formats.Engram.Name || formats.IsEngramDatabase(t)) {
		return f.Next(t)
	}
	return fmt.Sprintf("amber import --from %s %s", f.Name, formats.Quoted(t.Path()))
}
