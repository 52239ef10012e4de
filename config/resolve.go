package config

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/amber-memory/amber"
)

// Resolved is a store that is ready for use.
type Resolved struct {
	Store  amber.Store
	Policy amber.Policy
	Report Report
	// Close closes every backend, the last opened first. It may be called
	// twice, and from several goroutines; every call returns the first error.
	Close func() error
}

// Report says how a configuration was resolved.
type Report struct {
	Enabled bool           `json:"enabled"`           // memory.enabled
	Layers  []LayerReport  `json:"layers"`            // every layer, in the order of amber.Layers
	Clamped []amber.Clamp  `json:"clamped,omitempty"` // values above their cap; durations in milliseconds
	Recall  amber.Decision `json:"recall"`
	Write   amber.Decision `json:"write"`
}

// LayerReport says which backend serves a layer.
type LayerReport struct {
	Layer     amber.Layer `json:"layer"`
	Requested string      `json:"requested"`
	Resolved  string      `json:"resolved"` // "none" where the layer is switched off
	Reason    string      `json:"reason"`   // the key that decided it, "memory.backend is sqlite"
}

// none is what a layer that is switched off resolves to.
const none = "none"

// Resolve opens each backend that c names once and puts the store together.
// With memory.enabled off it opens only what the control plane needs, and the
// memory layers of the store find nothing and refuse writes.
//
// A backend that is missing or does not open is an error, never an empty
// store, and whatever was open by then is closed again. Errors: those of
// Check; unsupported when a backend cannot do its layer; the kind of the
// factory's error. Each names the key.
func (r *Registry) Resolve(ctx context.Context, c Config) (Resolved, error) {
	c, err := c.bounded()
	if err != nil {
		return Resolved{}, err
	}
	plan, err := r.plan(c)
	if err != nil {
		return Resolved{}, err
	}
	o := opener{opened: map[backend]amber.Parts{}}
	parts, err := o.open(ctx, c, plan)
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{
		Store:  newStore(c.Memory, amber.Review(c.Write.Review), parts),
		Policy: newPolicy(c.Memory, c.Context, amber.Review(c.Write.Review)),
		Report: newReport(c),
		Close:  sync.OnceValue(o.close),
	}, nil
}

// opener opens backends and remembers how to close them.
type opener struct {
	opened  map[backend]amber.Parts
	closers []func() error // in the order of opening
}

// open opens what the plan needs and takes the parts of each layer from its
// backend. On error nothing stays open.
func (o *opener) open(ctx context.Context, c Config, plan []choice) (amber.Parts, error) {
	var parts amber.Parts
	for _, ch := range plan {
		err := o.take(ctx, c, ch, &parts)
		if err == nil {
			continue
		}
		if closeErr := o.close(); closeErr != nil {
			err = fmt.Errorf("%w; closing the others: %v", err, closeErr)
		}
		return amber.Parts{}, err
	}
	if !together(c, plan) {
		parts.Ingest, parts.Sync = nil, nil
	}
	return parts, nil
}

// together reports whether one backend serves every layer that an ingestion or an import writes to:
// each of these is one transaction. The layers of an OpenViking server are served by the primary
// beside it.
func together(c Config, plan []choice) bool {
	serving := map[string]bool{}
	for _, ch := range plan {
		switch ch.layer {
		case amber.LayerSessions, amber.LayerTurns, amber.LayerLongTerm:
			name := ch.backend.name
			if name == "openviking" {
				name = c.Memory.Backends.OpenViking.Primary
			}
			serving[name] = true
		}
	}
	return len(serving) == 1
}

// take gives one layer to its backend.
func (o *opener) take(ctx context.Context, c Config, ch choice, into *amber.Parts) error {
	from, err := o.backend(ctx, c, ch)
	if err != nil {
		return err
	}
	var layer amber.Parts
	layer.Take(ch.layer, from)
	if layer == (amber.Parts{}) {
		return amber.Errorf(amber.KindUnsupported, "choose backend", ch.key,
			"%s does not serve the layer %s", quote(ch.backend.name), ch.layer)
	}
	into.Take(ch.layer, from)
	return nil
}

// backend returns the parts of the chosen backend, opening it the first time.
func (o *opener) backend(ctx context.Context, c Config, ch choice) (amber.Parts, error) {
	if p, ok := o.opened[ch.backend]; ok {
		return p, nil
	}
	err := ctx.Err()
	var opened Opened
	if err == nil {
		opened, err = ch.factory(ctx, c)
	}
	if err != nil {
		return amber.Parts{}, &amber.Error{
			Op: "open backend", Kind: amber.KindOf(err), ID: ch.backend.name, Err: fmt.Errorf("%s: %w", ch.key, err),
		}
	}
	if opened.Close != nil {
		o.closers = append(o.closers, opened.Close)
	}
	o.opened[ch.backend] = opened.Parts
	return opened.Parts, nil
}

// close closes everything, the last opened first, and returns the first error.
func (o *opener) close() error {
	var first error
	for _, c := range slices.Backward(o.closers) {
		if err := c(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func newReport(c Config) Report {
	rep := Report{
		Enabled: c.Memory.Enabled,
		Clamped: c.Clamped,
		Recall:  c.Memory.decide(c.Memory.Recall.Enabled, recallEnabledPath),
		Write:   c.Memory.decide(c.Memory.Write.Enabled, writeEnabledPath),
	}
	for _, l := range amber.Layers() {
		name := c.BackendOf(l)
		lr := LayerReport{Layer: l, Requested: name, Resolved: name, Reason: c.backendKey(l) + " is " + name}
		if !c.layerEnabled(l) {
			lr.Resolved, lr.Reason = none, isFalse(enabledPath)
		}
		rep.Layers = append(rep.Layers, lr)
	}
	return rep
}

// decide reports one switch: what its key asks for and what comes of it.
func (m Memory) decide(requested bool, key string) amber.Decision {
	d := amber.Decision{Requested: requested, Effective: requested && m.Enabled}
	switch {
	case !m.Enabled:
		d.BlockedReason = isFalse(enabledPath)
	case !requested:
		d.BlockedReason = isFalse(key)
	}
	return d
}

func isFalse(key string) string { return key + " is false" }
