package care

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
)

func (a *app) configCommand() *cobra.Command {
	return cli.Family("config",
		a.configShowCommand(), a.configCheckCommand(), a.configPathCommand(),
	)
}

// configuration is the JSON of config show.
type configuration struct {
	Path    string         `json:"path"`
	Found   bool           `json:"found"`
	Values  []config.Value `json:"values"`
	Clamped []amber.Clamp  `json:"clamped"`
}

func (a *app) configShowCommand() *cobra.Command {
	return cli.Verb("show", func(*cobra.Command, []string) error {
		l, err := a.LoadConfig()
		if err != nil {
			return err
		}
		a.NoteClamped(l.Clamped)
		c := configuration{l.Path, l.FileFound, l.Values, append([]amber.Clamp{}, l.Clamped...)}
		return a.Out.Show(c, func(w io.Writer) { printConfiguration(w, c) })
	})
}

func printConfiguration(w io.Writer, c configuration) {
	cli.TableOf(w, []string{"KEY", "VALUE", "SOURCE"}, c.Values, func(v config.Value) []string {
		return []string{v.Key, fmt.Sprint(v.Value), string(v.Source)}
	})
}

// configVerdict is the JSON of config check.
type configVerdict struct {
	Path    string        `json:"path"`
	Found   bool          `json:"found"`
	OK      bool          `json:"ok"`
	Clamped []amber.Clamp `json:"clamped"`
}

func (a *app) configCheckCommand() *cobra.Command {
	return cli.Verb("check", func(*cobra.Command, []string) error {
		l, err := a.LoadConfig()
		if err != nil {
			return err
		}
		if err := agent.CheckConfig(l.Config); err != nil {
			return err
		}
		a.NoteClamped(l.Clamped)
		v := configVerdict{l.Path, l.FileFound, true, append([]amber.Clamp{}, l.Clamped...)}
		return a.Out.Show(v, func(w io.Writer) { fmt.Fprintln(w, "configuration is fine") })
	})
}

func (a *app) configPathCommand() *cobra.Command {
	return cli.Verb("path", func(*cobra.Command, []string) error {
		path, err := a.configPath()
		if err != nil {
			return err
		}
		return a.Out.Show(configPlace{path}, func(w io.Writer) { fmt.Fprintln(w, path) })
	})
}

// configPlace is the JSON of config path.
type configPlace struct {
	Path string `json:"path"`
}

// configPath returns where the configuration is looked for. It reads nothing,
// so that it also answers when the file is broken.
func (a *app) configPath() (string, error) {
	if a.Global.Config != "" {
		return a.Absolute(a.Global.Config)
	}
	path := config.DefaultPath(a.Getenv)
	if path == "" {
		return "", amber.Errorf(amber.KindInvalid, "find configuration", "", "neither --config, $XDG_CONFIG_HOME nor $HOME is set")
	}
	return path, nil
}
