package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/foreign/nexus"
)

func (a *app) journalImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE|FOLDER|-",
		Short: "Import the crash buffer of nexus-memory-hooks",
		Long: `Append what a buffer file of nexus-memory-hooks holds, usually
~/.local/share/nexus/buffer/AGENT.json. The file is only read. Of a file that is cut
off or damaged every whole entry is imported. Of a folder every file that ends in .json is
imported, in the order of names, but no folder in it; files that are not such a buffer
are skipped and listed.

Importing a file again, or a longer version of it, adds only what is new once it is
drained.`,
		Example: `  amber journal import ~/.local/share/nexus/buffer/claude-code.json
  amber journal import ~/.local/share/nexus/buffer`,
		Args: exactly("a file, a folder, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir, ok := a.folder(args[0]); ok {
				return a.importFolder(cmd.Context(), dir)
			}
			in, err := a.input(args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			j, err := a.openJournal()
			if err != nil {
				return err
			}
			loaded, err := a.loadConfig()
			if err != nil {
				return err
			}
			report, err := working(a, "importing", func() (nexus.Report, error) {
				return nexus.Import(cmd.Context(), j, in, nexus.Options{Clock: a.clock, Redact: loaded.Config.Redactor()})
			})
			if err != nil {
				return err
			}
			return a.out.show(report, func(w io.Writer) { printImport(w, report) })
		},
	}
}

// input opens a file of the command line, or stdin for "-".
func (a *app) input(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.in()), nil
	}
	path, err := a.absolute(name)
	if err != nil {
		return nil, err
	}
	f, err := patiently(a.untilStopped(), "open file", func() (*os.File, error) { return os.Open(path) })
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && info.IsDir() {
			err = amber.Errorf(amber.KindInvalid, "open file", path, "the path is a folder, want a file")
		}
		if err != nil {
			f.Close()
		}
	}
	var known *amber.Error
	switch {
	case err == nil:
		return interruptibleFile{newInterruptible(a.untilStopped(), f, "read file"), f}, nil
	case errors.As(err, &known):
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, amber.Errorf(amber.KindNotFound, "open file", path, "the file does not exist")
	case errors.Is(err, fs.ErrPermission):
		return nil, &amber.Error{Op: "open file", Kind: amber.KindRefused, ID: path, Err: err}
	}
	return nil, &amber.Error{Op: "open file", Kind: amber.KindInternal, ID: path, Err: err}
}

func printImport(w io.Writer, r nexus.Report) {
	fmt.Fprintf(w, "%d events from %d of %d entries, in %d sessions\n", r.Events, r.Salvaged, r.Entries, len(r.Sessions))
	if r.Truncated {
		fmt.Fprintln(w, "the file was cut off or is damaged at its end")
	}
	if r.Partial > 0 {
		fmt.Fprintf(w, "%d torn or damaged entries gave what came before\n", r.Partial)
	}
	if r.BytesUnread > 0 {
		fmt.Fprintf(w, "%d bytes could not be read\n", r.BytesUnread)
	}
	if r.BytesCut > 0 {
		fmt.Fprintf(w, "%d bytes of entries that are too long were left out\n", r.BytesCut)
	}
}
