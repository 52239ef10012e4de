package config

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Factory opens a backend as a configuration asks. It is called at most once
// for each Resolve and serves every layer assigned to it. On error it leaves
// nothing open.
type Factory func(ctx context.Context, c Config) (Opened, error)

// Opened is a backend that was opened.
type Opened struct {
	Parts amber.Parts  // what it can do; the rest is nil
	Close func() error // nil where there is nothing to close
}

// Registry knows backends by name. Register every one before the first
// Resolve; from then on it is safe for concurrent use.
type Registry struct {
	factories map[backend]Factory
	lacking   map[backend][]amber.Layer // layers that a backend of every layer does not serve
}

// backend identifies a factory: its name and the one layer it serves, "" for
// any.
type backend struct {
	layer amber.Layer
	name  string
}

// New returns a registry without backends.
func New() *Registry {
	return &Registry{factories: map[backend]Factory{}, lacking: map[backend][]amber.Layer{}}
}

// Register makes f available under a name to every layer but the ones it lacks.
// A name has 1 to 64 lower-case letters, digits, '-' and '_', the first and last
// a letter or digit. Errors: invalid; conflict when the name is taken.
func (r *Registry) Register(name string, f Factory, lacks ...amber.Layer) error {
	b := backend{name: name}
	if err := r.register(b, f); err != nil {
		return err
	}
	r.lacking[b] = lacks
	return nil
}

// RegisterLayer makes f available to one layer only. There it comes before a
// factory of the same name that serves every layer. Errors: those of Register.
func (r *Registry) RegisterLayer(l amber.Layer, name string, f Factory) error {
	if !slices.Contains(amber.Layers(), l) {
		return invalid("register backend", name, fmt.Sprintf("%s is not a layer", quote(string(l))))
	}
	return r.register(backend{layer: l, name: name}, f)
}

func (r *Registry) register(b backend, f Factory) error {
	const op = "register backend"
	switch {
	case !validName().MatchString(b.name):
		return invalid(op, "", quote(b.name)+" is not a name")
	case f == nil:
		return invalid(op, b.name, "the factory is nil")
	case r.factories[b] != nil:
		return amber.Errorf(amber.KindConflict, op, b.name, "the name is taken")
	}
	r.factories[b] = f
	return nil
}

// Check reports whether Resolve would find every backend that c names, without opening any. Errors:
// invalid for a value out of range or an unknown name, unsupported for a backend that is not built
// in or does not serve the layer; each names the key.
func (r *Registry) Check(c Config) error {
	c, err := c.bounded()
	if err != nil {
		return err
	}
	_, err = r.plan(c)
	return err
}

// choice assigns one layer to a backend.
type choice struct {
	layer   amber.Layer
	key     string // the key that decided it
	backend backend
	factory Factory
}

// plan chooses a backend for every layer that is switched on.
func (r *Registry) plan(c Config) ([]choice, error) {
	if err := c.checkEdge(); err != nil {
		return nil, err
	}
	var plan []choice
	for _, l := range amber.Layers() {
		if !c.layerEnabled(l) {
			continue
		}
		ch, err := r.choose(c, l)
		if err != nil {
			return nil, err
		}
		plan = append(plan, ch)
	}
	return plan, c.checkPostgres()
}

// layerEnabled reports whether layer l is switched on. The control plane is not memory: tasks go on
// while memory is off.
func (c Config) layerEnabled(l amber.Layer) bool {
	return c.Memory.Enabled || l == amber.LayerControl
}

func (r *Registry) choose(c Config, l amber.Layer) (choice, error) {
	ch := choice{layer: l, key: c.backendKey(l)}
	for _, b := range []backend{{l, c.BackendOf(l)}, {"", c.BackendOf(l)}} {
		if f := r.factories[b]; f != nil && !slices.Contains(r.lacking[b], l) {
			ch.backend, ch.factory = b, f
			return ch, nil
		}
	}
	return ch, r.missing(ch.key, c.BackendOf(l), l)
}

// missing is the error for a backend that cannot be chosen for layer l.
func (r *Registry) missing(key, name string, l amber.Layer) error {
	kind, why := amber.KindInvalid, "is not the name of a backend"
	switch {
	case r.isRegistered(name):
		kind, why = amber.KindUnsupported, "does not serve the layer "+string(l)
	case slices.Contains(knownBackends(), name):
		kind, why = amber.KindUnsupported, "is not built in"
	case name == volatile:
		kind, why = amber.KindUnsupported, "keeps nothing after the process ends and is for tests only"
	}
	e := amber.Errorf(kind, "choose backend", key, "%s %s", quote(name), why)
	if names := r.namesFor(l, key); len(names) > 0 {
		e.Hint = fmt.Sprintf("set %s to one of: %s", key, strings.Join(names, ", "))
	}
	return e
}

// volatile is the backend of tests. A program that embeds Amber may register
// it; a configuration of the amber command cannot choose it, because every
// command is a process of its own and would forget what it acknowledged.
const volatile = "inmem"

// knownBackends lists the names that mean a backend of Amber even where a
// build does not have it.
func knownBackends() []string {
	return []string{"sqlite", "git", "openviking", "postgres", RemoteBackend}
}

// isRegistered reports whether any layer has a backend of that name.
func (r *Registry) isRegistered(name string) bool {
	for b := range r.factories {
		if b.name == name {
			return true
		}
	}
	return false
}

// namesFor lists the backends that can serve layer l and that a key can choose, sorted.
func (r *Registry) namesFor(l amber.Layer, key string) []string {
	var names []string
	for b := range r.factories {
		if (b.name == RemoteBackend || b.name == PostgresBackend) && key != backendPath { // it serves all layers or none
			continue
		}
		if (b.layer == "" || b.layer == l) && !slices.Contains(r.lacking[b], l) {
			names = append(names, b.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
