package care

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/postgres"
)

// restoration is the JSON of a database that was set back and is used again.
type restoration struct {
	Restore string          `json:"restore"`
	Known   bool            `json:"known"` // a server of this home has noted how far the database was
	Audit   wasIs           `json:"audit"` // entries of the audit log
	Tokens  []revokedAgain  `json:"tokens"`
	Agents  []restoredAgent `json:"agents"`
}

type wasIs struct {
	Was int64 `json:"was"`
	Is  int64 `json:"is"`
}

// revokedAgain is a token that was revoked, and was good in the database that was set back.
type revokedAgain struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// restoredAgent is an agent, with how many changes its logs had and have. An agent that is gone has none.
type restoredAgent struct {
	Tenant  amber.TenantID `json:"tenant"`
	Agent   amber.AgentID  `json:"agent"`
	Gone    bool           `json:"gone,omitempty"`
	Back    bool           `json:"back,omitempty"` // it was deleted or moved away since
	Memory  wasIs          `json:"memory"`
	Control wasIs          `json:"control"`
}

// acceptRestore makes a database that was set back one that servers use.
func (a *app) acceptRestore(ctx context.Context) (out restoration, err error) {
	loaded, err := a.LoadConfig()
	if err != nil {
		return out, err
	}
	at, err := a.Closed(&loaded.Config)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	o, err := at.DatabaseOptions()
	if err != nil {
		return out, err
	}
	o.Restored = true
	server, err := postgres.Connect(ctx, o)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	r, err := server.Restored(ctx)
	if err != nil {
		return out, err
	}
	book, err := ledger.OpenPostgres(ctx, server.DB(), ledger.PostgresOptions{Clock: server.Now, Random: a.Random})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	again, err := book.RevokeAgain(ctx, r.Revoked)
	if err != nil {
		return out, err
	}
	out = restoration{Restore: r.ID, Known: r.Known, Audit: wasIs{r.Audit[0], r.Audit[1]}, Tokens: []revokedAgain{}, Agents: []restoredAgent{}}
	for _, t := range again {
		out.Tokens = append(out.Tokens, revokedAgain{string(t.ID), t.Name})
	}
	for _, e := range r.Agents {
		one := restoredAgent{e.Is.Tenant, e.Is.Agent, false, e.Back, wasIs{e.Was.Memory, e.Is.Memory}, wasIs{e.Was.Control, e.Is.Control}}
		if one.Agent == "" {
			one.Tenant, one.Agent, one.Gone = e.Was.Tenant, e.Was.Agent, true
		}
		out.Agents = append(out.Agents, one)
	}
	return out, server.Accept(ctx, r)
}

func printRestoration(w io.Writer, r restoration) {
	if !r.Known {
		fmt.Fprintln(w, "No server of this home has noted how far the database was, so what went back is not known here.")
		fmt.Fprintln(w, "Look through amber token list: a token that was revoked since the backup is good again.")
	}
	fmt.Fprintf(w, "%s a new history; those who listen are told of the restore\n", words.Count(len(r.Agents), "agent has", "agents have"))
	for _, e := range r.Agents {
		switch {
		case e.Gone:
			fmt.Fprintf(w, "  %s/%s is not there any more\n", e.Tenant, e.Agent)
		case e.Back:
			fmt.Fprintf(w, "  %s/%s is there again: it was deleted, or moved to a home, since\n", e.Tenant, e.Agent)
		case e.Memory.Was > e.Memory.Is || e.Control.Was > e.Control.Is:
			fmt.Fprintf(w, "  %s/%s went back: memory from change %d to %d, tasks and queues from %d to %d\n", e.Tenant, e.Agent, e.Memory.Was, e.Memory.Is, e.Control.Was, e.Control.Is)
		}
	}
	if r.Known && r.Audit.Was > r.Audit.Is {
		fmt.Fprintf(w, "the audit log went back from %s to %d\n", words.Count(r.Audit.Was, "entry", "entries"), r.Audit.Is)
	}
	for _, t := range r.Tokens {
		fmt.Fprintf(w, "token %s (%s) was good again, and is revoked\n", t.ID, t.Name)
	}
	fmt.Fprintln(w, "Servers work on the database from now on; start them again.")
}
