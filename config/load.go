package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Source says where a value came from.
type Source string

// The sources, each stronger than the one before.
const (
	FromDefault     Source = "default"
	FromFile        Source = "file"
	FromEnvironment Source = "environment"
	FromFlag        Source = "flag"
)

// Input is everything a configuration is read from. The zero value gives the
// defaults.
type Input struct {
	Path     string // the file; "" means there is none
	Explicit bool   // the user named Path, so it must exist
	// ReadFile reads Path; nil reads from disk. Its error satisfies
	// errors.Is(err, fs.ErrNotExist) when there is no such file.
	ReadFile func(path string) ([]byte, error)
	Environ  []string          // "NAME=value"; of two with one name the later counts
	Flags    map[string]string // path of a key to its value
}

// Loaded is a configuration with the story of how it came about.
type Loaded struct {
	Config    Config        `json:"-"`
	Values    []Value       `json:"values"`            // every key, sorted; of those with a name in them the ones that are set
	Clamped   []amber.Clamp `json:"clamped,omitempty"` // values above their cap, sorted by key; durations in milliseconds
	Path      string        `json:"path"`              // the file that was looked for
	FileFound bool          `json:"file_found"`
}

// Value is what one key is set to, and by whom. Value and Default are a bool,
// an int, a string or a []string; durations and sizes are text.
type Value struct {
	Key     string `json:"key"`
	Value   any    `json:"value"`
	Source  Source `json:"source"`
	Default any    `json:"default"`
}

// DefaultPath returns the place of the configuration file:
// $XDG_CONFIG_HOME/amber/config.yaml, or $HOME/.config/amber/config.yaml where
// that variable is not an absolute path. It returns "" where neither is known.
func DefaultPath(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "amber", "config.yaml")
}

// Load reads the configuration: defaults, then the file, then the
// environment, then flags. A number above its cap is lowered and reported.
// Errors: invalid for an unknown key, a wrong type, a value out of range or a
// key set twice, naming where and which; not_found when a file that the user
// named is missing; refused when the file may not be read.
func Load(in Input) (Loaded, error) {
	keys := schema() // once: agent hosts wait for this
	l := loader{keys: keys, root: newTree(keys), settings: map[string]setting{}, user: lookup(in.Environ, "HOME")}
	found, err := l.file(in)
	if err != nil {
		return Loaded{}, err
	}
	if err := l.environment(in.Environ); err != nil {
		return Loaded{}, err
	}
	if err := l.flags(in.Flags); err != nil {
		return Loaded{}, err
	}
	out := l.loaded()
	out.Path, out.FileFound = in.Path, found
	return out, nil
}

const loadOp = "load configuration"

// loader collects settings, later ones over earlier ones.
type loader struct {
	keys     []Key
	root     *tree
	settings map[string]setting // by path of the key
	user     string             // the folder of the user, "" where it is not known
}

// setting is a checked value, not yet clamped.
type setting struct {
	key    *Key
	value  any
	source Source
}

// lookup returns the variable called name; the later of two counts.
func lookup(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if n, v, ok := strings.Cut(entry, "="); ok && n == name {
			value = v
		}
	}
	return value
}

// environment takes every AMBER_ variable with "__" in its name.
func (l *loader) environment(environ []string) error {
	vars := map[string]string{}
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, envPrefix) && strings.Contains(name, envSeparator) {
			vars[name] = text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if strings.TrimSpace(vars[name]) == "" {
			continue
		}
		k, err := l.variable(name)
		if err != nil {
			return invalid(loadOp, name, err.Error())
		}
		if err := l.set(k, vars[name], FromEnvironment, name); err != nil {
			return err
		}
	}
	return nil
}

// variable returns the key that a variable sets. Names count as they are
// written: otherwise two variables could set one key.
func (l *loader) variable(name string) (*Key, error) {
	path := strings.ToLower(strings.TrimPrefix(name, envPrefix))
	k, err := l.root.find(strings.Split(path, envSeparator))
	if err == nil && k.Env() != name {
		err = fmt.Errorf("%s is set by %s", k.Path, k.Env())
	}
	return k, err
}

