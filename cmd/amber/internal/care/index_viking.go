package care

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/store/openviking"
)

// feedViking gives the OpenViking server what it does not have yet; anew: everything again.
func (a *app) feedViking(ctx context.Context, x agent.Index, anew bool) error {
	v := x.Viking()
	if v == nil {
		return nil
	}
	_, err := cli.Working(a.App, "feeding OpenViking", func() (done bool, err error) {
		for try := 0; try < feedTries && err == nil && !done; try++ {
			done, err = a.feedOnce(ctx, v, anew && try == 0)
		}
		if err == nil && !done {
			err = amber.Errorf(amber.KindBusy, "feed openviking", "", "some files are still busy with their vectors").WithHint("amber index status")
		}
		return done, err
	})
	if err != nil && ctx.Err() != nil {
		return &amber.Error{Op: "index", Kind: amber.KindUnreachable, Err: cli.Interruption("index"), Hint: "amber index sync goes on"}
	}
	return err
}

// feedTries is how often a feed goes on with files that were busy: the server lets them go when their
// vectors are made.
const feedTries = 5

// feedOnce feeds the server and waits for vectors. Done says that nothing is left.
func (a *app) feedOnce(ctx context.Context, v *openviking.Store, anew bool) (done bool, err error) {
	err = a.whenFree(ctx, func() error {
		var r openviking.Report
		var err error
		if anew {
			r, err = v.Rebuild(ctx)
		} else {
			r, err = v.Feed(ctx, openviking.Budget{Force: true})
		}
		done = r.Done
		return err
	})
	if err != nil {
		return false, err
	}
	most := 0
	return done, v.Await(ctx, func(missing int) {
		most = max(most, missing)
		a.Meter.Set("vectors", int64(most-missing), int64(most))
	})
}

// feedPatience is how long a command waits for another process that feeds the server.
const feedPatience = 30 * time.Second

