package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/base/term"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// hookFlags are those of `hook`.
type hookFlags struct {
	event   string
	timeout time.Duration
	context time.Duration
	noDrain bool

	contextSaid bool // --context-timeout was given
}

func (a *app) hookCommand() *cobra.Command {
	var f hookFlags
	cmd := cli.Verb("hook", func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return cli.Usage("hook needs HOST: %s", hostNames())
		case len(args) > 2:
			return cli.Usage("hook does not take %q", args[2])
		}
		f.contextSaid = cmd.Flags().Changed("context-timeout")
		return a.hook(cmd.Context(), f, args)
	})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&f.event, "event", "", "the host's name of the event; a name in the JSON wins")
	cli.SpanVar(cmd.Flags(), &f.timeout, "timeout", hook.DefaultTimeout, "how long writing to disk may take")
	cli.SpanVar(cmd.Flags(), &f.context, "context-timeout", 0, "how long finding memories for the agent may take (default context.budget; 0: do not look)")
	cmd.Flags().BoolVar(&f.noDrain, "no-drain", false, "leave the event in the journal")
	return cmd
}

func hostNames() string { return strings.Join(cli.Texts(hook.Hosts()), ", ") }

// IsHook reports whether a command line is that of a hook, whatever else is
// wrong with it.
func IsHook(root *cobra.Command, args []string) bool {
	if cmd, _, err := root.Find(args); err == nil && cmd != root {
		return cmd.Name() == "hook" && cmd.Parent() == root
	}
	for _, arg := range args {
		for _, cmd := range root.Commands() {
			if cmd.Name() == arg {
				return arg == "hook"
			}
		}
	}
	return false
}

// RunHook runs a hook. Whatever happens the answer is 0: hosts take 2, which
// is also what a panic ends with, for the order to stop what they do.
func RunHook(ctx context.Context, c *cli.App, root *cobra.Command) int {
	a := &app{c}
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(a.Stderr, "amber: hook: panic: %v\n", r)
		}
	}()
	// A host that does not listen any more is no reason to die.
	signal.Ignore(syscall.SIGPIPE)
	if err := root.ExecuteContext(ctx); err != nil {
		a.Global.JSON = false // stdout is the host's
		a.Fail(err, nil)
	}
	return 0
}

// hook keeps one event, answers the host and starts a drain, unless a server will drain.
func (a *app) hook(ctx context.Context, f hookFlags, args []string) error {
	loaded, configErr := a.hookConfig()
	if configErr != nil { // no reason to lose what an agent did
		loaded.Config = config.Default()
		defer func() { a.Out.Note("%v; went on with the defaults", configErr) }()
	}
	if !loaded.Config.Memory.Enabled {
		return nil
	}
	at, err := a.Closed(&loaded.Config)
	if err != nil {
		return err
	}
	j, err := at.Journal()
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			_ = j.CountLoss(fmt.Errorf("panic: %v", r))
			panic(r)
		}
	}()
	host, err := hook.ParseHost(args[0])
	if err != nil {
		return errors.Join(err, j.CountLoss(err))
	}
	ev, has, unfinished := a.readEvent(ctx, host, f.event, args[1:], loaded.Config.Redactor())
	// A signal that ends the host comes just when there is something to keep;
	// how long that may take is bounded.
	if err := (hook.Keeper{Journal: j, Timeout: f.timeout}).Keep(context.WithoutCancel(ctx), ev); err != nil {
		return fmt.Errorf("the event was not kept: %w", err)
	}
	if unfinished() {
		err := amber.Errorf(amber.KindUnreachable, "hook", "", "the host stopped in the middle of the event; only its beginning was kept")
		a.Out.Note("%v", errors.Join(err, j.CountLoss(err)))
	}
	var errs []error
	served := false
	if hook.WantsContext(ev) {
		served, err = a.injectContext(ctx, f, loaded, at, j, ev, has)
		errs = append(errs, err)
	}
	if !f.noDrain && !served { // a server that knows the agent drains its journal every second
		errs = append(errs, a.drainLater(at))
	}
	return errors.Join(errs...)
}

// hookConfig is the configuration; where there is none at all it is known
// without asking.
func (a *app) hookConfig() (config.Loaded, error) {
	said := a.Global.Config != ""
	for _, kv := range a.Environ {
		key, _, _ := strings.Cut(kv, "=")
		said = said || strings.HasPrefix(key, "AMBER_") && strings.Contains(key, "__")
	}
	if _, err := os.Lstat(config.DefaultPath(a.Getenv)); !said && errors.Is(err, fs.ErrNotExist) {
		return config.Loaded{Config: config.Default()}, nil
	}
	return a.LoadConfig()
}

// readEvent reads what the host says, and which project its folder has. Unfinished reports whether Amber gave
// up reading before the host came to an end.
func (a *app) readEvent(ctx context.Context, host hook.Host, name string, args []string, rules *redact.Redactor) (ev journal.HostEvent, has project.Grant, unfinished func() bool) {
	in := hook.Input{
		Host: host, Event: name, At: amber.At(a.Clock()), Process: proc.Host(),
		Redact: rules,
		Project: func(dir string) string {
			ctx, cancel := context.WithTimeout(ctx, placing)
			defer cancel()
			has = a.Project(ctx, dir)
			return has.ID
		},
		Files: &hook.Files{Home: a.UserHome(), Env: a.Getenv, Wait: transcriptWait()},
	}
	in.Directory, _ = a.Directory()
	unfinished = func() bool { return false }
	if len(args) > 0 {
		in.Payload = strings.NewReader(args[0])
	} else if f, ok := a.Stdin.(*os.File); !ok || !term.Is(f) {
		p := cli.NewPatient(a.Stdin)
		in.Payload, unfinished = p, func() bool { return p.GaveUp }
	}
	ev = hook.Read(in)
	return ev, has, unfinished
}

// placing is how long a hook may take to find out whether the home holds the project that a folder claims which the
// home does not know.
const placing = time.Second

// A host may write the answer to its transcript while the hook for the end of
// the turn runs. Copilot CLI takes about a tenth of a second.
const (
	transcriptLook     = 25 * time.Millisecond
	transcriptPatience = time.Second
)

// transcriptWait returns what waits for a host to write more: a moment each time,
// and false when patience is at an end.
func transcriptWait() func() bool {
	left := int(transcriptPatience / transcriptLook)
	return func() bool {
		if left--; left < 0 {
			return false
		}
		<-time.After(transcriptLook)
		return true
	}
}

// drainLater starts a drain in the background unless there is one.
func (a *app) drainLater(at *agent.Agent) error {
	if drains, err := at.DrainsInBackground(); drains || err != nil {
		return err
	}
	self, err := a.Program()
	if err != nil {
		return err
	}
	dir := at.Home().Dir()
	args := []string{"journal", "drain", "--detached", "--home", dir, "--tenant", a.Global.Tenant, "--agent", a.Global.Agent}
	if a.Global.Config != "" {
		path, err := a.Absolute(a.Global.Config)
		if err != nil {
			return err
		}
		args = append(args, "--config", path)
	}
	cmd := exec.Command(self, args...) // stdin, stdout and stderr are the null device
	cmd.Env, cmd.Dir = a.Environ, dir
	cli.Detach(cmd)
	cli.KeepFiles()
	if err := cmd.Start(); err != nil {
		return &amber.Error{Op: "start drain", Kind: amber.KindInternal, Err: err, Hint: "amber journal drain"}
	}
	return cmd.Process.Release()
}
