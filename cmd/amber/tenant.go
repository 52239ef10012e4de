package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) tenantCommand() *cobra.Command {
	return cli.Family("tenant", "List tenants", a.tenantListCommand())
}

// tenantInfo is the JSON of one tenant.
type tenantInfo struct {
	ID     amber.TenantID `json:"id"`
	Agents int            `json:"agents"`
}

func (a *app) tenantListCommand() *cobra.Command {
	var jsonl bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tenants, and how many agents each has",
		Long:    "List the tenants of the home, and how many agents each has. Nothing is made or changed.",
		Example: "  amber tenant list",
		Args:    cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			if err := a.onThisMachine("list tenants"); err != nil {
				return err
			}
			h, err := a.LookAtHome()
			if err != nil {
				return err
			}
			ids, err := h.Tenants()
			if err != nil {
				return err
			}
			items := []tenantInfo{}
			for _, id := range ids {
				items = append(items, tenantInfo{id, len(cli.AgentsThere(h, id))})
			}
			return cli.ShowItems(a.App, jsonl, amber.Page[tenantInfo]{Items: items}, func(w io.Writer, items []tenantInfo) {
				cli.TableOf(w, []string{"TENANT", "AGENTS"}, items, func(t tenantInfo) []string {
					return []string{string(t.ID), fmt.Sprint(t.Agents)}
				})
			})
		},
	}
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}
