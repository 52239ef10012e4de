package main

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"

	"github.com/amber-memory/amber/internal/test/must"
)

// helm renders charts as Helm does, with those of its functions that the chart uses. It checks that the templates can
// be parsed and filled in, and that YAML comes out. make test-release asks the real one, which also knows the schema of values.
type helm struct {
	t      *template.Template
	chart  map[string]any
	values map[string]any
}

func newHelm(t *testing.T) *helm {
	t.Helper()
	r := newRelease(t)
	h := &helm{t: template.New("chart"), chart: map[string]any{}, values: map[string]any{}}
	h.t.Option("missingkey=error").Funcs(template.FuncMap{
		"include": func(name string, dot any) (string, error) {
			var b strings.Builder
			err := h.t.ExecuteTemplate(&b, name, dot)
			return b.String(), err
		},
		"nindent": func(n int, s string) string { return "\n" + indentAll(n, s) },
		"toYaml": func(v any) (string, error) {
			b, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(b), "\n"), err
		},
		"quote":      func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"default":    func(d, v string) string { return map[bool]string{true: d, false: v}[v == ""] },
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"sha256sum":  func(s string) string { return digestOf([]byte(s)) },
		"int":        func(v any) (n int) { _, _ = fmt.Sscan(fmt.Sprint(v), &n); return n },
		"list":       func(v ...any) []any { return v },
		"concat":     func(a, b []any) []any { return append(a, b...) },
		"fail":       func(why string) (string, error) { return "", errors.New(why) },
		"required": func(why string, v string) (string, error) {
			if v == "" {
				return "", errors.New(why)
			}
			return v, nil
		},
	})
	for _, f := range must.Get(chartFiles(page{r.facts, r.version, where{}, r.base}))(t) {
		name := strings.TrimPrefix(f.name, "amber/")
		switch {
		case name == "Chart.yaml":
			var c struct {
				Name, Version string
				AppVersion    string `yaml:"appVersion"`
			}
			must.Do(t, yaml.Unmarshal(f.data, &c))
			h.chart = map[string]any{"Name": c.Name, "Version": c.Version, "AppVersion": c.AppVersion}
		case name == "values.yaml":
			must.Do(t, yaml.Unmarshal(f.data, &h.values))
		case path.Dir(name) == "templates":
			must.Get(h.t.New(name).Parse(string(f.data)))(t)
		}
	}
	return h
}

func indentAll(n int, s string) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(s, "\n", "\n"+pad)
}

// set changes a value, as --set a.b=v does.
func (h *helm) set(name string, v any) *helm {
	at := h.values
	for parts := strings.Split(name, "."); ; parts = parts[1:] {
		if len(parts) == 1 {
			at[parts[0]] = v
			return h
		}
		at = at[parts[0]].(map[string]any)
	}
}

// render returns the objects of the chart by kind and name.
func (h *helm) render() (out map[string]map[string]any, err error) {
	dot := map[string]any{
		"Values": h.values, "Chart": h.chart,
		"Release": map[string]any{"Name": "memory", "Namespace": "agents", "Service": "Helm"},
	}
	out = map[string]map[string]any{}
	for _, t := range h.t.Templates() {
		name := t.Name()
		if !strings.HasPrefix(name, "templates/") || strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		var b bytes.Buffer
		if err := t.Execute(&b, dot); err != nil {
			return nil, err
		}
		if path.Ext(name) != ".yaml" {
			continue
		}
		for doc := range strings.SplitSeq(b.String(), "\n---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
				return nil, fmt.Errorf("%s: %w: %s", name, err, doc)
			}
			if object != nil {
				out[fmt.Sprint(object["kind"], " ", object["metadata"].(map[string]any)["name"])] = object
			}
		}
	}
	return out, nil
}

// dig follows names and places in what YAML holds.
func dig(t *testing.T, v any, keys ...any) any {
	t.Helper()
	for _, k := range keys {
		switch k := k.(type) {
		case string:
			v = v.(map[string]any)[k]
		case int:
			v = v.([]any)[k]
		}
		must.Hold(t, v != nil, "there is no %v of %v", k, keys)
	}
	return v
}