// whenFree calls fn, again and again while another process feeds the server, for a while.
func (a *app) whenFree(ctx context.Context, fn func() error) error {
	for end := a.Clock().Add(feedPatience); ; {
		err := fn()
		if amber.KindOf(err) != amber.KindBusy || a.Clock().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (a *app) printViking(w io.Writer, s openviking.Status) {
	fmt.Fprintf(w, "\n%-10s %s\n", "openviking", cli.OneLine(s.URL, 200))
	if s.Version != "" {
		fmt.Fprintf(w, "%-10s %s, %s\n", "version", cli.OneLine(s.Version, 40), cli.OneLine(s.AuthMode, 40))
	}
	if s.Root != "" {
		fmt.Fprintf(w, "%-10s %s\n", "folder", cli.OneLine(s.Root, 300))
	}
	behind := fmt.Sprint(s.Behind)
	if s.More {
		behind = "more than " + behind
	}
	if !s.Oldest.IsZero() {
		behind += ", since " + a.Out.When(s.Oldest)
	}
	fmt.Fprintf(w, "%-10s %s\n", "behind", behind)
	for _, q := range s.Quarantined {
		a.Out.Note("%s is not on the server: %s", cli.ShortID(string(q.ID)), cli.OneLine(q.Reason, 300))
	}
	if s.Uncounted > 0 {
		a.Out.Note("%s more are not on the server", words.Count(int64(s.Uncounted), "memory", "memories"))
	}
	if s.NoVector > 0 {
		a.Out.Note("%s no vector yet", words.Count(int64(s.NoVector), "file has", "files have"))
	}
	if s.Busy > 0 {
		a.Out.Note("%s not up to date: files are busy with their vectors, or damaged", words.Count(int64(s.Busy), "memory is", "memories are"))
	}
	if s.Unchecked {
		a.Out.Note("whether all files are there, with their vectors, is looked at by amber serve, or by amber index sync")
	}
	switch {
	case s.Problem != "":
		a.Out.Note("the server cannot be used: %s", cli.OneLine(s.Problem, 300))
	case s.Stopped:
		a.Out.Note("feeding has stopped, and is tried again once a minute, or by amber index sync: %s", cli.OneLine(s.LastError, 300))
	case s.Compare:
		a.Out.Note("amber index sync compares the server with the store")
	case s.Behind > 0:
		a.Out.Note("amber index sync feeds the server")
	}
}

// verifyViking compares the server with what is stored; nil where there is none.
func (a *app) verifyViking(ctx context.Context, x agent.Index, deep bool) (*openviking.Verification, error) {
	v := x.Viking()
	if v == nil {
		return nil, nil
	}
	found, err := cli.Working(a.App, "verifying OpenViking", func() (openviking.Verification, error) { return v.Verify(ctx, deep) })
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// namesShown is how many names of each kind are printed; --json has up to 1000.
const namesShown = 10

func printVerification(w io.Writer, v *openviking.Verification) {
	if v.Clean() {
		fmt.Fprintf(w, "OpenViking has what it should: %s\n", words.Count(int64(v.Files), "file", "files"))
	}
	for _, one := range []struct {
		what string
		openviking.Names
	}{
		{"missing", v.Missing}, {"out of date", v.Stale}, {"without a vector", v.NoVector}, {"with other bytes", v.Torn}, {"with a name that is not Amber's", v.Strange},
	} {
		if one.Count == 0 {
			continue
		}
		fmt.Fprintf(w, "OpenViking: %s %s\n", words.Count(int64(one.Count), "file", "files"), one.what)
		for _, name := range one.First[:min(len(one.First), namesShown)] {
			fmt.Fprintf(w, "  %s\n", cli.OneLine(name, 300))
		}
	}
	if !v.Vectors {
		fmt.Fprintln(w, "OpenViking: whether other files have their vectors was not checked, for the server names only some that have none")
	}
	if v.Behind > 0 {
		fmt.Fprintf(w, "OpenViking: %s not fed yet\n", words.Count(int64(v.Behind), "change is", "changes are"))
	}
	switch {
	case v.Clean():
	case v.Noted:
		fmt.Fprintln(w, "amber index sync mends what is Amber's")
	default:
		fmt.Fprintln(w, "amber index sync mends what is Amber's; not all of this was noted for it, since the server is fed just now or it is too much, so verify again behind it")
	}
}

// errNoViking says that no server stands beside the store.
func errNoViking(op string) error {
	return amber.Errorf(amber.KindUnsupported, op, "", "memory.backend is not openviking, so there is no OpenViking server").WithHint("docs/openviking.md")
}

func (a *app) indexCalibrateCommand() *cobra.Command {
	return cli.Verb("calibrate", func(cmd *cobra.Command, _ []string) error {
		return a.withIndex(cmd, func(ctx context.Context, x agent.Index) error {
			v := x.Viking()
			if v == nil {
				return errNoViking("calibrate")
			}
			c, err := cli.Working(a.App, "asking OpenViking", func() (openviking.Calibration, error) { return v.Calibrate(ctx) })
			if err != nil {
				return err
			}
			return a.Out.Show(c, func(w io.Writer) { printCalibration(w, c) })
		})
	})
}

func printCalibration(w io.Writer, c openviking.Calibration) {
	fmt.Fprintf(w, "%-8s %7s %7s %7s %7s %7s %7s\n", "", "count", "min", "10 %", "median", "90 %", "max")
	for _, row := range []struct {
		name string
		openviking.Spread
	}{{"right", c.Known}, {"others", c.Others}} {
		fmt.Fprintf(w, "%-8s %7d %7.3f %7.3f %7.3f %7.3f %7.3f\n", row.name, row.Count, row.Min, row.P10, row.Median, row.P90, row.Max)
	}
	if c.Lost > 0 {
		fmt.Fprintf(w, "%s not found by its own title\n", words.Count(int64(c.Lost), "memory was", "memories were"))
	}
	if c.MinScore > 0 {
		fmt.Fprintf(w, "memory.backends.openviking.min_score: %.2f\n", c.MinScore)
		return
	}
	fmt.Fprintln(w, "right ones and others cannot be told apart by their scores")
}

// Provisioned is the JSON of index provision.
type Provisioned struct {
	Account string `json:"account"`
	User    string `json:"user"`
	KeyFile string `json:"key_file"`
	// True for what the command made: the others were there before.
	MadeAccount bool `json:"made_account"`
	MadeUser    bool `json:"made_user"`
	MadeKey     bool `json:"made_key"`
}

func (a *app) indexProvisionCommand() *cobra.Command {
	var rootKey string
	renew := false
	cmd := cli.Verb("provision", func(cmd *cobra.Command, _ []string) error {
		return a.withIndex(cmd, func(ctx context.Context, x agent.Index) error {
			if x.Viking() == nil {
				return errNoViking("provision")
			}
			key, err := a.rootKey(rootKey)
			if err != nil {
				return err
			}
			p, err := x.Provision(ctx, key, renew)
			if err != nil {
				return err
			}
			done := Provisioned(p)
			return a.Out.Show(done, func(w io.Writer) { printProvisioned(w, done) })
		})
	})
	cmd.Flags().StringVar(&rootKey, "root-key-file", "", "the file with the root key of the server; - reads it from stdin")
	cmd.Flags().BoolVar(&renew, "renew", false, "make a new key also where there is one")
	return cmd
}

// rootKey reads the key that makes accounts.
func (a *app) rootKey(file string) (key string, err error) {
	switch file {
	case "":
		return "", cli.Usage("--root-key-file is missing: it names the file with the root key of the server, - reads it from stdin")
	case "-":
		key, err = a.Text("-", cli.MaxSecret)
	default:
		key, err = a.SecretFile("read root key", file)
	}
	if key = strings.TrimSpace(key); err == nil && key == "" {
		err = amber.Errorf(amber.KindInvalid, "read root key", file, "the file is empty")
	}
	return key, err
}

func printProvisioned(w io.Writer, p Provisioned) {
	made := map[bool]string{true: "made", false: "was there"}
	fmt.Fprintf(w, "account %s: %s\n", cli.Flat(p.Account), made[p.MadeAccount])
	fmt.Fprintf(w, "user %s: %s\n", cli.Flat(p.User), made[p.MadeUser])
	fmt.Fprintf(w, "key in %s: %s\n", cli.Flat(p.KeyFile), made[p.MadeKey])
}
