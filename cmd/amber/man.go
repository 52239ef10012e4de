package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) manCommand() *cobra.Command {
	return cli.Verb("man", func(cmd *cobra.Command, args []string) error {
		about, err := cli.CommandOf(cmd.Root(), args)
		if err != nil {
			return err
		}
		m := &manual{version: a.Version}
		m.page(about)
		if _, err := io.WriteString(a.Stdout, m.String()); err != nil {
			return &amber.Error{Op: "print manual", Kind: amber.KindInternal, Err: err}
		}
		return nil
	})
}

// manual is a page in the macros of man(7).
type manual struct {
	strings.Builder
	version string
}

func (m *manual) page(c *cobra.Command) {
	title := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(m, ".TH %q 1 \"\" \"Amber %s\" \"Amber Manual\"\n", strings.ToUpper(title), roff(m.version))
	m.section("NAME")
	m.line(`%s \- %s`, roff(title), roff(c.Short))
	m.section("SYNOPSIS")
	m.line(`.B %s`, roff(c.UseLine()))
	m.section("DESCRIPTION")
	m.text(c.Long)
	if c.Long == "" {
		m.text(c.Short + ".")
	}
	m.commands(c)
	m.flags("OPTIONS", c.LocalFlags())
	m.flags("GLOBAL OPTIONS", c.InheritedFlags())
	if c.Example != "" {
		m.section("EXAMPLES")
		m.literal(c.Example)
	}
	m.exits()
	m.section("SEE ALSO")
	m.line(`.BR man (1),`)
	m.line("%s", roff("amber help; the documentation in docs/"))
}

func (m *manual) commands(c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	m.section("COMMANDS")
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			m.item(sub.CommandPath(), sub.Short+".")
		}
	}
}

func (m *manual) flags(title string, f *pflag.FlagSet) {
	if !f.HasAvailableFlags() {
		return
	}
	m.section(title)
	f.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, what := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		m.item(strings.TrimSpace(name+" "+kind), what+".")
	})
}

// exits lists the codes of every command, from the table of kinds.
func (m *manual) exits() {
	m.section("EXIT STATUS")
	m.item("0", "It was done.")
	kinds := map[int][]string{}
	most := 0
	for _, k := range amber.Kinds() {
		kinds[k.ExitCode()] = append(kinds[k.ExitCode()], string(k))
		most = max(most, k.ExitCode())
	}
	for code := 1; code <= most; code++ {
		if names := kinds[code]; names != nil {
			m.item(fmt.Sprint(code), "Error: "+strings.Join(names, ", ")+".")
		}
	}
}

func (m *manual) section(title string) { m.line(".SH %s", title) }

func (m *manual) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *manual) item(name, text string) {
	m.line(".TP\n.B %s\n%s", roff(name), roff(text))
}

// text writes paragraphs; what is indented stays as it is.
func (m *manual) text(s string) {
	for i, p := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			m.line(".PP")
		}
		if strings.HasPrefix(p, "  ") {
			m.literal(p)
			continue
		}
		m.line("%s", roff(p))
	}
}

func (m *manual) literal(s string) { m.line(".nf\n%s\n.fi", roff(s)) }

// roff escapes a text: backslashes, hyphens, and lines that would be requests.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