func TestChart(t *testing.T) {
	t.Parallel()
	objects := must.Get(newHelm(t).render())(t)
	must.Equal(t, "objects", len(objects), 4)
	pod := dig(t, objects["StatefulSet memory"], "spec", "template", "spec")
	must.Equal(t, "image", dig(t, pod, "containers", 0, "image").(string), "ghcr.io/amber-memory/amber:1.2.3")
	must.Equal(t, "arguments", fmt.Sprint(dig(t, pod, "containers", 0, "args")), "[serve --listen 0.0.0.0:7411 --behind-proxy --log-json]")
	must.Says(t, "first token", fmt.Sprint(dig(t, pod, "initContainers", 0, "args")), "token create first --if-none")
	must.Equal(t, "user", fmt.Sprint(dig(t, pod, "securityContext", "runAsUser")), "10001")
	must.Equal(t, "service", fmt.Sprint(dig(t, objects["Service memory"], "spec", "ports", 0, "port")), "7411")
	must.Hold(t, objects["Service memory-homes"] != nil, "there is no service for the names of the servers: %v", objects)
}

func TestChartWithEverything(t *testing.T) {
	t.Parallel()
	h := newHelm(t).set("replicas", 3)
	must.Error(t, "three servers without a database", must.Err(h.render()))
	h.set("postgres.secret", "database").set("postgres.plain", true).set("snapshots.root", "s3://backups/amber").set("snapshots.secret", "aws")
	h.set("config", map[string]any{"search": map[string]any{"model": "none"}}).set("ingress.enabled", true)
	must.Error(t, "ingress without a host", must.Err(h.render()))
	h.set("ingress.host", "memory.example.org").set("ingress.tlsSecret", "tls").set("extraArgs", []any{"--allow-restore"})
	objects := must.Get(h.render())(t)
	must.Equal(t, "objects", len(objects), 6)
	pod := dig(t, objects["StatefulSet memory"], "spec", "template", "spec")
	must.Equal(t, "migration", fmt.Sprint(dig(t, pod, "initContainers", 0, "args")), "[migrate --run]")
	env := fmt.Sprint(dig(t, pod, "containers", 0, "env"))
	must.Says(t, "environment", env, "AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", "/etc/amber/postgres/dsn", "AMBER_SNAPSHOT__ROOT", "XDG_CONFIG_HOME")
	must.Says(t, "configuration", dig(t, objects["ConfigMap memory"], "data", "config.yaml").(string), "model: none")
	must.Equal(t, "host", dig(t, objects["Ingress memory"], "spec", "rules", 0, "host").(string), "memory.example.org")
}

// Other pods reach the port of the servers and no other; who they are, and what the servers reach, can be narrowed.
func TestChartHasANetworkPolicy(t *testing.T) {
	t.Parallel()
	policy := must.Get(newHelm(t).render())(t)["NetworkPolicy memory"]
	must.Equal(t, "port", fmt.Sprint(dig(t, policy, "spec", "ingress", 0)), "map[ports:[map[port:http protocol:TCP]]]")
	must.Equal(t, "directions", fmt.Sprint(dig(t, policy, "spec", "policyTypes")), "[Ingress]")
	must.Equal(t, "pods", fmt.Sprint(dig(t, policy, "spec", "podSelector", "matchLabels")),
		fmt.Sprint(dig(t, must.Get(newHelm(t).render())(t)["StatefulSet memory"], "spec", "selector", "matchLabels")))

	h := newHelm(t).set("networkPolicy.from", []any{map[string]any{"podSelector": map[string]any{"app": "web"}}})
	policy = must.Get(h.set("networkPolicy.egress", []any{map[string]any{"ports": []any{map[string]any{"port": 5432}}}}).render())(t)["NetworkPolicy memory"]
	must.Equal(t, "from", fmt.Sprint(dig(t, policy, "spec", "ingress", 0, "from")), "[map[podSelector:map[app:web]]]")
	must.Equal(t, "directions", fmt.Sprint(dig(t, policy, "spec", "policyTypes")), "[Ingress Egress]")
	must.Equal(t, "to", fmt.Sprint(dig(t, policy, "spec", "egress", 0, "ports", 0, "port")), "5432")

	must.Hold(t, must.Get(newHelm(t).set("networkPolicy.enabled", false).render())(t)["NetworkPolicy memory"] == nil, "there is a policy that was switched off")
}
