package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/config"
)

// edgeVerb says what a verb, with everything below it, does in the home of an edge, where
// memory.backend is remote. Verbs that take --remote ask the server; others are refused.
const edgeVerb = "amber:edge"

// The values of edgeVerb say what verbs do in the home of an edge.
const (
	edgeSame   = "same"   // as in every home: they open no store, or read the configuration themselves
	edgeHere   = "here"   // they work on the crash journal, which is in the home
	edgeServer = "server" // they ask the server
)

func atEdge(how string, verbs []*cobra.Command) []*cobra.Command {
	for _, v := range verbs {
		mark(v, edgeVerb)
		v.Annotations[edgeVerb] = how
	}
	return verbs
}

// Anywhere marks verbs that do the same wherever memory lies.
func Anywhere(verbs ...*cobra.Command) []*cobra.Command { return atEdge(edgeSame, verbs) }

// OnSpool marks verbs that work on the home of this machine, also where memory lies on a server.
func OnSpool(verbs ...*cobra.Command) []*cobra.Command { return atEdge(edgeHere, verbs) }

// ThroughServer marks verbs that do not take --remote and yet work where memory lies on a server.
func ThroughServer(verbs ...*cobra.Command) []*cobra.Command { return atEdge(edgeServer, verbs) }

// howAtEdge is what a verb does at an edge; "" where only --remote tells.
func howAtEdge(cmd *cobra.Command) string {
	for ; cmd != nil; cmd = cmd.Parent() {
		if how := cmd.Annotations[edgeVerb]; how != "" {
			return how
		}
	}
	return ""
}

// chooseEdge finds out whether the configuration says that memory lies on a server, and leads
// the verb there. Errors: unsupported for a verb that needs a store of this machine; invalid;
// those of reading the token and the certificates.
func (a *App) chooseEdge(cmd *cobra.Command) error {
	how := howAtEdge(cmd)
	if how == edgeSame {
		return nil
	}
	loaded, err := a.LoadConfig()
	if err != nil || !loaded.Config.IsEdge() {
		return nil // what is wrong with it the verb says
	}
	a.Edge = true
	if how == edgeHere {
		return nil
	}
	if err := agent.CheckConfig(loaded.Config); err != nil {
		return err
	}
	to := loaded.Config.Memory.Backends.Remote
	if how != edgeServer && !takesRemote(cmd) {
		return notAtEdge(cmd, to.URL)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Annotations[hereFlag] != nil && f.Name != "home" && f.Name != "config" && err == nil {
			err = Usage("--%s is about this machine and cannot be used where memory.backend is %s", f.Name, config.RemoteBackend)
		}
	})
	if err != nil {
		return err
	}
	o, err := agent.RemoteOptions(to, client.Options{})
	if err != nil {
		return err
	}
	if a.Remote, err = a.remoteAt(o, loaded.Config.Memory.Write.MaxBatchSize); err == nil {
		a.Remote.edge = &loaded
	}
	return err
}

// notAtEdge is the error about a verb that needs a store of this machine.
func notAtEdge(cmd *cobra.Command, url string) error {
	e := amber.Errorf(amber.KindUnsupported, "choose store", "", "%s works on a store of this machine, and memory.backend is %s: memory lies on the server at %s", cmd.CommandPath(), config.RemoteBackend, url)
	if cmd.Name() == "ui" {
		return e.WithHint("open " + strings.TrimSuffix(url, "/") + "/ui/ in a browser")
	}
	return e.WithHint("run " + cmd.CommandPath() + " on the machine of the server")
}

// openEdge opens the agent of an edge as its configuration says. The server is not asked yet,
// and nothing is made here.
func (a *App) openEdge(ctx context.Context) (*Opened, error) {
	o, err := a.AgentOptions(&a.Remote.edge.Config)
	if err != nil {
		return nil, err
	}
	at, err := agent.Look(ctx, o)
	if err != nil {
		return nil, err
	}
	a.NoteClamped(a.Remote.edge.Clamped)
	s := a.Remote.closed()
	s.Spool, s.Resolved = at, newOpened(at, *a.Remote.edge).Resolved
	return s, nil
}
