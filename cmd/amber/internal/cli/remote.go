package cli

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/config"
)

// Variables that stand in for flags.
const (
	RemoteVariable    = "AMBER_REMOTE"
	TokenFileVariable = "AMBER_TOKEN_FILE"
	remoteCAVariable  = "AMBER_REMOTE_CA"
)

// remote is an agent that is served elsewhere.
type remote struct {
	client  *client.Client
	Agent   *client.Agent
	tenant  amber.TenantID
	id      amber.AgentID
	batch   int // memories in one batch
	Address string
	edge    *config.Loaded // the configuration that leads there; nil: a flag or a variable does
}

// Home is what belongs to the server and to no agent: tokens and the audit log.
func (r *remote) Home() *client.Client { return r.client }

// AddRemoteFlags adds --remote and what it needs.
func (a *App) AddRemoteFlags(f *pflag.FlagSet) {
	f.StringVar(&a.Global.remote, "remote", "", "use the server at this URL instead of a home of this machine (default $"+RemoteVariable+")")
	f.StringVar(&a.Global.tokenFile, "token-file", "", "a file with the token for --remote (default $"+TokenFileVariable+")")
	f.StringVar(&a.Global.remoteCA, "remote-ca", "", "a PEM file with the certificates to trust for --remote (default $"+remoteCAVariable+", else those of the system)")
}

// hereFlag marks a flag that is about a home, files or keys of this machine.
const hereFlag = "amber:here"

// OnlyHere marks flags that do not go with --remote.
func OnlyHere(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, hereFlag, []string{"yes"}); err != nil {
			panic("amber: " + err.Error()) // there is no such flag
		}
	}
}

// ChooseRemote finds out whether the verb works on a server.
func (a *App) ChooseRemote(cmd *cobra.Command) error {
	if onlyHolds(cmd) {
		return nil
	}
	address, err := a.remoteAddress(cmd)
	if err != nil {
		return err
	}
	if address == "" {
		return a.chooseEdge(cmd)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Annotations[hereFlag] != nil && err == nil {
			err = Usage("--%s is about this machine and cannot be used with --remote or $%s", f.Name, RemoteVariable)
		}
	})
	if err == nil {
		a.Remote, err = a.newRemote(address)
	}
	return err
}

// remoteAddress is the URL of the server that the verb works on, "" when it
// works on a home. The environment alone changes nothing for verbs that know
// homes only, and a home that is named on the command line beats it.
func (a *App) remoteAddress(cmd *cobra.Command) (string, error) {
	takes, address := takesRemote(cmd), a.Global.remote
	if takes && address == "" && !cmd.Flags().Changed("home") {
		address = a.Getenv(RemoteVariable)
	}
	for _, name := range []string{"remote", "token-file", "remote-ca"} {
		switch f := cmd.Flag(name); {
		case !f.Changed:
		case !takes:
			return "", Usage("%s works on a home of this machine and does not take --%s", cmd.CommandPath(), name)
		case f.Value.String() == "":
			return "", Usage("--%s is empty", name)
		case address == "":
			return "", Usage("--%s needs --remote", name)
		}
	}
	return address, nil
}

// newRemote makes what speaks to the server. It touches no network.
func (a *App) newRemote(address string) (*remote, error) {
	o := client.Options{URL: address}
	var err error
	if path := cmp.Or(a.Global.tokenFile, a.Getenv(TokenFileVariable)); path != "" {
		if path, err = a.Absolute(path); err != nil {
			return nil, err
		}
		if o.Token, err = agent.ReadToken(path); err != nil {
			return nil, err
		}
	}
	if path := cmp.Or(a.Global.remoteCA, a.Getenv(remoteCAVariable)); path != "" {
		if path, err = a.Absolute(path); err != nil {
			return nil, err
		}
		if o.TLS, err = agent.ReadCertificates(path); err != nil {
			return nil, err
		}
	}
	// The server has a configuration of its own; how much is sent at once is
	// up to this side.
	config, err := config.Load(config.Input{Environ: a.Environ})
	if err != nil {
		return nil, err
	}
	return a.remoteAt(o, config.Config.Memory.Write.MaxBatchSize)
}

// remoteAt is the agent of the flags at a server.
func (a *App) remoteAt(o client.Options, batch int) (*remote, error) {
	r := &remote{tenant: amber.TenantID(a.Global.Tenant), id: amber.AgentID(a.Global.Agent), batch: batch, Address: o.URL}
	var err error
	if r.client, err = client.New(o); err != nil {
		return nil, err
	}
	r.Agent, err = r.client.Agent(r.tenant, r.id)
	return r, err
}

// Followed is where links lead to: mounted secrets and the certificates of the
// system often are links.
func (a *App) Followed(file string) string {
	if path, err := a.Absolute(file); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
	return file
}

// openRemote opens the agent at its server.
func (a *App) openRemote(ctx context.Context) (*Opened, error) {
	if a.Remote.edge != nil {
		return a.openEdge(ctx)
	}
	return a.Remote.open(ctx)
}

// open asks the server what the agent's store can do.
func (r *remote) open(ctx context.Context) (*Opened, error) {
	s := r.closed()
	var err error
	s.Store, err = r.Agent.Store(ctx)
	return s, err
}

// closed is the agent before anybody was asked.
func (r *remote) closed() *Opened {
	defaults := config.Default()
	defaults.Memory.Write.MaxBatchSize = r.batch
	defaults.Snapshot.Retention = config.Retention{} // the server's is not known
	return &Opened{
		Remote: r, Config: config.Loaded{Config: defaults},
		Resolved: config.Resolved{Store: amber.NewStore(amber.Parts{}), Close: r.client.Close},
	}
}

// remoteFrozen opens what a verb about snapshots needs.
func (a *App) remoteFrozen(ctx context.Context, need LiveAgent) (*Opened, error) {
	if need == MayBeOpened || need == MustBeOpened {
		return a.openRemote(ctx)
	}
	return a.Remote.closed(), nil
}

// OnThisMachine refuses what a server has no operation for.
func (a *App) OnThisMachine(op string) error {
	if a.Remote == nil {
		return nil
	}
	return amber.Errorf(amber.KindUnsupported, op, "", "the server at %s has no such operation", a.Remote.Address).
		WithHint("run it on the machine of the server, without --remote")
}
