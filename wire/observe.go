package wire

import (
	"context"

	"github.com/amber-memory/amber"
)

// Operation is one call of a contract, as an [Observer] gets it. It
// holds no text and no id of a record.
type Operation struct {
	Tenant amber.TenantID
	Agent  amber.AgentID // "" for what concerns a whole tenant
	Layer  string        // "long_term", "snapshots"
	Name   string        // of the method, "write_batch"
}

// Outcome is how an operation ended.
type Outcome struct {
	Err   error // its kind may be told, its text may not
	In    int64 // bytes of content that were handed in
	Out   int64 // bytes of content that came back
	Items int   // records that were read or changed
}

// Observer watches operations and has no say in them. Safe for concurrent use.
type Observer interface {
	// Begin is called when an operation begins. The operation runs in the context
	// it returns. The function is called exactly once, when it has ended.
	Begin(ctx context.Context, op Operation) (context.Context, func(Outcome))
}
