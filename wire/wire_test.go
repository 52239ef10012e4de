package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// An error means the same on both sides of a network.
func TestFailuresTravel(t *testing.T) {
	t.Parallel()
	for _, kind := range amber.Kinds() {
		sent := fmt.Errorf("step: %w", &amber.Error{Op: "write memory", Kind: kind, ID: "x", Err: errors.New("why\nnot"), Hint: "amber help"})
		b := must.Get(json.Marshal(wire.FailureOf(sent)))(t)
		var f wire.Failure
		must.Do(t, json.Unmarshal(b, &f))
		got := f.Err()
		if amber.KindOf(got) != kind || amber.HintOf(got) != "amber help" {
			t.Errorf("%s came back as %s, hint %q", kind, amber.KindOf(got), amber.HintOf(got))
		}
		must.Hides(t, "the message", got.Error(), "\n")
		must.Says(t, "the message", got.Error(), "write memory x: why not")
		must.Equal(t, string(kind)+" is known", kind.Known(), true)
	}
	if amber.Kind("nonsense").Known() {
		t.Error("nonsense is a kind")
	}
}

// Errors that callers compare with are the same values after the journey, and
// others of the same kind are not.
func TestSentinelsTravel(t *testing.T) {
	t.Parallel()
	for _, sentinel := range []error{amber.ErrQueueEmpty, amber.ErrQueueFull} {
		got := wire.FailureOf(fmt.Errorf("claim: %w", sentinel)).Err()
		must.Is(t, "", got, sentinel)
		plain := wire.FailureOf(amber.Errorf(amber.KindOf(sentinel), "x", "", "y")).Err()
		if errors.Is(plain, sentinel) {
			t.Errorf("%v is taken for %v", plain, sentinel)
		}
	}
}

// One table: every kind has a code of its own family in each of the three
// worlds.
func TestEveryKindHasItsCodes(t *testing.T) {
	t.Parallel()
	type codes struct{ Exit, HTTP, MCP int }
	got := map[amber.Kind]codes{}
	for _, k := range append(amber.Kinds(), "unheard_of") {
		got[k] = codes{k.ExitCode(), k.HTTPStatus(), k.MCPCode()}
	}
	want := map[amber.Kind]codes{
		"invalid": {2, 400, -32602}, "not_found": {3, 404, -32002}, "conflict": {4, 409, -32064}, "busy": {4, 409, -32064},
		"damaged": {5, 422, -32065}, "untrusted": {5, 422, -32065}, "refused": {6, 403, -32066}, "quota": {6, 403, -32066},
		"cross_tenant": {6, 403, -32066}, "too_new": {6, 403, -32066}, "unsupported": {6, 403, -32066}, "unreachable": {7, 503, -32067},
		"internal": {1, 500, -32603}, "unheard_of": {1, 500, -32603},
	}
	must.Equal(t, "", got, want)
}

func TestGrants(t *testing.T) {
	t.Parallel()
	one := wire.Grant{Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenRead}}
	tenant := wire.Grant{Tenant: "acme", Scopes: []wire.TokenScope{wire.TokenAdmin}}
	for _, c := range []struct {
		name         string
		grant        wire.Grant
		tenant       amber.TenantID
		agent        amber.AgentID
		reaches, has bool // has write
	}{
		{"its agent", one, "acme", "ada", true, false},
		{"another agent", one, "acme", "bob", false, false},
		{"its tenant as a whole", one, "acme", "", false, false},
		{"another tenant", one, "umbrella", "ada", false, false},
		{"any agent of the tenant", tenant, "acme", "bob", true, true},
		{"the tenant as a whole", tenant, "acme", "", true, true},
		{"another tenant's agent", tenant, "umbrella", "ada", false, true},
		{"nobody", wire.Grant{}, "acme", "ada", true, false},
	} {
		must.Equal(t, c.name+": reaches", c.grant.Reaches(c.tenant, c.agent), c.reaches)
		must.Equal(t, c.name+": may write", c.grant.Has(wire.TokenWrite), c.has)
	}
}

func TestTokenRequests(t *testing.T) {
	t.Parallel()
	ok := wire.TokenRequest{Name: "ci", Tenant: "acme", Scopes: []wire.TokenScope{"write", "read", "write"}}
	got, err := ok.Normalize()
	if err != nil || cmp.Diff([]wire.TokenScope{"read", "write"}, got.Scopes) != "" {
		t.Errorf("%v, %v", got.Scopes, err)
	}
	for name, change := range map[string]func(*wire.TokenRequest){
		"no scope":                   func(r *wire.TokenRequest) { r.Scopes = nil },
		"an unknown scope":           func(r *wire.TokenRequest) { r.Scopes = []wire.TokenScope{"root"} },
		"no name":                    func(r *wire.TokenRequest) { r.Name = " " },
		"a name of two lines":        func(r *wire.TokenRequest) { r.Name = "a\nb" },
		"a tenant that is not valid": func(r *wire.TokenRequest) { r.Tenant = "../x" },
		"an agent of any tenant":     func(r *wire.TokenRequest) { r.Tenant, r.Agent = "", "ada" },
		"an agent that is not valid": func(r *wire.TokenRequest) { r.Agent = "A B" },
		"a name without end":         func(r *wire.TokenRequest) { r.Name = strings.Repeat("x", wire.MaxTokenName+1) },
	} {
		r := ok
		change(&r)
		must.Kind(t, name, must.Err(r.Normalize()), amber.KindInvalid)
	}
}
