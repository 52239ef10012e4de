package exchange

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/wire"
)

// importThere sends a path to the server and imports it there.
func (a *app) importThere(ctx context.Context, path string, f importFlags, o transfer.Options) (wire.ForeignImport, error) {
	none := wire.ForeignImport{}
	t, err := foreign.Open(path)
	if err != nil {
		return none, err
	}
	defer t.Close()
	if err := refuseElsewhere(t, f.from); err != nil {
		return none, err
	}
	s, err := t.Send(ctx)
	if err != nil {
		return none, err
	}
	defer s.Close()
	r, err := cli.Working(a.App, "importing", func() (wire.ForeignImport, error) {
		return a.Remote.Agent.Import(ctx, a.metered(s), client.ImportOptions{
			From: f.from, Name: s.Name, Size: s.Size, Modified: amber.At(s.Modified), Project: o.Project, User: o.User, AsOwn: o.AsOwn, DryRun: o.DryRun,
			Since: o.Since, Only: f.only, Observations: o.Observations, Sensitive: o.Sensitive,
		})
	})
	if err != nil {
		return none, err
	}
	r.Path = t.Source()
	return a.completed(r, s), nil
}

// refuseElsewhere refuses what a server would refuse once all of it was sent: files of a format with an importer of its own, which
// needs the home of the agent.
func refuseElsewhere(t *foreign.Tree, from string) error {
	format, err := choose(t, from)
	if err != nil || format.Read != nil {
		return nil // the server may know more formats
	}
	return amber.Errorf(amber.KindUnsupported, "import", t.Path(), "holds data of %s, which a server does not import", format.Title).
		WithHint("on the machine of the server: " + format.Next(t))
}

// completed adds what stayed on this machine to a report.
func (a *app) completed(r wire.ForeignImport, s *foreign.Sending) wire.ForeignImport {
	if r.Skips == nil {
		a.Out.Note("the token may not read: the server does not tell what was imported")
		r.Samples, r.Skips, r.ConflictList, r.Warnings = []string{}, []wire.ImportSkip{}, []wire.ImportConflict{}, []string{}
	}
	_ = s.Close() // all of it was read, or the server did not want the rest
	for _, stayed := range s.Skipped() {
		r.Skipped++
		if len(r.Skips) < wire.MaxImportSkips {
			r.Skips = append(r.Skips, wire.ImportSkip{Place: stayed.Place.String(), Reason: stayed.Reason})
		}
	}
	return r
}

// metered shows how much of a stream was sent.
func (a *app) metered(s *foreign.Sending) io.Reader { return &metered{a: a, s: s} }

type metered struct {
	a *app
	s *foreign.Sending
	n int64
}

// Read implements [io.Reader].
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.s.Read(p)
	m.n += int64(n)
	m.a.Meter.Set("bytes", m.n, m.s.Size)
	return n, err
}

// exportThere gets an export from the server.
func (a *app) exportThere(ctx context.Context, format foreign.Format, f exportFlags) error {
	o := client.ExportOptions{To: format.Name, Project: f.project, Users: f.users, AllUsers: f.allUsers, Private: f.private}
	return a.export(f, format.Folder, func(to foreign.Output) (wire.ForeignExport, error) {
		var told wire.ForeignExport
		// The answer of the server takes the place of what the format would write, so that the output is
		// completed or removed as any other.
		format.Write = func(ctx context.Context, _ foreign.Contents, _ foreign.WriteOptions, to foreign.Output) (err error) {
			fetch := a.fetchFile
			if format.Folder {
				fetch = a.fetchFolder
			}
			told, err = fetch(ctx, o, to)
			return err
		}
		r, err := transfer.Export(ctx, amber.Store{}, format, transfer.ExportOptions{Clock: a.Clock}, to)
		if err == nil && told.Format == "" {
			a.Out.Note("the server did not tell how much was exported")
		}
		told.Format, told.Path = r.Format, r.Path
		return told, err
	})
}

func (a *app) fetchFile(ctx context.Context, o client.ExportOptions, to foreign.Output) (wire.ForeignExport, error) {
	w, err := to.Create("")
	if err != nil {
		return wire.ForeignExport{}, err
	}
	r, err := a.Remote.Agent.Export(ctx, w, o)
	return r, errors.Join(err, w.Close())
}

// fetchFolder gets a zip file and writes its files to the output.
func (a *app) fetchFolder(ctx context.Context, o client.ExportOptions, to foreign.Output) (r wire.ForeignExport, err error) {
	f, err := os.CreateTemp("", "amber-export-*")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	r, err = a.Remote.Agent.Export(ctx, f, o)
	if err = errors.Join(err, f.Close()); err != nil {
		return r, err
	}
	t, err := foreign.Open(f.Name())
	if err != nil {
		return r, err
	}
	defer t.Close()
	for _, s := range t.Skipped() {
		return r, amber.Errorf(amber.KindDamaged, "export", s.Place.File, "file of the server's zip file %s", s.Reason)
	}
	for _, file := range t.Files() {
		if err := unpack(file, to); err != nil {
			return r, err
		}
	}
	return r, nil
}

func unpack(file foreign.File, to foreign.Output) error {
	in, err := file.Raw()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.Create(file.Name)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		return err // the file stays unfinished, under no name
	}
	return out.Close()
}
