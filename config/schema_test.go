package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// list writes paths as a variable holds them.
func list(paths ...string) string { return strings.Join(paths, string(filepath.ListSeparator)) }

// another returns a value that no key of the type has by default.
func another(t *testing.T, k config.Key) string {
	t.Helper()
	switch k.Type {
	case config.Bool:
		return fmt.Sprint(!valueOf(t, load(t, config.Input{}), strings.Replace(k.Path, ".tenants.<name>", "", 1)).Value.(bool))
	case config.Choice:
		return k.Choices[(slices.Index(k.Choices, fmt.Sprint(k.Default))+1)%len(k.Choices)]
	}
	text, ok := map[config.Type]string{
		config.Int: "9", config.Count: "9", config.Duration: "20ms", config.Span: "20ms", config.Size: "2MiB", config.Share: "0.25",
		config.Name: "other", config.Path: "/srv/amber/file", config.Location: "/srv/amber/repo", config.Paths: list("/srv/a.db", "/srv/b.db"),
		config.Schedule: "0 3 * * mon", config.Subject: "acme.memory", config.Address: "localhost:0", config.Recipients: ann + ", " + bob,
		config.Scopes: "user, session", config.Servers: "nats://a:4222,tls://b", config.URL: "https://host.example/v1", config.Model: "https://host.example/v1",
		config.Extensions: ".md, .org", config.Patterns: "ticket = TCK-[0-9]{1,6}\nroom = R[0-9]{3}", config.Label: "Ann und Bob",
		config.OptionalLabel: "small", config.Variable: "MODEL_KEY",
	}[k.Type]
	must.Hold(t, ok, "the test has no value of type %s", k.Type)
	return text
}

// TestEveryKeyIsSetByItself sets each key by each way there is: the key has another value then, the same one however it is
// set, and no other key has. TestEveryKeyHasItsEffect of the program observes what each value does.
func TestEveryKeyIsSetByItself(t *testing.T) {
	t.Parallel()
	plain := load(t, config.Input{})
	for _, k := range config.Keys() {
		t.Run(k.Path, func(t *testing.T) {
			t.Parallel()
			text := another(t, k)
			k.Path = strings.Replace(k.Path, "<name>", "tool", 1)
			var first any
			for way, in := range waysToSet(k, text) {
				l := load(t, in)
				changed := slices.DeleteFunc(slices.Clone(l.Values), func(v config.Value) bool {
					return slices.ContainsFunc(plain.Values, func(p config.Value) bool { return p.Key == v.Key && cmp.Equal(p.Value, v.Value) })
				})
				if k.Path == "memory.backend" { // layers follow it
					changed = slices.DeleteFunc(changed, func(v config.Value) bool { return strings.HasPrefix(v.Key, "memory.layers.") })
				}
				if len(changed) != 1 || changed[0].Key != k.Path {
					t.Fatalf("%s: set are %v", way, changed)
				}
				must.Equal(t, way+": source", string(changed[0].Source), way)
				if first == nil {
					first = changed[0].Value
				}
				must.Equal(t, way, changed[0].Value, first)
			}
		})
	}
}

func TestKeysAreComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range config.Keys() {
		if seen[k.Path] {
			t.Errorf("%s is there twice", k.Path)
		}
		seen[k.Path] = true
		if k.Doc == "" {
			t.Errorf("%s is not explained", k.Path)
		}
	}
	for _, l := range amber.Layers() {
		if !seen["memory.layers."+string(l)+".backend"] {
			t.Errorf("layer %s has no key", l)
		}
	}
	for line := range strings.Lines(string(must.Get(os.ReadFile("keys.txt"))(t))) {
		if path, _, is := strings.Cut(line, ": "); is && !seen[path] {
			t.Errorf("keys.txt explains %s, which is no key", path)
		}
	}
}
