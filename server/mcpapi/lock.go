package mcpapi

import (
	"hash/fnv"
	"sync"

	"github.com/amber-memory/amber"
)

// locks keep those apart who read, change and write back something of one agent
// that has no revision to compare. Agents may share a lock.
type locks [64]sync.Mutex

// of returns the lock of an agent.
func (l *locks) of(tenant amber.TenantID, agent amber.AgentID) *sync.Mutex {
	h := fnv.New32a()
	h.Write([]byte(tenant))
	h.Write([]byte{0})
	h.Write([]byte(agent))
	return &l[h.Sum32()%uint32(len(l))]
}
