package transfer

import (
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/wire"
)

// toolImport is the tool of the links that name imports.
const toolImport = "import"

// importKey is the fingerprint of all of them.
var importKey = foreign.Fingerprint(toolImport, "imports", nil)

// incoming begins a chunk.
func (c *carrier) incoming() amber.Incoming {
	c.chunks++
	in := amber.Incoming{
		Place: place(c.format, c.trust), Chunk: fmt.Sprintf("%s-%06d", c.id, c.chunks), Device: c.format, CreatedBy: toolImport,
		At: amber.At(c.o.Clock()), Trust: c.trust, Links: c.links,
	}
	c.links = nil
	return in
}

// apply stores a chunk. The first one notes the import itself, so that even one that is killed can be taken back.
func (c *carrier) apply(in amber.Incoming) error {
	_, err := c.applyTold(in)
	return err
}

// applyTold is apply, and returns which records were stored by it: another import may have stored the others meanwhile.
func (c *carrier) applyTold(in amber.Incoming) (stored map[int]bool, err error) {
	stored = map[int]bool{}
	if len(in.Records) == 0 && len(in.Links) == 0 {
		c.chunks--
		return stored, nil
	}
	in.Stored = func(record int) { stored[record] = true }
	if !c.begun {
		in.Links = append(in.Links, headLink(wire.ImportRecord{
			ID: c.id, Format: c.format, Path: c.text(c.report.Path), Trust: string(c.trust), At: in.At,
		}))
	}
	_, err = c.store.Sync.Apply(c.ctx, in)
	c.begun = c.begun || err == nil
	return stored, err
}

// finish stores what waits, relations last.
func (c *carrier) finish() error {
	if err := c.endSession(); err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	if err := c.relate(); err != nil {
		return err
	}
	if c.o.DryRun {
		return nil
	}
	return c.apply(c.incoming())
}
