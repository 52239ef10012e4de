package config_test

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
)

func ExampleLoad() {
	loaded, err := config.Load(config.Input{
		Environ: []string{"AMBER_MEMORY__RECALL__TOP_K=500", "AMBER_HOME=/srv/amber"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("top_k is", loaded.Config.Memory.Recall.TopK)
	for _, c := range loaded.Clamped {
		fmt.Printf("%s: %d is above the cap, %d is used\n", c.Key, c.Requested, c.Effective)
	}
	// Output:
	// top_k is 64
	// memory.recall.top_k: 500 is above the cap, 64 is used
}

func ExampleRegistry_Resolve() {
	open := func(context.Context, config.Config) (config.Opened, error) {
		return config.Opened{Parts: amber.Disabled("an example stores nothing").Parts}, nil
	}
	r := config.New()
	if err := r.Register("sqlite", open); err != nil {
		fmt.Println(err)
		return
	}
	if err := r.RegisterLayer(amber.LayerNotes, "git", open); err != nil {
		fmt.Println(err)
		return
	}
	resolved, err := r.Resolve(context.Background(), config.Default())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resolved.Close()
	for _, l := range resolved.Report.Layers {
		fmt.Printf("%s: %s, because %s\n", l.Layer, l.Resolved, l.Reason)
	}
	// Output:
	// long_term: sqlite, because memory.backend is sqlite
	// turns: sqlite, because memory.backend is sqlite
	// loops: sqlite, because memory.backend is sqlite
	// sessions: sqlite, because memory.backend is sqlite
	// notes: git, because memory.layers.notes.backend is git
	// control: sqlite, because memory.backend is sqlite
}
