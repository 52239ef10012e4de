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
	c := cli.Family("audit", "Show who changed what through the server", a.auditListCommand(), a.auditVerifyCommand())
	c.Long = `The audit log says who changed what through the server, and which tokens were made and revoked. It
holds no text of memories. Each entry has the hash of the entry before it, and the end of the log
is noted outside of it, so that a changed or removed entry is noticed.

With --remote it is the log of the server, as far as the token reaches, which needs the scope
admin: a token for one tenant or agent is shown the entries about it, without their hashes.`
	return c
}

func (a *app) auditListCommand() *cobra.Command {
	var f cli.PageFlags
	var q wire.AuditQuery
	var since string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List entries of the audit log, newest first",
		Long:  `List entries of the audit log, newest first. --tenant and --agent list only entries about them.`,
		Example: `  amber audit list --actor k3x7q2ma --since 24h
  amber audit list --jsonl > audit.jsonl`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
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
		},
	}
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
	return &cobra.Command{
		Use:   "verify",
		Short: "Recompute the audit log and find what was changed",
		Long: `Read the whole audit log, recompute the hash of every entry, and compare it with the end that was
noted in keys/audit-head of the home, or in the database where agents live in one; entries that are
not chained there yet are counted. It says what was checked and what was not, and exits 5 when
an entry was changed, is missing, or was put in. With --remote the server checks its own log, for
a token that is for every tenant.`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := cli.Working(a.App, "verifying", func() (wire.AuditReport, error) { return a.verifyAudit(cmd.Context()) })
			if err != nil {
				return err
			}
			return a.ShowChecked(r, func(w io.Writer) { a.printAuditVerified(w, r) })
		},
	}
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
