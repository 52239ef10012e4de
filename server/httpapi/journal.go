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
		id: "journal.ingest", bound: true, method: "POST", path: agentPath + "/journal/ingest", scope: wire.TokenWrite, mutates: true,
		summary: "Store a range of entries of a crash journal, exactly once",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Ingestion]) (answer[amber.IngestResult], error) {
		r, err := ag.Store.Ingest.Ingest(ctx, in.Body)
		return answer[amber.IngestResult]{body: r, subject: in.Body.Journal}, err
	})

	type cursor struct {
		Journal string `path:"journal" doc:"the name of the journal of one session"`
	}
	handle(a, operation{
		id: "journal.cursor", bound: true, method: "GET", path: agentPath + "/journal/cursors/{journal}", scope: wire.TokenRead,
		summary: "Read how far the journal of a session has been stored",
	}, func(ctx context.Context, ag *server.Agent, in cursor) (answer[amber.JournalCursor], error) {
		return got(ag.Store.Ingest.JournalCursor(ctx, in.Journal))
	})

	handle(a, operation{
		id: "journal.open", bound: true, method: "GET", path: agentPath + "/journal/open", scope: wire.TokenRead,
		summary: "List the journal cursors of sessions that have not ended, least recently updated first",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Page[amber.JournalCursor]], error) {
		return items(ag.Store.Ingest.OpenJournals(ctx))
	})
}

// quarantineRoutes serve what the crash journal has set aside.
func quarantineRoutes(a *API) {
	const path = agentPath + "/journal/quarantine"
	type ofSession struct {
		Session string `query:"session" doc:"only of this session: its id, or its key"`
	}
	handle(a, operation{
		id: "quarantine.list", method: "GET", path: path, scope: wire.TokenRead, summary: "List what the crash journal has set aside, without the payloads",
	}, func(ctx context.Context, ag *server.Agent, in ofSession) (answer[amber.Page[wire.HeldEntry]], error) {
		if ag.Quarantine == nil {
			return answer[amber.Page[wire.HeldEntry]]{}, noQuarantine()
		}
		held, err := ag.Quarantine.HeldEntries(ctx, in.Session)
		return items(placeless(ctx, held), err)
	})

	type one struct {
		Session string `path:"session" doc:"the session: its key, or its id where one host has it"`
		Name    string `path:"name" doc:"the name of the file"`
	}
	handle(a, operation{
		id: "quarantine.show", method: "GET", path: path + "/{session}/{name}", scope: wire.TokenRead,
		summary: "Show one file that the crash journal has set aside, at most 8 MiB, without secrets",
	}, func(ctx context.Context, ag *server.Agent, in one) (answer[wire.HeldEntry], error) {
		if ag.Quarantine == nil {
			return answer[wire.HeldEntry]{}, noQuarantine()
		}
		held, err := ag.Quarantine.ShowHeld(ctx, in.Session, in.Name)
		return got(placeless(ctx, held), err)
	})

	handle(a, operation{
		id: "quarantine.retry", method: "POST", path: path + "/retry", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Put entries that were set aside back into the crash journal, to be stored again: all of them, those of a session, or one",
	}, func(ctx context.Context, ag *server.Agent, in payload[wire.HeldRetry]) (answer[amber.Page[wire.HeldEntry]], error) {
		if ag.Quarantine == nil {
			return answer[amber.Page[wire.HeldEntry]]{}, noQuarantine()
		}
		held, err := ag.Quarantine.RetryHeld(ctx, in.Body)
		out, err := items(placeless(ctx, held), err)
		for _, h := range held {
			out.each = append(out.each, h.Key+"/"+h.Name)
		}
		return out, err
	})
}

func noQuarantine() error { return unsupported("read quarantine", "there is no crash journal here") }
