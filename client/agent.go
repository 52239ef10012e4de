package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/amber-memory/amber"
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

// slow returns the client for operations that the table of operations calls long.
func (c *Client) slow() *Client {
	slow := *c
	slow.o.Patience = longWait
	return &slow
}

// slow returns the agent for operations that the table of operations calls long.
func (a *Agent) slow() *Agent {
	slow := *a
	slow.c = a.c.slow()
	return &slow
}

// path is below the agent.
func (a *Agent) path(elements ...string) []string {
	return append([]string{"v1", "tenants", string(a.tenant), "agents", string(a.agent)}, elements...)
}

// get reads below the agent.
func get[Out any](ctx context.Context, a *Agent, query url.Values, elements ...string) (Out, error) {
	return call[Out](ctx, a.c, request{method: http.MethodGet, path: a.path(elements...), query: query})
}

// post sends a body below the agent.
func post[Out any](ctx context.Context, a *Agent, body any, elements ...string) (Out, error) {
	return call[Out](ctx, a.c, request{method: http.MethodPost, path: a.path(elements...), body: body})
}

// ask is post for what may be done twice.
func ask[Out any](ctx context.Context, a *Agent, body any, elements ...string) (Out, error) {
	return call[Out](ctx, a.c, request{method: http.MethodPost, path: a.path(elements...), body: body, repeatable: true})
}

// page reads a page of a listing. Errors: damaged for an answer that is not a page:
// nothing and no answer are not the same.
func page[T any](ctx context.Context, a *Agent, query url.Values, elements ...string) (amber.Page[T], error) {
	p, err := get[amber.Page[T]](ctx, a, query, elements...)
	if err == nil && p.Items == nil {
		err = incomplete("items")
	}
	return p, err
}

// list reads a listing without pages.
func list[T any](ctx context.Context, a *Agent, query url.Values, elements ...string) ([]T, error) {
	p, err := page[T](ctx, a, query, elements...)
	return p.Items, err
}

// incomplete is the error of an answer that lacks something.
func incomplete(what string) error {
	return amber.Errorf(amber.KindDamaged, "read answer", "", "the answer has no %s", what)
}

// hasID checks that an answer names what was made. The error is of kind damaged.
func hasID[T ~string](id T, err error) error {
	if err == nil && id == "" {
		err = incomplete("id")
	}
	return err
}

// about checks that an answer is about what was asked for. The error is of kind
// damaged.
func about[T ~string](got, want T, err error) error {
	if err == nil && got != want {
		err = amber.Errorf(amber.KindDamaged, "read answer", string(want), "the answer is about another record")
	}
	return err
}

// change is post for what replaces something: doing it a second time would
// replace what others have put there meanwhile.
func change[Out any](ctx context.Context, a *Agent, body any, elements ...string) (Out, error) {
	return call[Out](ctx, a.c, request{method: http.MethodPost, path: a.path(elements...), body: body, once: true})
}

// remove deletes below the agent. Doing it a second time would find nothing, or
// what others have made meanwhile.
func (a *Agent) remove(ctx context.Context, query url.Values, elements ...string) error {
	_, err := call[none](ctx, a.c, request{method: http.MethodDelete, path: a.path(elements...), query: query, once: true})
	return err
}

// values makes a query; empty ones are left out.
type values struct{ url.Values }

func newValues() values { return values{url.Values{}} }

func (v values) text(name, s string) values {
	if s != "" {
		v.Set(name, s)
	}
	return v
}

func (v values) number(name string, n int) values {
	if n != 0 {
		v.Set(name, strconv.Itoa(n))
	}
	return v
}

// count is number where none is not the same as 0.
func (v values) count(name string, n int) values {
	v.Set(name, strconv.Itoa(n))
	return v
}

// paging asks for a page.
func (v values) paging(p amber.Paging) values {
	return v.number("limit", p.Limit).text("cursor", string(p.Cursor))
}

func (v values) flag(name string, on bool) values {
	if on {
		v.Set(name, "true")
	}
	return v
}

// Store returns the contracts of the agent, those that the server's backend
// can do. Errors: unreachable, refused, not_found.
func (a *Agent) Store(ctx context.Context) (amber.Store, error) {
	can, err := get[amber.Capabilities](ctx, a, nil, "capabilities")
	if err != nil {
		return amber.Store{}, err
	}
	return amber.NewStore(a.parts(can)), nil
}

// Parts returns every contract of the agent without asking what the server's backend can do:
// what it cannot do the server says with each call. It touches no network.
func (a *Agent) Parts() amber.Parts { return a.parts(every()) }
