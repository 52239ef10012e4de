package op

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// JournalStatus reads the state of the crash journal.
var JournalStatus = do(Row{
	ID: "journal.status", HTTP: "GET /journal", Scope: wire.TokenRead, Doc: "Read the state of the crash journal",
}, func(ctx context.Context, c *Call, _ None) (amber.Page[wire.JournalStatus], error) {
	if c.Journal == nil {
		return amber.Page[wire.JournalStatus]{}, unsupported("read journal", "there is no crash journal here")
	}
	sessions, err := c.Journal(ctx)
	return items(Placeless(c.Caller, sessions), err)
})

// JournalIngest stores entries of a crash journal.
var JournalIngest = do(Row{
	ID: "journal.ingest", HTTP: "POST /journal/ingest", Scope: wire.TokenWrite, Kind: Changes | Bound,
	Doc: "Store a range of entries of a crash journal, exactly once",
}, func(ctx context.Context, c *Call, in Payload[amber.Ingestion]) (amber.IngestResult, error) {
	c.Subject = in.Body.Journal
	return c.Store.Ingest.Ingest(ctx, in.Body)
})

// JournalCursorIn names a journal.
type JournalCursorIn struct {
	Journal string `path:"journal" doc:"the name of the journal of one session"`
}

// JournalCursor reads how far a journal has been stored.
var JournalCursor = do(Row{
	ID: "journal.cursor", HTTP: "GET /journal/cursors/{journal}", Scope: wire.TokenRead, Kind: Bound,
	Sure: []string{"journal=journal"}, Doc: "Read how far the journal of a session has been stored",
}, func(ctx context.Context, c *Call, in JournalCursorIn) (amber.JournalCursor, error) {
	return c.Store.Ingest.JournalCursor(ctx, in.Journal)
})

// JournalOpen lists the cursors of open sessions.
var JournalOpen = do(Row{
	ID: "journal.open", HTTP: "GET /journal/open", Scope: wire.TokenRead, Kind: Bound,
	Doc: "List the journal cursors of sessions that have not ended, least recently updated first",
}, func(ctx context.Context, c *Call, _ None) (amber.Page[amber.JournalCursor], error) {
	return items(c.Store.Ingest.OpenJournals(ctx))
})

// QuarantineIn asks what was set aside.
type QuarantineIn struct {
	Session string `query:"session" doc:"only of this session: its id, or its key"`
}

// QuarantineList lists what the crash journal has set aside.
var QuarantineList = do(Row{
	ID: "quarantine.list", HTTP: "GET /journal/quarantine", Scope: wire.TokenRead, Doc: "List what the crash journal has set aside, without the payloads",
}, func(ctx context.Context, c *Call, in QuarantineIn) (amber.Page[wire.HeldEntry], error) {
	if c.Quarantine == nil {
		return amber.Page[wire.HeldEntry]{}, noQuarantine()
	}
	held, err := c.Quarantine.HeldEntries(ctx, in.Session)
	return items(Placeless(c.Caller, held), err)
})

// QuarantineShowIn names what was set aside.
type QuarantineShowIn struct {
	Session string `path:"session" doc:"the session: its key, or its id where one host has it"`
	Name    string `path:"name" doc:"the name of the file"`
}

// QuarantineShow shows what was set aside.
var QuarantineShow = do(Row{
	ID: "quarantine.show", HTTP: "GET /journal/quarantine/{session}/{name}", Scope: wire.TokenRead, Fails: []amber.Kind{amber.KindQuota},
	Sure: []string{"name=name"}, Doc: "Show one file that the crash journal has set aside, at most 8 MiB, without secrets",
}, func(ctx context.Context, c *Call, in QuarantineShowIn) (wire.HeldEntry, error) {
	if c.Quarantine == nil {
		return wire.HeldEntry{}, noQuarantine()
	}
	held, err := c.Quarantine.ShowHeld(ctx, in.Session, in.Name)
	return Placeless(c.Caller, held), err
})

// QuarantineRetry puts what was set aside back into the journal.
var QuarantineRetry = do(Row{
	ID: "quarantine.retry", HTTP: "POST /journal/quarantine/retry", Scope: wire.TokenWrite, Kind: Changes | Repeats | Keyed, Fails: []amber.Kind{amber.KindQuota},
	Doc: "Put entries that were set aside back into the crash journal, to be stored again: all of them, those of a session, or one",
}, func(ctx context.Context, c *Call, in Payload[wire.HeldRetry]) (amber.Page[wire.HeldEntry], error) {
	if c.Quarantine == nil {
		return amber.Page[wire.HeldEntry]{}, noQuarantine()
	}
	held, err := c.Quarantine.RetryHeld(ctx, in.Body)
	for _, h := range held {
		c.Did = append(c.Did, h.Key+"/"+h.Name)
	}
	return items(Placeless(c.Caller, held), err)
})

func noQuarantine() error { return unsupported("read quarantine", "there is no crash journal here") }
