package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// Agent is an agent that is served elsewhere. Safe for concurrent use.
type Agent struct {
	c      *Client
	tenant amber.TenantID
	agent  amber.AgentID
}

// Agent returns an agent of the server. It touches no network. The error is of
// kind invalid.
func (c *Client) Agent(tenant amber.TenantID, agent amber.AgentID) (*Agent, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	if _, err := amber.ParseAgentID(string(agent)); err != nil {
		return nil, err
	}
	return &Agent{c: c, tenant: tenant, agent: agent}, nil
}

// Store returns the contracts of the agent, those that the server's backend
// can do. Errors: unreachable, refused, not_found.
func (a *Agent) Store(ctx context.Context) (amber.Store, error) {
	can, err := op.AgentCapabilities.Call(ctx, a, op.None{})
	if err != nil {
		return amber.Store{}, err
	}
	return amber.NewStore(a.parts(can)), nil
}

// Parts returns every contract of the agent without asking what the server's backend can do:
// what it cannot do the server says with each call. It touches no network.
func (a *Agent) Parts() amber.Parts { return a.parts(every()) }

// list returns the items of a listing without pages.
func list[T any](p amber.Page[T], err error) ([]T, error) { return p.Items, err }

// done is the end of an operation without an answer.
func done(_ op.None, err error) error { return err }

// paging is a page as inputs of operations ask for it.
func paging(p amber.Paging) op.Paging { return op.Paging(p) }

// some is a number in an input where none differs from 0; 0 means none.
func some(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}
