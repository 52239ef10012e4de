package postgres_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
)

// Where logs end is known for many agents by one statement, and changes with every write and with no other.
func TestEnds(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	var names []postgres.AgentName
	for i := range 3 {
		n := postgres.AgentName{Tenant: "acme", Agent: amber.AgentID(fmt.Sprint("agent", i))}
		must.Do(t, must.Get(s.Open(t.Context(), n.Tenant, n.Agent, postgres.Options{}))(t).Close())
		names = append(names, n)
	}
	must.Equal(t, "everybody", must.Get(s.Everybody(t.Context()))(t), names)
	before := must.Get(s.Ends(t.Context(), append(names, postgres.AgentName{Tenant: "acme", Agent: "nobody"})))(t)
	must.Equal(t, "agents that are there", len(before), 3)

	st := must.Get(s.Open(t.Context(), "acme", "agent1", postgres.Options{}))(t)
	must.Get(st.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: "The staging database is called heron"}))(t)
	after := must.Get(s.Ends(t.Context(), names))(t)
	for i, n := range names {
		must.Equal(t, "the end of "+string(n.Agent)+" is another", after[n] != before[n], i == 1)
		must.Equal(t, "generation", after[n].Generation, before[n].Generation)
	}
	must.Do(t, st.Close())
	must.Equal(t, "nobody", len(must.Get(s.Ends(t.Context(), nil))(t)), 0)
}
