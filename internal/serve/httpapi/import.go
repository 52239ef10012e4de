package httpapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// exchange takes in what other programs remember, and gives out what they read.
type exchange struct {
	desk    *server.Desk
	clock   amber.Clock
	random  io.Reader
	leaving func(private bool) *redact.Redactor // nil: the rules of Amber alone
	running importing
	turns   *turns
}

func uploadName(in op.ImportIn) string { return cmp.Or(in.Name, "upload") }

// CheckImport implements [op.Exchange].
func (x *exchange) CheckImport(in op.ImportIn) error {
	_, err := importOptions(in)
	if err == nil {
		err = errors.Join(foreign.CheckUploadName(uploadName(in)), amber.CheckOptionalID("project id", in.Project), amber.CheckOptionalID("user id", in.User))
	}
	if err == nil && in.From != "" {
		_, err = formats.Find(in.From, formats.Read())
	}
	return err
}

func importOptions(in op.ImportIn) (o transfer.Options, err error) {
	o = transfer.Options{
		Project: in.Project, User: in.User, AsOwn: in.AsOwn, DryRun: in.DryRun, Since: in.Since, Observations: in.Observations, Sensitive: in.Sensitive, NeedUser: true,
	}
	if in.Only != "" {
		o.Only, err = transfer.ParseParts(in.Only)
	}
	return o, err
}

// Import implements [op.Exchange]. A report never names a place of this machine.
func (x *exchange) Import(ctx context.Context, c *op.Call, in op.ImportIn) (report wire.ForeignImport, err error) {
	o, err := importOptions(in)
	if err != nil {
		return report, err
	}
	if !in.DryRun {
		end, err := x.running.begin(c.Agent)
		if err != nil {
			return report, err
		}
		defer end()
	}
	end, err := x.turns.wait(ctx, c.Tenant)
	if err != nil {
		return report, &amber.Error{Op: "import", Kind: amber.KindUnreachable, Err: err}
	}
	defer end()
	t, err := foreign.OpenUpload(foreign.Upload{Real: c.File.Path, Name: uploadName(in), Modified: in.Modified.Time()})
	if err != nil {
		return report, &amber.Error{Op: "open upload", Kind: amber.KindInvalid, Err: err}
	}
	defer t.Close()
	f, err := chooseFormat(t, in.From)
	if err != nil {
		return report, err
	}
	id, err := x.newID()
	if err != nil {
		return report, err
	}
	o.Clock, o.NewID, o.Settle = x.clock, func() (string, error) { return id, nil }, c.Settle
	if x.desk.Redact != nil {
		o.Redact = x.desk.Redact()
	}
	return transfer.Import(audited.About(ctx, id), c.Store, f, t, o)
}

func (x *exchange) newID() (string, error) { return amber.NewUUID(x.clock(), x.random) }

// Imports implements [op.Exchange].
func (x *exchange) Imports(ctx context.Context, c *op.Call) ([]wire.ImportRecord, error) {
	list, err := transfer.List(ctx, c.Store)
	for i := range list {
		if c.Caller.Grant.Tenant != "" && op.NamesPlace(list[i].Path) {
			list[i].Path = filepath.Base(list[i].Path) // the folders are those of the server
		}
	}
	return list, err
}

// UndoImport implements [op.Exchange].
func (x *exchange) UndoImport(ctx context.Context, c *op.Call, id string) (wire.ImportUndo, error) {
	end, err := x.running.begin(c.Agent)
	if err != nil {
		return wire.ImportUndo{}, err
	}
	defer end()
	return transfer.Undo(audited.About(ctx, id), c.Store, id, transfer.UndoOptions{Settle: c.Settle, Clock: x.clock, NewID: x.newID})
}

// Export implements [op.Exchange].
func (x *exchange) Export(ctx context.Context, c *op.Call, in op.ExportIn) (wire.ForeignExport, error) {
	errs := []error{amber.CheckOptionalID("project id", in.Project)}
	for _, user := range in.Users {
		errs = append(errs, amber.CheckID("user id", user))
	}
	if err := errors.Join(errs...); err != nil {
		return wire.ForeignExport{}, err
	}
	f, err := formats.Find(in.To, formats.Written())
	if err != nil {
		return wire.ForeignExport{}, err
	}
	if f.Folder {
		c.Writer.Folder()
	}
	if c.Head {
		return wire.ForeignExport{}, nil
	}
	o := transfer.ExportOptions{
		Project: in.Project, Users: in.Users, AllUsers: in.AllUsers, Private: in.Private,
		Redact: x.rules(in.Private), Clock: x.clock, Agent: c.ID,
	}
	if !f.Folder {
		return transfer.Export(ctx, c.Store, f, o, transfer.Stream(c.Writer))
	}
	z := transfer.Zip(c.Writer, x.clock())
	report, err := transfer.Export(ctx, c.Store, f, o, z)
	if err == nil {
		err = z.Close()
	}
	return report, err
}

// rules returns the rules for what leaves.
func (x *exchange) rules(private bool) *redact.Redactor {
	if x.leaving != nil {
		return x.leaving(private)
	}
	r, err := redact.With(redact.Options{KeepPrivate: private})
	if err != nil {
		panic("httpapi: the rules of Amber: " + err.Error())
	}
	return r
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

// importing holds the agents into which an import runs, or whose import is being taken back. There is one at a time:
// of two, each would take what the other stores for a change by a user.
type importing struct {
	mu   sync.Mutex
	held map[server.AgentName]bool
}

// begin holds an agent until end is called. Errors: busy.
func (i *importing) begin(ag *op.Agent) (end func(), err error) {
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
