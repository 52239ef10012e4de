package httpapi

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/foreign"
	"github.com/amber-memory/amber/foreign/formats"
	"github.com/amber-memory/amber/foreign/transfer"
	"github.com/amber-memory/amber/internal/redact"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

const importPath = agentPath + "/imports"

// importUpload asks to take in what another program remembers.
type importUpload struct {
	From         string     `query:"from" doc:"the format; default: found out from the file"`
	Name         string     `query:"name" doc:"the name of the file or folder, which helps to find out the format; reports show it"`
	Modified     amber.Time `query:"modified" doc:"when the file was last changed: the time of what has none of its own"`
	DryRun       bool       `query:"dry_run" doc:"tell what would be imported, and write nothing"`
	Project      string     `query:"project" doc:"the project of everything that is imported; default: what the file says"`
	User         string     `query:"user" doc:"the user whom memories about the user belong to; without one they are skipped"`
	AsOwn        bool       `query:"as_own" doc:"the file is the caller's own: what it says has the trust own instead of imported"`
	Since        amber.Time `query:"since" doc:"only what was changed since"`
	Only         string     `query:"only" doc:"only these of memories, sessions and notes, separated with commas"`
	Observations bool       `query:"observations" doc:"take lines that look like observations out of any Markdown as memories"`
	Sensitive    bool       `query:"sensitive" doc:"rows that their program marks as sensitive, too"`
	Body         rawBody    `body:"raw"`
}

func (i importUpload) looks() bool { return i.DryRun }

func (i importUpload) name() string { return cmp.Or(i.Name, "upload") }

// check finds what is wrong with the parameters before anything is received. The error is of kind invalid.
func (i importUpload) check() error {
	_, err := i.options()
	if err == nil {
		err = errors.Join(foreign.CheckUploadName(i.name()), amber.CheckOptionalID("project id", i.Project), amber.CheckOptionalID("user id", i.User))
	}
	if err == nil && i.From != "" {
		_, err = formats.Find(i.From, formats.Read())
	}
	return err
}

func (i importUpload) options() (o transfer.Options, err error) {
	o = transfer.Options{
		Project: i.Project, User: i.User, AsOwn: i.AsOwn, DryRun: i.DryRun, Since: i.Since, Observations: i.Observations, Sensitive: i.Sensitive, NeedUser: true,
	}
	if i.Only != "" {
		o.Only, err = transfer.ParseParts(i.Only)
	}
	return o, err
}

// importRoutes take in files of other programs, and take that back.
func importRoutes(a *API) {
	handleUpload(a, operation{
		id: "import.upload", method: "POST", path: importPath, scope: wire.TokenWrite, mutates: true, repeatable: true, long: true,
		echo:    []string{"format", "title", "path", "files", "bytes", "trust"},
		summary: "Import a file of another program, or a zip or tar.gz of its folder, which is the body; importing again stores only what is new",
	}, a.importUpload)

	handle(a, operation{
		id: "import.list", method: "GET", path: importPath, scope: wire.TokenRead, summary: "List the imports that were made, oldest first",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Page[wire.ImportRecord]], error) {
		list, err := transfer.List(ctx, ag.Store)
		for i := range list {
			if server.CallerOf(ctx).Grant.Tenant != "" && server.NamesPlace(list[i].Path) {
				list[i].Path = filepath.Base(list[i].Path) // the folders are those of the server
			}
		}
		return items(list, err)
	})

	type undo struct {
		ID string `path:"id" doc:"the id of the import"`
	}
	handle(a, operation{
		id: "import.undo", method: "POST", path: importPath + "/{id}/undo", scope: wire.TokenWrite, mutates: true, repeatable: true, long: true,
		echo: []string{"format"}, summary: "Take an import back; what was edited since stays and is named",
	}, func(ctx context.Context, ag *server.Agent, in undo) (answer[wire.ImportUndo], error) {
		end, err := a.importing.begin(ag)
		if err != nil {
			return answer[wire.ImportUndo]{}, err
		}
		defer end()
		report, err := transfer.Undo(server.About(ctx, in.ID), ag.Store, in.ID, transfer.UndoOptions{Settle: ag.Settle, Clock: a.o.Clock, NewID: a.newImportID})
		return got(placeless(ctx, report), err)
	})
}

func (a *API) newImportID() (string, error) { return amber.NewUUID(a.o.Clock(), a.o.Random) }

// importUpload imports what was received. A report never names a place of this machine.
func (a *API) importUpload(ctx context.Context, ag *server.Agent, in importUpload, u *uploaded) (answer[wire.ForeignImport], error) {
	none := answer[wire.ForeignImport]{}
	o, err := in.options()
	if err != nil {
		return none, err
	}
	if !in.DryRun {
		end, err := a.importing.begin(ag)
		if err != nil {
			return none, err
		}
		defer end()
	}
	end, err := a.imports.wait(ctx, ag.Tenant)
	if err != nil {
		return none, &amber.Error{Op: "import", Kind: amber.KindUnreachable, Err: err}
	}
	defer end()
	t, err := foreign.OpenUpload(foreign.Upload{Real: u.path, Name: in.name(), Modified: in.Modified.Time()})
	if err != nil {
		return none, &amber.Error{Op: "open upload", Kind: amber.KindInvalid, Err: err}
	}
	defer t.Close()
	f, err := chooseFormat(t, in.From)
	if err != nil {
		return none, err
	}
	id, err := a.newImportID()
	if err != nil {
		return none, err
	}
	o.Clock, o.NewID, o.Redact, o.Settle = a.o.Clock, func() (string, error) { return id, nil }, a.arriving(), ag.Settle
	report, err := transfer.Import(server.About(ctx, id), ag.Store, f, t, o)
	return answer[wire.ForeignImport]{body: placeless(ctx, report), subject: report.ID, redacted: report.Redacted}, err
}

// arriving returns the rules for what is written; nil: nothing is taken out.
func (a *API) arriving() *redact.Redactor {
	if a.o.Desk.Redact == nil {
		return nil
	}
	return a.o.Desk.Redact()
}

// chooseFormat returns the format that is named, or that fits. The error is of kind invalid and lists the formats.
func chooseFormat(t *foreign.Tree, from string) (foreign.Format, error) {
	if from != "" {
		return formats.Find(from, formats.Read())
	}
	f, err := transfer.Detect(t, formats.Read())
	if err == nil {
		return f, nil
	}
	reason := err
	if e, ok := errors.AsType[*amber.Error](err); ok && e.Err != nil {
		reason = e.Err
	}
	return f, amber.Errorf(amber.KindInvalid, "detect format", t.Path(), "%w; from=FORMAT names one of %s", reason, formats.Names(formats.Read()))
}

// importing are the agents into which something is imported, or whose import is taken back: two at one time would each take what the
// other stores for a change of somebody.
type importing struct {
	mu   sync.Mutex
	held map[server.AgentName]bool
}

// begin holds an agent until end is called. Errors: busy.
func (i *importing) begin(ag *server.Agent) (end func(), err error) {
	n := server.AgentName{Tenant: ag.Tenant, Agent: ag.ID}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.held[n] {
		return nil, amber.Errorf(amber.KindBusy, "import", string(ag.ID), "another import into this agent runs")
	}
	if i.held == nil {
		i.held = map[server.AgentName]bool{}
	}
	i.held[n] = true
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.held, n)
	}, nil
}
