package local

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/sqlite"
)

var _ snapshot.Nexo = databases{}

// ExportNexo makes the databases of nexo from a memory.db.
func (databases) ExportNexo(ctx context.Context, memory, dir string, agent amber.AgentID) ([]amber.Skipped, error) {
	report, err := sqlite.ExportNexo(ctx, memory, dir, agent)
	return leftOut(report), err
}

// ImportNexo makes memory.db and control.db from the databases of nexo. The
// generation they are made for is nobody's: whoever restores them gives them
// another one.
func (d databases) ImportNexo(ctx context.Context, dir, gen string, _ amber.TenantID, agent amber.AgentID) ([]amber.Skipped, error) {
	id, err := amber.NewUUID(d.clock(), d.random)
	if err != nil {
		return nil, err
	}
	c := home.Current{Generation: 1, Incarnation: id, Device: id}
	report, err := sqlite.ImportNexo(ctx, dir, filepath.Join(gen, "memory.db"), sqlite.NexoImport{Agent: agent, Current: c, Clock: d.clock, Random: d.random})
	if err == nil {
		err = d.Make(ctx, filepath.Join(gen, "control.db"), c)
	}
	return leftOut(report), err
}

// leftOut names what did not come over.
func leftOut(r sqlite.NexoReport) []amber.Skipped {
	var list []amber.Skipped
	for _, c := range r.LeftOut {
		list = append(list, amber.Skipped{Part: amber.PartMemory, Path: c.What, Reason: amber.SkipUnsupported, Detail: fmt.Sprintf("%d of them", c.Count)})
	}
	return list
}
