package care

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
)

// migration is the JSON of what is to be done, or was.
type migration struct {
	From  int64           `json:"from"` // schema of the database before
	To    int64           `json:"to"`   // and after
	Ran   bool            `json:"ran"`
	Steps []migrationStep `json:"steps"`
	// Held are servers that still need what a step takes away: it waits for them.
	Held []string `json:"held"`
}

type migrationStep struct {
	Migration string `json:"migration"`
	Phase     string `json:"phase"`
	Step      int    `json:"step"`
	Steps     int    `json:"steps"`
}

func (a *app) migrateCommand() *cobra.Command {
	var plan, run, restored bool
	cmd := cli.Verb("migrate", func(cmd *cobra.Command, _ []string) error {
		if count := len(slices.DeleteFunc([]bool{plan, run, restored}, func(set bool) bool { return !set })); count != 1 {
			return amber.Errorf(amber.KindInvalid, "migrate database", "", "%d of --plan, --run and --restored are given, want one", count).WithHint("amber migrate --plan")
		}
		if restored {
			r, err := a.acceptRestore(cmd.Context())
			if err != nil {
				return err
			}
			return a.Out.Show(r, func(w io.Writer) { printRestoration(w, r) })
		}
		m, err := a.migrate(cmd.Context(), run)
		if err != nil {
			return err
		}
		return a.Out.Show(m, func(w io.Writer) { printMigration(w, m) })
	})
	cmd.Flags().BoolVar(&plan, "plan", false, "show the steps and change nothing")
	cmd.Flags().BoolVar(&run, "run", false, "do the steps")
	cmd.Flags().BoolVar(&restored, "restored", false, "accept a database that was set back")
	return cmd
}

func (a *app) migrate(ctx context.Context, run bool) (m migration, err error) {
	loaded, err := a.LoadConfig()
	if err != nil {
		return m, err
	}
	if !loaded.Config.OnPostgres() {
		return m, amber.Errorf(amber.KindInvalid, "migrate database", "memory.backend", "memory.backend is %s, want postgres", loaded.Config.Memory.Backend)
	}
	at, err := a.Closed(&loaded.Config)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	o, err := at.DatabaseOptions()
	if err != nil {
		return m, err
	}
	m = migration{Ran: run, Steps: []migrationStep{}, Held: []string{}}
	var steps []schema.Step
	if run {
		report, err := postgres.Migrate(ctx, o, "amber "+a.Version)
		if err != nil {
			return m, err
		}
		m.From, m.To, steps = report.From.Number, report.To.Number, report.Done
		for _, s := range report.Held {
			m.Held = append(m.Held, fmt.Sprintf("%s %s (Amber %s, seen %s)", s.Name, s.Address, s.Version, s.SeenAt.UTC().Format("2006-01-02 15:04:05")))
		}
	} else {
		var from schema.Version
		if from, steps, err = postgres.PlanMigration(ctx, o); err != nil {
			return m, err
		}
		m.From, m.To = from.Number, schema.Newest()
	}
	for _, s := range steps {
		m.Steps = append(m.Steps, migrationStep{s.Name, string(s.Phase), s.Step, s.Steps})
	}
	return m, nil
}

func printMigration(w io.Writer, m migration) {
	verb := "to do"
	if m.Ran {
		verb = "done"
	}
	for _, s := range m.Steps {
		fmt.Fprintf(w, "%s  %s  step %d of %d: %s\n", s.Migration, s.Phase, s.Step, s.Steps, verb)
	}
	for _, h := range m.Held {
		fmt.Fprintf(w, "waits for %s\n", h)
	}
	if len(m.Steps) == 0 && len(m.Held) == 0 {
		fmt.Fprintf(w, "the database has schema %d, nothing is to be done\n", m.From)
		return
	}
	fmt.Fprintf(w, "schema %d to %d\n", m.From, m.To)
}
