package metrics

import "github.com/amber-memory/amber"

// AgentGauges is what a look at an agent has shown. A part that is nil was not looked at and is not
// shown.
type AgentGauges struct {
	Tenant amber.TenantID
	Agent  amber.AgentID // "": it is about the tenant

	Memory     *MemoryGauges
	Journal    *JournalGauges
	Snapshots  *SnapshotGauges
	Queue      *amber.Backpressure
	Sync       *SyncGauges
	Repository *RepositoryGauges // of the tenant
}

// MemoryGauges is what an agent's store holds.
type MemoryGauges struct {
	Memories int64 // live
	Sessions int64
	Bytes    int64 // on disk
}

// JournalGauges is what the crash journal of an agent holds.
type JournalGauges struct {
	Undrained   int64      // entries the store has not taken yet
	Oldest      amber.Time // of them; absent without one
	Bytes       int64
	Quarantined int64 // files
	Damaged     int64 // places
}

// SnapshotGauges is what there is of an agent's snapshots.
type SnapshotGauges struct {
	Count int64
	// Newest is the instant the newest one holds, Bytes what it holds and
	// BytesNew what had to be stored for it; zero without one.
	Newest          amber.Time
	Bytes, BytesNew int64
	Damaged         int64 // whose manifest cannot be read
}

// SyncGauges is what sync has left to people.
type SyncGauges struct {
	Conflicts int64 // memories
}

// RepositoryGauges is what a tenant's repository takes.
type RepositoryGauges struct {
	Stored int64 // bytes in the repository
	Total  int64 // bytes its snapshots hold, each counted whole
}
