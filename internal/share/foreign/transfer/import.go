package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/wire"
)

const opImport = "import"

// errEnough ends a first look.
var errEnough = errors.New("enough was looked at")

// Detect finds the format of a tree. Errors: invalid when no format fits, or several.
func Detect(t *foreign.Tree, formats []foreign.Format) (foreign.Format, error) {
	var fit []foreign.Format
	best := foreign.Fallback
	for _, f := range formats {
		if f.Read == nil && f.Next == nil {
			continue
		}
		switch m := f.Detect(t); {
		case m < best:
		case m > best:
			best, fit = m, []foreign.Format{f}
		default:
			fit = append(fit, f)
		}
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return foreign.Format{}, amber.Errorf(amber.KindInvalid, "detect format", t.Path(),
			"no known format fits its %s", words.Count(len(t.Files()), "file", "files")).WithHint("amber import --help lists the formats; --from FORMAT names one")
	}
	return foreign.Format{}, amber.Errorf(amber.KindInvalid, "detect format", t.Path(),
		"several formats fit: %s", names(fit)).WithHint("amber import --from " + fit[0].Name + " " + t.Path())
}

func names(formats []foreign.Format) (list string) {
	for i, f := range formats {
		if i > 0 {
			list += ", "
		}
		list += f.Name
	}
	return list
}

// Import reads a tree as a format and stores what is new. It stores each row, or names it in the report with the
// reason. An import that fails or is killed can be made again: it goes on where it stopped. Errors: unsupported for a
// store that cannot be synced and for a format with an importer of its own, whose command is the hint; those of the
// store, with the report of what was done before.
func Import(ctx context.Context, store amber.Store, f foreign.Format, t *foreign.Tree, o Options) (wire.ForeignImport, error) {
	if f.Read == nil && f.Next != nil {
		return wire.ForeignImport{}, amber.Errorf(amber.KindUnsupported, opImport, t.Path(), "holds data of %s, which another command imports", f.Title).WithHint(f.Next(t))
	}
	c, err := newCarrier(ctx, store, f, t, o)
	if err != nil {
		return wire.ForeignImport{}, err
	}
	if o.Settle != nil && !o.DryRun {
		for _, left := range o.Settle(ctx) {
			c.Warn("may be stored twice: %s", left)
		}
	}
	err = f.Read(ctx, t, o.reading(), c)
	if errors.Is(err, errEnough) {
		c.report.Partial, err = true, nil
	}
	if err == nil {
		err = c.finish()
	}
	if err != nil {
		return c.done(), &amber.Error{Op: opImport, Kind: amber.KindOf(err), ID: t.Path(), Err: err, Hint: c.hint()}
	}
	return c.done(), nil
}

func newCarrier(ctx context.Context, store amber.Store, f foreign.Format, t *foreign.Tree, o Options) (*carrier, error) {
	if caps := store.Capabilities(); !caps.Sync || !caps.Ingest {
		return nil, amber.Errorf(amber.KindUnsupported, opImport, t.Path(), "the store cannot take in records of others")
	}
	c := &carrier{
		ctx: ctx, store: store, format: f.Name, tree: t, o: o, trust: o.trust(),
		moved: map[amber.MemoryID]amber.MemoryID{}, foreseen: map[amber.MemoryID]bool{}, noted: map[string]bool{}, met: map[string]bool{},
	}
	c.report = wire.ForeignImport{
		Format: f.Name, Title: f.Title, Path: t.Source(), Files: int64(len(t.Files())), Bytes: t.Bytes(), DryRun: o.DryRun, Trust: string(c.trust),
		Samples: []string{}, Skips: []wire.ImportSkip{}, ConflictList: []wire.ImportConflict{}, Warnings: []string{},
	}
	for _, s := range t.Skipped() {
		c.Skip(s.Place, "%s", s.Reason)
	}
	made, err := List(ctx, store)
	if err != nil {
		return nil, err
	}
	c.first = !slices.ContainsFunc(made, func(r wire.ImportRecord) bool { return r.Format == f.Name })
	c.id, err = o.NewID()
	return c, err
}

// hint says how to go on after an error.
func (c *carrier) hint() string {
	if c.begun {
		return fmt.Sprintf("import again to go on; amber import undo %s takes back what was stored", c.id)
	}
	return ""
}

// done sums up.
func (c *carrier) done() wire.ForeignImport {
	r := &c.report
	r.ImportCounts = wire.ImportCounts{}
	for _, part := range []wire.ImportCounts{r.Memories, r.Relations, r.Sessions, r.Turns, r.Notes} {
		r.ImportCounts.Add(part)
	}
	if c.begun {
		r.ID = c.id
	}
	if c.homeless > 0 {
		c.Warn("memories about a user: %d, and no user is named: everybody who uses this agent sees them. To keep them to one, undo the import and import again with --user NAME", c.homeless)
	}
	if c.elsewhere > 0 {
		c.Warn("sessions that are here already: %d, from hooks or from another program: their turns are not imported again", c.elsewhere)
	}
	if c.unmoved > 0 {
		c.Warn("memories of your own that the files give to another user or project: %d. An import does not move them", c.unmoved)
	}
	c.homeless, c.elsewhere, c.unmoved = 0, 0, 0
	return *r
}
