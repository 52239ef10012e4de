package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber"
)

// How many tenants and agents have series of their own. Those that come later are counted together.
const (
	MaxTenants     = 256
	MaxAgents      = 1024 // of all tenants
	MaxAgentsOfOne = 768  // of one tenant, so that none takes the labels of all others
)

// Values of the labels tenant and agent that are no valid ids, so that no tenant and no agent has
// such a name.
const (
	idAll   = "_all"   // it concerns all of them
	idOther = "_other" // one that came after the first MaxTenants or MaxAgents
)

// ids decides which tenants and agents become labels.
type ids struct {
	overflow prometheus.Counter

	mu      sync.Mutex
	tenants map[amber.TenantID]int // how many agents of it are labels
	agents  map[agentName]bool
}

type agentName struct {
	tenant amber.TenantID
	agent  amber.AgentID
}

func newIDs(f promauto.Factory) *ids {
	return &ids{
		overflow: f.NewCounter(counterOpts("label_overflow_total", "Times a tenant or an agent was counted as _other because too many have series of their own.")),
		tenants:  map[amber.TenantID]int{}, agents: map[agentName]bool{},
	}
}

// labels returns the values of the labels tenant and agent.
func (l *ids) labels(tenant amber.TenantID, agent amber.AgentID) (string, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case tenant == "":
		return idAll, idAll
	case !l.knowTenant(tenant):
		l.overflow.Inc()
		return idOther, idOther
	case agent == "":
		return string(tenant), idAll
	case !l.knowAgent(agentName{tenant, agent}):
		l.overflow.Inc()
		return string(tenant), idOther
	}
	return string(tenant), string(agent)
}

// known does the same without making labels for a new tenant or agent: its name may exist nowhere
// but in the request of a caller.
func (l *ids) known(tenant amber.TenantID, agent amber.AgentID) (string, string) {
	l.mu.Lock()
	_, ok := l.tenants[tenant]
	there := agent == "" || l.agents[agentName{tenant, agent}]
	l.mu.Unlock()
	switch {
	case tenant != "" && !ok:
		return idOther, idOther
	case tenant != "" && !there:
		return string(tenant), idOther
	}
	return l.labels(tenant, agent)
}

func (l *ids) knowTenant(t amber.TenantID) bool {
	if _, ok := l.tenants[t]; ok {
		return true
	}
	if _, err := amber.ParseTenantID(string(t)); err != nil || len(l.tenants) >= MaxTenants {
		return false
	}
	l.tenants[t] = 0
	return true
}

func (l *ids) knowAgent(a agentName) bool {
	if l.agents[a] {
		return true
	}
	if _, err := amber.ParseAgentID(string(a.agent)); err != nil || len(l.agents) >= MaxAgents || l.tenants[a.tenant] >= MaxAgentsOfOne {
		return false
	}
	l.agents[a] = true
	l.tenants[a.tenant]++
	return true
}
