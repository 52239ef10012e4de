package measure

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/recall/embed"
	"github.com/amber-memory/amber/internal/recall/packs"
)

func (a *app) evalCommand() *cobra.Command {
	family := cli.Family("eval", a.evalRecallCommand(), a.evalContextCommand())
	family.Long = `Measure how well Amber finds what it keeps, and what it puts before an agent, on sets of
questions whose answers are known. Everything happens in temporary homes, which are gone afterwards;
the user's own home and configuration are not used.`
	return family
}

// Values of --model and --only.
const (
	ModelBuiltin = "builtin"
	ModelNone    = "none"
	OnlyBoth     = "both"
	OnlyWords    = "words"
	OnlyMeaning  = "meaning"
)

// evalFlags are those of both verbs.
type evalFlags struct {
	model, only, models string
	each                bool
}

func (f *evalFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", ModelBuiltin, "the model that tells what is near in meaning: builtin or none")
	fl.StringVar(&f.only, "only", OnlyBoth, "what ranks: words, meaning or both")
	fl.StringVar(&f.models, "models", "", "the folder of packs, as models in a home, that are used beside the built-in model")
	fl.BoolVar(&f.each, "each", false, "also print the outcome of every question")
}

// settings checks the flags and returns the configuration that they ask for, by key.
func (f *evalFlags) settings(cmd *cobra.Command) (map[string]string, error) {
	if err := ownHome(cmd); err != nil {
		return nil, err
	}
	if f.model != ModelBuiltin && f.model != ModelNone {
		return nil, cli.Usage("--model is %q, want builtin or none", cli.OneLine(f.model, 40))
	}
	chosen := cmd.Flags().Changed("model")
	switch f.only {
	case OnlyBoth:
	case OnlyWords:
		if chosen && f.model != ModelNone {
			return nil, cli.Usage("--only words uses no model and does not take --model %s", f.model)
		}
		f.model, chosen = ModelNone, true
	case OnlyMeaning:
		if f.model == ModelNone {
			return nil, cli.Usage("--only meaning needs a model and does not take --model none")
		}
		if !embed.HasBuiltin {
			return nil, amber.Errorf(amber.KindUnsupported, "read command line", "", "--only meaning: this program was built without a model")
		}
	default:
		return nil, cli.Usage("--only is %q, want words, meaning or both", cli.OneLine(f.only, 40))
	}
	set := map[string]string{}
	if chosen {
		set["search.model"] = f.model
	}
	return set, nil
}

// packs returns the folder of the packs that are used, "" for none.
func (f *evalFlags) packs(a *app) (string, error) {
	if f.models == "" {
		return "", nil
	}
	if f.model != ModelBuiltin {
		return "", cli.Usage("--models are beside the built-in model and do not go with --model %s", f.model)
	}
	return a.Absolute(f.models)
}

// withPacks makes a temporary home that has the packs of a folder, "" for none.
func withPacks(home, models string) error {
	if models == "" {
		return nil
	}
	for _, p := range packs.Known() {
		if _, err := os.Stat(filepath.Join(models, p.Name+".model")); err != nil {
			return &amber.Error{Op: "read packs", Kind: amber.KindNotFound, ID: models, Err: err, Hint: "amber index models add " + p.Name + " FILE"}
		}
	}
	return errors.Join(os.MkdirAll(home, evalFoldersMode), os.Symlink(models, filepath.Join(home, "models")))
}

// evalEach measures sets one after the other.
func evalEach[R any](a *app, ctx context.Context, sets []string, measure func(path string) (R, error)) ([]R, error) {
	reports := []R{}
	for _, set := range sets {
		path, err := a.Absolute(set)
		if err != nil {
			return nil, err
		}
		report, err := cli.Working(a.App, "evaluating", func() (R, error) { return measure(path) })
		if ctx.Err() != nil {
			err = cli.Interruption("evaluate")
		}
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

// evalConfig is the configuration of temporary homes: the defaults, the file of
// --config, and settings.
func (a *app) evalConfig(settings map[string]string) (config.Config, error) {
	in := config.Input{Flags: settings}
	if a.Global.Config != "" {
		path, err := a.Absolute(a.Global.Config)
		if err != nil {
			return config.Config{}, err
		}
		in.Path, in.Explicit = path, true
	}
	loaded, err := config.Load(in)
	return loaded.Config, err
}

// ownHome refuses flags that name a home or an agent.
func ownHome(cmd *cobra.Command) error {
	for _, name := range []string{"home", "tenant", "agent", "new-agent"} {
		if cmd.Flags().Changed(name) {
			return cli.Usage("%s makes homes of its own and does not take --%s", cmd.CommandPath(), name)
		}
	}
	return nil
}

// Clock is a clock that stands until it is set.
type Clock struct{ ms atomic.Int64 }

// Set sets the clock.
func (c *Clock) Set(t amber.Time) { c.ms.Store(t.UnixMilli()) }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.ms.Load()).UTC() }

// Forward moves the clock.
func (c *Clock) Forward(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// notOfAmber are the variables of the environment that say nothing about Amber.
func notOfAmber(environ []string) (out []string) {
	for _, kv := range environ {
		key, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(key, "AMBER_") && !strings.HasPrefix(key, "XDG_") && key != "HOME" {
			out = append(out, kv)
		}
	}
	return out
}
