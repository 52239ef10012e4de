package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/foreign/nexo"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/sqlite"
)

var _ snapshot.Nexo = databases{}

// ExportNexo makes the databases of nexo from a memory.db.
func (databases) ExportNexo(ctx context.Context, memory, dir string, agent amber.AgentID) ([]amber.Skipped, error) {
	from, err := sqlite.OpenRecords(ctx, memory)
	if err != nil {
		return nil, err
	}
	report, err := nexo.Export(ctx, from, dir, agent)
	return leftOut(report), errors.Join(err, from.Close())
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
	into, err := sqlite.Fill(ctx, filepath.Join(gen, "memory.db"), c, sqlite.Options{Clock: d.clock, Random: d.random})
	if err != nil {
		return nil, err
	}
	report, err := nexo.Import(ctx, dir, into, agent)
	err = errors.Join(err, into.Close())
	if err == nil {
		err = d.Make(ctx, filepath.Join(gen, "control.db"), c)
	}
	return leftOut(report), err
}

// leftOut names what did not come over.
func leftOut(r nexo.Report) []amber.Skipped {
	var list []amber.Skipped
	for _, c := range r.LeftOut {
		list = append(list, amber.Skipped{Part: amber.PartMemory, Path: c.What, Reason: amber.SkipUnsupported, Detail: fmt.Sprintf("%d of them", c.Count)})
	}
	return list
}
