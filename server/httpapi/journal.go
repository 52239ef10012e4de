package httpapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// journalRoutes serve the crash journal and what it is drained into.
func journalRoutes(a *API) {
	handle(a, operation{
		id: "journal.status", method: "GET", path: agentPath + "/journal", scope: wire.TokenRead, summary: "Read the state of the crash journal",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Page[wire.JournalStatus]], error) {
		if ag.Journal == nil {
			return answer[amber.Page[wire.JournalStatus]]{}, unsupported("read journal", "there is no crash journal here")
		}
		sessions, err := ag.Journal(ctx)
		return items(placeless(ctx, sessions), err)
	})

	handle(a, operation{
		id: "journal.ingest", method: "POST", path: agentPath + "/journal/ingest", scope: wire.TokenWrite, mutates: true,
		summary: "Store a range of entries of a crash journal, exactly once",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Ingestion]) (answer[amber.IngestResult], error) {
		r, err := ag.Store.Ingest.Ingest(ctx, in.Body)
		return answer[amber.IngestResult]{body: r, subject: in.Body.Journal}, err
	})

	type cursor struct {
		Journal string `path:"journal" doc:"the name of the journal of one session"`
	}
	handle(a, operation{
		id: "journal.cursor", method: "GET", path: agentPath + "/journal/cursors/{journal}", scope: wire.TokenRead,
		summary: "Read how far the journal of a session has been stored",
	}, func(ctx context.Context, ag *server.Agent, in cursor) (answer[amber.JournalCursor], error) {
		return got(ag.Store.Ingest.JournalCursor(ctx, in.Journal))
	})

	handle(a, operation{
		id: "journal.open", method: "GET", path: agentPath + "/journal/open", scope: wire.TokenRead,
		summary: "List the journal cursors of sessions that have not ended, least recently updated first",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Page[amber.JournalCursor]], error) {
		return items(ag.Store.Ingest.OpenJournals(ctx))
	})
}
