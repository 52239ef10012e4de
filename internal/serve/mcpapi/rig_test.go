package mcpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/wire"
)

// everything is the grant of the local user.
var everything = op.Caller{Grant: wire.Grant{Scopes: []wire.TokenScope{wire.TokenAdmin}}}

func holder(tenant amber.TenantID, agent amber.AgentID, scopes ...wire.TokenScope) op.Caller {
	return op.Caller{Grant: wire.Grant{Token: "tok", Tenant: tenant, Agent: agent, Scopes: scopes}, RequestID: "req"}
}

// rig is a desk over agents in memory.
type rig struct {
	t     testing.TB
	desk  *server.Desk
	audit *servertest.Book
	snaps *snapshot.Engine

	mu     sync.Mutex
	agents map[string]*op.Agent
}

// newRig makes a desk with the agents default/default and acme/bot. Time and
// chance are always the same.
func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, audit: &servertest.Book{}, agents: map[string]*op.Agent{}}
	r.desk = &server.Desk{Agents: r, Audit: r.audit}
	r.add("default", "default", 1)
	r.add("acme", "bot", 2)
	return r
}

func (r *rig) add(tenant amber.TenantID, id amber.AgentID, seed byte) *op.Agent {
	r.t.Helper()
	clock, random := tick(), chance(seed)
	store := must.Get(inmem.New(inmem.Options{Clock: clock, Random: random, Incarnation: "i"}))(r.t)
	if r.snaps == nil {
		r.snaps = newEngine(r.t, clock)
	}
	a := &op.Agent{
		Tenant: tenant, ID: id, Store: amber.NewStore(store.Parts()), Policy: policy.Conservative{}, Random: random, Snapshots: r.snaps, Consolidations: r.snaps,
	}
	r.agents[string(tenant)+"/"+string(id)] = a
	r.agents[string(tenant)+"/"] = &op.Agent{Tenant: tenant, Snapshots: r.snaps, Consolidations: r.snaps, Random: random} // what concerns the tenant
	return a
}

// newEngine returns the snapshot engine of a home with the agents of a rig.
var newEngine = servertest.Prepare(server.AgentName{Tenant: "default", Agent: "default"}, server.AgentName{Tenant: "acme", Agent: "bot"})

// Agent implements [server.Agents].
func (r *rig) Agent(_ context.Context, tenant amber.TenantID, id amber.AgentID, _ bool) (*op.Agent, func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.agents[string(tenant)+"/"+string(id)]
	if !ok {
		return nil, nil, op.NotThere()
	}
	return a, func() {}, nil
}

func (r *rig) store() amber.Store { return r.agents["default/default"].Store }

func (r *rig) options(tools string) mcpapi.Options {
	return mcpapi.Options{
		Desk: r.desk, Version: "test", Tools: tools, AllowRestore: true, Clock: tick(),
		Identities: amber.Identities{ProjectID: "acme/shop"},
	}
}

// tick is a clock that advances with each look.
func tick() amber.Clock {
	return servertest.NewClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), time.Second).Read
}

// chance is randomness that is always the same.
func chance(seed byte) io.Reader { return &locked{r: rand.NewChaCha8([32]byte{seed})} }

type locked struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *locked) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

// session connects a client to a server in memory.
func (r *rig) session(o mcpapi.Options, who op.Caller, tenant amber.TenantID, agent amber.AgentID) *client {
	r.t.Helper()
	s := must.Get(mcpapi.NewServer(o, who, tenant, agent))(r.t)
	here, there := mcp.NewInMemoryTransports()
	ctx := context.Background()
	ss := must.Get(s.Connect(ctx, there, nil))(r.t)
	cs := must.Get(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, here, nil))(r.t)
	r.t.Cleanup(func() { must.NoError(r.t, errors.Join(cs.Close(), ss.Wait())) })
	return &client{t: r.t, cs: cs}
}

// local connects the local user with his agent.
func (r *rig) local(tools string) *client {
	r.t.Helper()
	return r.session(r.options(tools), everything, "default", "default")
}

// client calls tools, and holds what they answer against their schemas.
type client struct {
	t  testing.TB
	cs *mcp.ClientSession

	mu      sync.Mutex
	listed  map[string]any // output schemas
	schemas map[string]*jsonschema.Resolved
}

// schema returns the output schema of a tool.
func (c *client) schema(tool string) *jsonschema.Resolved {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed == nil {
		res := must.Get(c.cs.ListTools(context.Background(), nil))(c.t)
		c.listed, c.schemas = map[string]any{}, map[string]*jsonschema.Resolved{}
		for _, t := range res.Tools {
			c.listed[t.Name] = t.OutputSchema
		}
	}
	if s, ok := c.listed[tool]; ok && c.schemas[tool] == nil {
		c.schemas[tool] = resolve(c.t, tool, s)
	}
	return c.schemas[tool]
}

type object = map[string]any

// call calls a tool that must succeed and returns its structured content and
// its text.
func (c *client) call(tool string, args object) (object, string) {
	c.t.Helper()
	res := c.try(tool, args)
	if res.IsError {
		c.t.Fatalf("%s(%v): %s", tool, args, textOf(res))
	}
	out, ok := res.StructuredContent.(object)
	if !ok {
		c.t.Fatalf("%s: the structured content is %T", tool, res.StructuredContent)
	}
	if schema := c.schema(tool); schema == nil {
		c.t.Errorf("%s is not listed", tool)
	} else if err := schema.Validate(out); err != nil {
		c.t.Errorf("%s(%v) does not fit its schema: %v", tool, args, err)
	}
	return out, textOf(res)
}

// out is call for those who want the structured content only.
func (c *client) out(tool string, args object) object {
	c.t.Helper()
	out, _ := c.call(tool, args)
	return out
}

// has checks that an answer has fields with these values; nil is a field that is not there.
func has(t testing.TB, what string, got, want object) {
	t.Helper()
	for name, value := range want {
		must.Equal(t, what+": "+name, got[name], value)
	}
}

// count is how many items a tool answers with in a field.
func (c *client) count(field, tool string, args object) int {
	c.t.Helper()
	return len(c.out(tool, args)[field].([]any))
}

// failsAs calls a tool that must fail with an error of a kind and a text that has
// the words.
func (c *client) failsAs(what string, want amber.Kind, tool string, args object, words ...string) {
	c.t.Helper()
	kind, text := c.fails(tool, args)
	must.Equal(c.t, what, kind, want)
	must.Says(c.t, what, text, words...)
}

// fails calls a tool that must fail and returns the kind and the text.
func (c *client) fails(tool string, args object) (kind amber.Kind, text string) {
	c.t.Helper()
	res := c.try(tool, args)
	if !res.IsError {
		c.t.Fatalf("%s(%v) worked: %s", tool, args, textOf(res))
	}
	var f wire.Failure
	b, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil || !f.Error.Kind.Known() || f.Error.Message == "" {
		c.t.Fatalf("%s: %s is no failure: %v", tool, b, err)
	}
	return f.Error.Kind, textOf(res)
}

func (c *client) try(tool string, args object) *mcp.CallToolResult {
	c.t.Helper()
	res, err := c.cs.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s(%v): %v", tool, args, err)
	}
	return res
}

func textOf(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func (c *client) tools() []string {
	c.t.Helper()
	res := must.Get(c.cs.ListTools(context.Background(), nil))(c.t)
	var names []string
	for _, t := range res.Tools {
		names = append(names, t.Name)
	}
	return names
}

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
