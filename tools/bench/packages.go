package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	settings "github.com/amber-memory/amber/config"
)

// How many memories there are before, and how often a thing is measured.
const packageFill, packageTurns = 1008, 300

// packageCost is what a package says, in milliseconds.
type packageCost struct{ Start, Remember, Recall, Bare float64 }

// packages measures one memory and one question through the packages for other languages, which ask a private server,
// against an agent in the process. A language that is missing is left out, and said.
func packages(ctx context.Context, c config) outcome {
	own := ownCost(ctx, filepath.Join(c.dir, "package-go"))
	out := outcome{lines: []line{
		{name: "in the process: remember", amount: own.Remember, unit: "ms"}, {name: "in the process: recall", amount: own.Recall, unit: "ms"},
	}}
	for _, p := range []struct {
		name    string
		command []string
		env     string
	}{
		{"Python", []string{"bin/python/bin/python", "sdk/python/scripts/cost.py"}, "PYTHONPATH=sdk/python/src"},
		{"TypeScript", []string{"node", "sdk/typescript/scripts/cost.mjs"}, ""},
	} {
		got, err := foreignCost(ctx, c, p.name, p.command, p.env)
		if err != nil {
			fmt.Printf("the package for %s is not measured: %v\n", p.name, err)
			continue
		}
		out.lines = append(out.lines,
			line{name: p.name + ": start of a private server", amount: got.Start, unit: "ms"},
			line{name: p.name + ": remember over that in the process", amount: got.Remember / own.Remember, unit: "x", note: fmt.Sprintf("%.2f ms", got.Remember)},
			line{name: p.name + ": recall over that in the process", amount: got.Recall / own.Recall, unit: "x", note: fmt.Sprintf("%.2f ms", got.Recall)},
			line{name: p.name + ": a request that does nothing", amount: got.Bare, unit: "ms"},
		)
	}
	printLines(out.lines)
	return out
}

// ownCost measures an agent in this process, with everything around its store.
func ownCost(ctx context.Context, home string) (cost packageCost) {
	check(os.MkdirAll(home, 0o700))
	c := settings.Default()
	a := get(agent.Open(ctx, agent.Options{Home: home, Agent: amber.DefaultAgent, Config: &c, Clock: time.Now, Random: rand.Reader}))
	defer func() { check(a.Close()) }()
	for i := 0; i < packageFill; i += 16 {
		batch := make([]amber.WriteRequest, 16)
		for j := range batch {
			n := i + j
			batch[j].Content = fmt.Sprintf("Lighthouse %d blinks %d times at ships of harbour %d", n, n*7919%997, n%37)
		}
		get(a.Store().Batch.WriteBatch(ctx, batch))
	}
	n := 0
	remember, recall := median(packageTurns, func() {
		n++
		get(a.Store().LongTerm.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("One more fact about lighthouse %d", n)}))
	}, func() {
		get(a.Store().LongTerm.Recall(ctx, amber.Query{Text: fmt.Sprintf("how often does lighthouse %d blink", n)}))
	})
	return packageCost{Remember: remember.Seconds() * 1000, Recall: recall.Seconds() * 1000}
}

// foreignCost runs the script of a package. Errors: of a script that cannot be run.
func foreignCost(ctx context.Context, c config, name string, command []string, env string) (cost packageCost, err error) {
	binary := get(filepath.Abs(c.binary))
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], fmt.Sprint(packageFill), fmt.Sprint(packageTurns))...)
	cmd.Env = append(os.Environ(), "AMBER_BINARY="+binary, "AMBER_HOME="+filepath.Join(c.dir, "package-"+name), "AMBER_REMOTE=", env)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return cost, err
	}
	return cost, json.Unmarshal(out, &cost)
}