func (l *loader) flags(flags map[string]string) error {
	for _, path := range slices.Sorted(maps.Keys(flags)) {
		k, err := l.root.find(strings.Split(path, "."))
		if err != nil {
			return invalid(loadOp, "from flags", err.Error())
		}
		if err := l.set(k, flags[path], FromFlag, "from flags"); err != nil {
			return err
		}
	}
	return nil
}

// set parses text as the value of k. Where is named in the error.
func (l *loader) set(k *Key, text string, from Source, where string) error {
	switch k.Type {
	case Paths:
		return l.setPaths(k, k.split(text), from, where)
	case Recipients, Extensions, Patterns, Scopes:
		return l.setTexts(k, k.split(text), from, where)
	}
	var err error
	if k.Type == Path || k.Type == Location && !isBucket(text) {
		text, err = l.expand(k, text)
	}
	var v any
	if err == nil {
		v, err = k.parse(text)
	}
	return l.keep(k, v, err, from, where)
}

// setPaths takes the elements of a list.
func (l *loader) setPaths(k *Key, items []string, from Source, where string) error {
	paths := make([]string, 0, len(items))
	for _, item := range items {
		path, err := l.expand(k, item)
		if err == nil {
			path, err = k.parsePath(path)
		}
		if err != nil {
			return l.keep(k, nil, err, from, where)
		}
		paths = append(paths, path)
	}
	return l.keep(k, paths, k.check(paths), from, where)
}

// setTexts takes the elements of a list as they are written.
func (l *loader) setTexts(k *Key, items []string, from Source, where string) error {
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = strings.TrimSpace(item)
	}
	return l.keep(k, list, k.check(list), from, where)
}

// expand puts the folder of the user in the place of a leading ~.
func (l *loader) expand(k *Key, text string) (string, error) {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, "~")
	switch {
	case !ok || rest != "" && rest[0] != '/' && rest[0] != filepath.Separator:
		return text, nil
	case !filepath.IsAbs(l.user):
		return "", fmt.Errorf("%s is %s, and $HOME is not set to an absolute path", k.Path, quote(text))
	}
	return filepath.Join(l.user, rest), nil
}

// keep stores a value that was read, unless there is an error.
func (l *loader) keep(k *Key, v any, err error, from Source, where string) error {
	if err != nil {
		return invalid(loadOp, where, err.Error())
	}
	l.settings[k.Path] = setting{k, v, from}
	return nil
}

// loaded puts the settings over the defaults.
func (l *loader) loaded() Loaded {
	c := defaults(l.keys)
	keys := l.sorted()
	for _, k := range keys {
		s, ok := l.settings[k.Path]
		if !ok {
			continue
		}
		v, clamp, over := k.clamp(s.value)
		if over {
			c.Clamped = append(c.Clamped, clamp)
		}
		k.set(&c, v)
	}
	out := Loaded{Config: c, Clamped: slices.Clone(c.Clamped), Values: make([]Value, len(keys))}
	for i, k := range keys {
		out.Values[i] = l.value(k, c)
	}
	return out
}

// sorted returns the keys there are values of: those of the schema, and in the
// place of those with a name in them the ones that are set.
func (l *loader) sorted() []Key {
	keys := slices.DeleteFunc(slices.Clone(l.keys), Key.Named)
	for path, s := range l.settings {
		if strings.HasPrefix(path, sourcesPath+".") || strings.HasPrefix(path, tenantsPath+".") || strings.HasPrefix(path, postgresTenantsPath+".") {
			keys = append(keys, *s.key)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Path, b.Path) })
	return keys
}

func (l *loader) value(k Key, c Config) Value {
	v := Value{Key: k.Path, Value: plain(k.get(&c)), Source: FromDefault}
	if s, ok := l.settings[k.Path]; ok {
		v.Source = s.source
	}
	// The default of a layer depends on memory.backend, so it is read from
	// this configuration with the one key taken back.
	k.set(&c, k.Default)
	v.Default = plain(k.get(&c))
	return v
}
