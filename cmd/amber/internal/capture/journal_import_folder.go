package capture

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/share/foreign/nexus"
)

// importedFile is one file of a folder of buffers.
type importedFile struct {
	File string `json:"file"`
	nexus.Report
	Error string     `json:"error,omitempty"` // why no more of it was taken
	Kind  amber.Kind `json:"kind,omitempty"`
}

// importedFolder is the JSON of journal import for a folder.
type importedFolder struct {
	Files   []importedFile `json:"files"`
	Skipped []importedFile `json:"skipped"` // not buffers of nexus-memory-hooks
	Entries int            `json:"entries"`
	Events  int            `json:"events"`
}

// maxBufferFiles bounds a folder of buffers: there is one for each agent.
const maxBufferFiles = 10_000

// folder returns the absolute path of an argument that is a folder.
func (a *app) folder(name string) (dir string, ok bool) {
	if name == "-" {
		return "", false
	}
	dir, err := a.Absolute(name)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// importFolder imports every buffer of a folder. A buffer that cannot be read never keeps another from being
// imported.
func (a *app) importFolder(ctx context.Context, dir, project string) error {
	names, err := bufferFiles(dir)
	if err != nil {
		return err
	}
	j, err := a.openJournal()
	if err != nil {
		return err
	}
	report := importedFolder{Files: []importedFile{}, Skipped: []importedFile{}}
	loaded, err := a.LoadConfig()
	if err != nil {
		return err
	}
	o := nexus.Options{Clock: a.Clock, Redact: loaded.Config.Redactor(), Project: project}
	failed, err := cli.Working(a.App, "importing", func() (error, error) { return a.importBuffers(ctx, j, dir, names, o, &report) })
	if err != nil {
		return err
	}
	if len(report.Files) == 0 {
		return amber.Errorf(amber.KindNotFound, "import folder", dir, "the folder has %d files that end in .json, want at least one buffer of nexus-memory-hooks", len(names)).
			WithHint("amber journal import FILE")
	}
	if err := a.Out.Show(report, func(w io.Writer) { a.printImportedFolder(w, report) }); err != nil {
		return err
	}
	return failed
}

// importBuffers imports files one by one. Failed is the verdict about what was
// not imported whole.
func (a *app) importBuffers(ctx context.Context, j *journal.Journal, dir string, names []string, o nexus.Options, report *importedFolder) (failed, err error) {
	for i, name := range names {
		a.Meter.Set(name, int64(i), int64(len(names)))
		f := importedFile{File: name}
		f.Report, err = a.importFile(ctx, j, filepath.Join(dir, name), o)
		switch {
		case ctx.Err() != nil:
			return nil, cli.Interruption("import")
		case err == nil:
			report.Files = append(report.Files, f)
		case amber.KindOf(err) == amber.KindInvalid && f.Events == 0:
			f.Error, f.Kind = err.Error(), amber.KindOf(err)
			report.Skipped = append(report.Skipped, f)
		default:
			f.Error, f.Kind = err.Error(), amber.KindOf(err)
			report.Files = append(report.Files, f)
			if failed == nil {
				failed = cli.Reported(f.Kind)
			}
		}
		report.Entries += f.Entries
		report.Events += f.Events
	}
	return failed, nil
}

// bufferFiles lists what may be a buffer: regular files that end in .json, by
// name. Links are not followed.
func bufferFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &amber.Error{Op: "read folder", Kind: amber.KindRefused, ID: dir, Err: err}
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxBufferFiles {
		return nil, amber.Errorf(amber.KindInvalid, "read folder", dir, "%d files end in .json, the limit is %d", len(names), maxBufferFiles)
	}
	return names, nil
}

func (a *app) importFile(ctx context.Context, j *journal.Journal, path string, o nexus.Options) (nexus.Report, error) {
	in, err := a.Input(path)
	if err != nil {
		return nexus.Report{}, err
	}
	defer in.Close()
	return nexus.Import(ctx, j, in, o)
}

func (a *app) printImportedFolder(w io.Writer, r importedFolder) {
	for _, f := range r.Files {
		fmt.Fprintf(w, "%s: ", cli.Flat(f.File))
		printImport(w, f.Report)
		if f.Error != "" {
			a.Out.Note("%s: %s", cli.Flat(f.File), cli.OneLine(f.Error, 400))
		}
	}
	for _, f := range r.Skipped {
		a.Out.Note("%s was passed over: %s", cli.Flat(f.File), cli.OneLine(f.Error, 400))
	}
}
