package capture

import (
	"context"
	"os"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/wire"
)

// nearSockets returns the sockets at which another process may answer hooks of an agent: that of the server of
// its home, then that of the process that drains its journal.
func (a *app) nearSockets(at *agent.Agent) (sockets []string) {
	if socket := hooksocket.OfServer(at.Home().Dir()); hasName(socket) {
		sockets = append(sockets, socket)
	}
	if socket, err := hooksocket.OfHolder(at.BackgroundLock(), a.Getenv, false); err == nil && hasName(socket) {
		sockets = append(sockets, socket)
	}
	return sockets
}

func hasName(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// askNear asks the first process that answers at one of the sockets, and names its socket. Taken is
// closed when a process takes the request; that process gives the answer. Errors: that of the
// last process that was asked.
func (a *app) askNear(ctx context.Context, sockets []string, c config.Config, r wire.ContextRequest, taken chan struct{}) (got answered) {
	q := wire.NearRequest{
		Build: hooksocket.Build(a.Version, a.Commit), Settings: c.ContextDigest(),
		Tenant: amber.TenantID(a.Global.Tenant), Agent: amber.AgentID(a.Global.Agent), Request: r,
	}
	for _, socket := range sockets {
		got.socket = socket
		got.block, got.err = hooksocket.Ask(ctx, socket, q, taken)
		select {
		case <-taken:
			return got
		default:
		}
		if got.err == nil || ctx.Err() != nil {
			return got
		}
	}
	return got
}
