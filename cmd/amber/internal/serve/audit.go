package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) auditCommand() *cobra.Command {
	return cli.Family("audit", a.auditListCommand(), a.auditVerifyCommand())
}

func (a *app) auditListCommand() *cobra.Command {
	var f cli.PageFlags
	var q wire.AuditQuery
	var since string
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		err := cli.Limit("-n", f.N)
		if err == nil {
			q.Tenant, err = a.givenTenant(cmd)
		}
		if err == nil && cmd.Flags().Changed("agent") {
			q.Agent, err = amber.ParseAgentID(a.Global.Agent)
		}
		if err == nil {
			q.Since, err = a.Past("since", since)
		}
		if err != nil {
			return err
		}
		return a.listAudit(cmd, f, q)
	})
	f.Add(cmd)
	cmd.Flags().StringVar(&q.Actor, "actor", "", "only what this actor did: the id of a token, local, or cli")
	cmd.Flags().StringVar(&q.Action, "action", "", "only this operation")
	cmd.Flags().StringVar(&since, "since", "", "only what happened since then: "+cli.TimeForms+" ago")
	return cmd
}

func (a *app) listAudit(cmd *cobra.Command, f cli.PageFlags, q wire.AuditQuery) error {
	d, err := a.lookAtLedger(cmd.Context())
	if err != nil {
		return err
	}
	if d == nil {
		return cli.ShowPage(a.App, cmd, f, func(int, amber.Cursor) (amber.Page[wire.AuditEntry], error) {
			return amber.Page[wire.AuditEntry]{}, nil
		}, a.printAudit)
	}
	err = cli.ShowPage(a.App, cmd, f, func(n int, c amber.Cursor) (amber.Page[wire.AuditEntry], error) {
		q.Limit, q.Cursor = n, c
		return d.ListAudit(cmd.Context(), q)
	}, a.printAudit)
	return errors.Join(err, d.Close())
}

func (a *app) printAudit(w io.Writer, entries []wire.AuditEntry) {
	cli.TableOf(w, []string{"SEQ", "AT", "ACTOR", "ACTION", "ABOUT", "SUBJECT", "OUTCOME"}, entries, func(e wire.AuditEntry) []string {
		about := string(e.Tenant)
		if e.Agent != "" {
			about += "/" + string(e.Agent)
		}
		return []string{strconv.FormatInt(e.Seq, 10), e.At.String(), e.Actor, e.Action, about, e.Subject, e.Outcome}
	})
}

func (a *app) auditVerifyCommand() *cobra.Command {
	return cli.Verb("verify", func(cmd *cobra.Command, _ []string) error {
		r, err := cli.Working(a.App, "verifying", func() (wire.AuditReport, error) { return a.verifyAudit(cmd.Context()) })
		if err != nil {
			return err
		}
		return a.ShowChecked(r, func(w io.Writer) { a.printAuditVerified(w, r) })
	})
}

func (a *app) verifyAudit(ctx context.Context) (wire.AuditReport, error) {
	d, err := a.lookAtLedger(ctx)
	if err != nil {
		return wire.AuditReport{}, err
	}
	if d == nil {
		return wire.AuditReport{
			Checked: []string{}, NotChecked: []string{"the audit log: this home has none, because nothing was ever recorded"}, Damaged: []string{},
		}, nil
	}
	r, err := d.VerifyAudit(ctx)
	return r, errors.Join(err, d.Close())
}

func (a *app) printAuditVerified(w io.Writer, r wire.AuditReport) {
	p := a.Out
	verdict := "nothing damaged found"
	switch {
	case !r.OK():
		verdict = p.Style(cli.Amb, "DAMAGED")
	case len(r.Checked) == 0:
		verdict = p.Style(cli.Amb, "NOT CHECKED")
	}
	fmt.Fprintf(w, "%s  %s\n", p.Style(cli.Bold, words.Count(r.Entries, "entry", "entries")), verdict)
	for _, text := range r.Damaged {
		cli.Wrapped(w, 4, "  %s %s", p.Style(cli.Amb, "DAMAGED"), cli.Flat(text))
	}
	for _, text := range r.Checked {
		cli.Wrapped(w, 4, "  %s %s", p.Style(cli.Dim, "checked:"), cli.Flat(text))
	}
	for _, text := range r.NotChecked {
		cli.Wrapped(w, 4, "  %s %s", p.Style(cli.Dim, "not checked:"), cli.Flat(text))
	}
}

// cliActor is who the audit log says did what this command does.
const cliActor = "cli"
