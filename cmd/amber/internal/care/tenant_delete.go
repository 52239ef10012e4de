package care

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

// DeletedTenant is the JSON of tenant delete.
type DeletedTenant struct {
	ID     amber.TenantID `json:"id"`
	DryRun bool           `json:"dry_run"`
	Agents []DeletedAgent `json:"agents"`
}

func (a *app) tenantDeleteCommand() *cobra.Command {
	var yes, dryRun, noSnapshot bool
	cmd := cli.Verb("delete", func(cmd *cobra.Command, args []string) error {
		if err := a.OnThisMachine("delete tenant"); err != nil {
			return err
		}
		if cmd.Flags().Changed("tenant") && args[0] != a.Global.Tenant {
			return cli.Usage("the tenant is %q and --tenant %q, want one of them", cli.OneLine(args[0], 40), cli.OneLine(a.Global.Tenant, 40))
		}
		a.Global.Tenant = args[0]
		out, err := a.deleteTenant(cmd, yes, dryRun, noSnapshot)
		if err != nil {
			return err
		}
		return a.Out.Show(out, func(w io.Writer) {
			for _, d := range out.Agents {
				a.printDeleted(w, d, noSnapshot)
			}
		})
	})
	cmd.Flags().BoolVar(&noSnapshot, "no-snapshot", false, "do not take last snapshots")
	cli.AddPlanFlags(cmd, &yes, &dryRun, "tell what would be deleted and delete nothing")
	return cmd
}

// deleteTenant deletes the agents of the tenant of the flags.
func (a *app) deleteTenant(cmd *cobra.Command, yes, dryRun, noSnapshot bool) (out DeletedTenant, err error) {
	h, tenant, err := a.LookAtTenant()
	if err != nil {
		return out, err
	}
	out = DeletedTenant{ID: tenant, DryRun: dryRun, Agents: []DeletedAgent{}}
	items, err := a.listAgents(cmd.Context(), h, tenant, false)
	if err != nil {
		return out, err
	}
	if len(items) == 0 {
		return out, a.NoAgent(cmd.Context(), tenant, amber.AgentID(a.Global.Agent))
	}
	if !dryRun {
		if err := a.Confirm(yes, fmt.Sprintf("delete tenant %s with %s", tenant, words.Count(int64(len(items)), "agent", "agents"))); err != nil {
			return out, err
		}
	}
	for _, info := range items {
		folder, err := h.Agent(tenant, info.ID)
		if err != nil {
			return out, err
		}
		one, err := (&app{a.ForAgent(tenant, info.ID)}).deleteOne(cmd, h, folder, info, deletion{dryRun: dryRun, noSnapshot: noSnapshot, yes: true})
		if err != nil {
			return out, err
		}
		out.Agents = append(out.Agents, one)
	}
	return out, nil
}
