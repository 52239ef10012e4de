package care

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) tenantCommand() *cobra.Command {
	return cli.Family("tenant", a.tenantListCommand(), a.tenantDeleteCommand())
}

// TenantInfo is the JSON of one tenant.
type TenantInfo struct {
	ID     amber.TenantID `json:"id"`
	Agents int            `json:"agents"`
}

func (a *app) tenantListCommand() *cobra.Command {
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		list := a.ownTenants
		if a.Remote != nil {
			list = a.servedTenants
		}
		items, err := list(cmd.Context())
		if err != nil {
			return err
		}
		return cli.ShowItems(a.App, jsonl, amber.Page[TenantInfo]{Items: items}, func(w io.Writer, items []TenantInfo) {
			cli.TableOf(w, []string{"TENANT", "AGENTS"}, items, func(t TenantInfo) []string {
				return []string{string(t.ID), fmt.Sprint(t.Agents)}
			})
		})
	})
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

// ownTenants are those of the home of this machine, or of its database.
func (a *app) ownTenants(ctx context.Context) ([]TenantInfo, error) {
	ids, err := a.TenantsThere(ctx)
	items := []TenantInfo{}
	for _, id := range ids {
		items = append(items, TenantInfo{id, len(a.AgentsThere(ctx, id))})
	}
	return items, err
}

// servedTenants are those of the agents of the server that the token reaches.
func (a *app) servedTenants(ctx context.Context) ([]TenantInfo, error) {
	names, err := a.Remote.Home().ListAgents(ctx, "")
	items := []TenantInfo{}
	for _, n := range names { // sorted by tenant
		if last := len(items) - 1; last >= 0 && items[last].ID == n.Tenant {
			items[last].Agents++
			continue
		}
		items = append(items, TenantInfo{n.Tenant, 1})
	}
	return items, err
}
