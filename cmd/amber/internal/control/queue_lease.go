package control

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// leaseFlags name a lease.
type leaseFlags struct{ amber.Lease }

func (f *leaseFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.EntryID, "entry", "", "the entry")
	fl.StringVar(&f.ConsumerID, "consumer", "", "who took it")
	fl.StringVar(&f.Token, "token", "", "the token of the lease")
	fl.Int64Var(&f.Fence, "fence", 0, "the fence of the lease")
}

// leaseFields are the names of those flags.
func leaseFields() []string { return []string{"entry", "consumer", "token", "fence"} }

// leaseDocument is a lease as JSON, alone or inside the claim it came with.
type leaseDocument struct {
	amber.Lease
	Claimed  *amber.Lease    `json:"lease"`
	Envelope *amber.Envelope `json:"envelope"`
}

// read returns the lease of the flags, or of stdin for the argument "-".
func (f leaseFlags) read(a *app, cmd *cobra.Command, args []string) (amber.Lease, error) {
	if len(args) == 0 {
		return f.Lease, f.check(cmd)
	}
	if args[0] != "-" {
		return amber.Lease{}, cli.Usage("%s takes flags, or - for a claim or lease as JSON, not %q", cmd.CommandPath(), cli.OneLine(args[0], 40))
	}
	for _, name := range leaseFields() {
		if cmd.Flags().Changed(name) {
			return amber.Lease{}, cli.Usage("--%s cannot be used with -", name)
		}
	}
	var doc leaseDocument
	if err := a.ReadJSON("lease", &doc); err != nil {
		return amber.Lease{}, err
	}
	lease := doc.Lease
	if doc.Claimed != nil {
		lease = *doc.Claimed
	}
	return lease, checkLease(lease)
}

// check says which flag is missing.
func (f leaseFlags) check(cmd *cobra.Command) error {
	for _, name := range leaseFields() {
		if !cmd.Flags().Changed(name) {
			return cli.Usage("%s needs --%s, or - for a claim or lease as JSON on stdin", cmd.CommandPath(), name)
		}
	}
	return checkLease(f.Lease)
}

func checkLease(l amber.Lease) error {
	for _, id := range [][2]string{{"entry id", l.EntryID}, {"consumer id", l.ConsumerID}, {"token", l.Token}} {
		if err := amber.CheckID(id[0], id[1]); err != nil {
			return err
		}
	}
	return nil
}

// leaseCommand is a verb about one lease.
func (a *app) leaseCommand(name string, flags func(*pflag.FlagSet), do func(ctx context.Context, s *cli.Opened, l amber.Lease) error) *cobra.Command {
	var f leaseFlags
	cmd := cli.Verb(name, func(cmd *cobra.Command, args []string) error {
		lease, err := f.read(a, cmd, args)
		if err != nil {
			return err
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error { return do(ctx, s, lease) })
	})
	f.add(cmd)
	if flags != nil {
		flags(cmd.Flags())
	}
	return cmd
}

// settled is the answer of ack and nack.
type settled struct {
	EntryID string `json:"entry_id"`
	Status  string `json:"status"` // acked or nacked
}

func (a *app) showSettled(entry, status string) error {
	return a.Out.Show(settled{entry, status}, func(w io.Writer) { fmt.Fprintln(w, status, cli.Flat(entry)) })
}

func (a *app) queueAckCommand() *cobra.Command {
	return a.leaseCommand("ack", nil, func(ctx context.Context, s *cli.Opened, l amber.Lease) error {
		if err := s.Store.Queue.Ack(ctx, l); err != nil {
			return err
		}
		return a.showSettled(l.EntryID, "acked")
	})
}

func (a *app) queueNackCommand() *cobra.Command {
	var reason, notBefore string
	return a.leaseCommand("nack", func(fl *pflag.FlagSet) {
		fl.StringVar(&reason, "reason", "", "why")
		fl.StringVar(&notBefore, "not-before", "", "do not hand it out before this time: "+cli.TimeForms+" from now")
	}, func(ctx context.Context, s *cli.Opened, l amber.Lease) error {
		at, err := a.Future("not-before", notBefore)
		if err != nil {
			return err
		}
		if err := s.Store.Queue.Nack(ctx, amber.Nack{Lease: l, Reason: reason, NotBefore: at}); err != nil {
			return err
		}
		return a.showSettled(l.EntryID, "nacked")
	})
}

func (a *app) queueRenewCommand() *cobra.Command {
	return a.leaseCommand("renew", nil, func(ctx context.Context, s *cli.Opened, l amber.Lease) error {
		return cli.Answer(s.Store.QueueKeeper.Renew(ctx, l))(a.Out, func(w io.Writer, renewed amber.Lease) {
			fmt.Fprintf(w, "%s until %s\n", cli.Flat(renewed.EntryID), renewed.ExpiresAt)
		})
	})
}
