package op

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/wire"
)

// Exchange takes in what other programs remember, and gives out what they read.
type Exchange interface {
	// CheckImport finds what is wrong with a request before a file is received. Errors: invalid.
	CheckImport(in ImportIn) error
	// Import imports c.File. Errors: busy while another import into the agent runs; those of the format and of the store.
	Import(ctx context.Context, c *Call, in ImportIn) (wire.ForeignImport, error)
	// Imports lists the imports that were made, oldest first.
	Imports(ctx context.Context, c *Call) ([]wire.ImportRecord, error)
	// UndoImport takes an import back. Errors: not_found; busy.
	UndoImport(ctx context.Context, c *Call, id string) (wire.ImportUndo, error)
	// Export writes to c.Writer, nothing where c.Head is set. Errors: invalid; those of the store.
	Export(ctx context.Context, c *Call, in ExportIn) (wire.ForeignExport, error)
}

// ImportIn asks to take in what another program remembers.
type ImportIn struct {
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
	Body         Upload     `body:"raw"`
}

func (i ImportIn) looks() bool { return i.DryRun }

// ImportUpload imports a file.
var ImportUpload = do(Row{
	ID: "import.upload", HTTP: "POST /imports", Scope: wire.TokenWrite, Kind: Changes | Repeats | Long | Uploaded,
	Echo: []string{"format", "title", "path", "files", "bytes", "trust"}, Fails: []amber.Kind{amber.KindQuota},
	Sure: []string{"format"}, Doc: "Import a file of another program, or a zip or tar.gz of its folder, which is the body; importing again stores only what is new",
}, func(ctx context.Context, c *Call, in ImportIn) (wire.ForeignImport, error) {
	report, err := c.House.Exchange.Import(ctx, c, in)
	c.Subject, c.Redacted = report.ID, report.Redacted
	return Placeless(c.Caller, report), err
})

// ImportList lists imports.
var ImportList = do(Row{
	ID: "import.list", HTTP: "GET /imports", Scope: wire.TokenRead, Doc: "List the imports that were made, oldest first",
}, func(ctx context.Context, c *Call, _ None) (amber.Page[wire.ImportRecord], error) {
	return items(c.House.Exchange.Imports(ctx, c))
})

// ImportID names an import.
type ImportID struct {
	ID string `path:"id" doc:"the id of the import"`
}

// ImportUndo takes an import back.
var ImportUndo = do(Row{
	ID: "import.undo", HTTP: "POST /imports/{id}/undo", Scope: wire.TokenWrite, Kind: Changes | Repeats | Long | Keyed, Echo: []string{"format"},
	Sure: []string{"id=id"}, Doc: "Take an import back; what was edited since stays and is named",
}, func(ctx context.Context, c *Call, in ImportID) (wire.ImportUndo, error) {
	report, err := c.House.Exchange.UndoImport(ctx, c, in.ID)
	return Placeless(c.Caller, report), err
})

// ExportIn says what leaves.
type ExportIn struct {
	To       string   `query:"to" doc:"the format"`
	Project  string   `query:"project" doc:"only this project; notes stay then"`
	Users    []string `query:"user" doc:"memories of this user, too; may be repeated"`
	AllUsers bool     `query:"all_users" doc:"memories of every user, too"`
	Private  bool     `query:"private" doc:"passages that are marked private, too"`
	Download
}

// ExportDownload gives memories to another program.
var ExportDownload = do(Row{
	ID: "export.download", HTTP: "GET /export", Scope: wire.TokenRead, Kind: Long | Downloaded, Holds: 2 * HoldsPage, Required: []string{"to"},
	Doc: "Export memories, conversations and notes in a format that another program reads; a format that writes several files comes as a zip file",
}, func(ctx context.Context, c *Call, in ExportIn) (wire.ForeignExport, error) {
	return c.House.Exchange.Export(ctx, c, in)
})

// EventsIn says where an event stream begins.
type EventsIn struct {
	After string `query:"after" doc:"continue after this event; default: begin with the next event"`
	Last  string `header:"Last-Event-ID" doc:"the same as after, sent by browsers"`
}

// EventStream sends the changes and events of an agent as they happen. A door serves it from what its server hears.
var EventStream = do(Row{
	ID: "event.stream", HTTP: "GET /events", Scope: wire.TokenRead, Kind: Streamed | Bound,
	Doc: "Stream every change and every event of snapshots as server-sent events; a stream that continues after the last event misses nothing",
}, func(context.Context, *Call, EventsIn) (events.Event, error) {
	return events.Event{}, unsupported("stream events", "this place has no stream of events")
})
