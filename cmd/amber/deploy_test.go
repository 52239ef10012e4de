package main

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

// composed is what a compose file says of a service.
type composed struct {
	Image       string
	Build       struct{ Context, Dockerfile string }
	Entrypoint  []string
	Command     []string
	Environment map[string]string
	Ports       []string
	Volumes     []string
	DependsOn   map[string]any `yaml:"depends_on"`
}

// verbs are the commands of amber that a service runs, as words.
func (c composed) verbs() (out [][]string) {
	if len(c.Entrypoint) == 0 {
		return [][]string{c.Command}
	}
	for line := range strings.Lines(strings.Join(c.Command, "\n")) {
		words := strings.Fields(line)
		if i := slices.Index(words, "amber"); i >= 0 {
			out = append(out, words[i+1:])
		}
	}
	return out
}

// Everything that docs/deploy/compose.yaml says to Amber is there: verbs, flags, keys and locations.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	var file struct {
		Services map[string]composed
		Volumes  map[string]any
	}
	must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile("../../docs/deploy/compose.yaml"))(t), &file))
	must.Equal(t, "services", slices.Sorted(maps.Keys(file.Services)), []string{"amber-a", "amber-b", "postgres", "secrets", "setup", "storage", "token"})
	known := map[string]bool{"AMBER_HOME": true, "AWS_SHARED_CREDENTIALS_FILE": true}
	for _, k := range config.Keys() {
		known[k.Env()] = true
	}
	homes, ports, verbs := map[string]bool{}, map[string]bool{}, 0
	for name, s := range file.Services {
		for other := range s.DependsOn {
			must.Hold(t, file.Services[other].Image != "", "%s waits for %s, which is no service", name, other)
		}
		for _, v := range s.Volumes {
			volume, _, _ := strings.Cut(v, ":")
			_, ok := file.Volumes[volume]
			must.Hold(t, ok, "%s has the volume %s, which the file does not have", name, volume)
		}
		if len(s.Entrypoint) > 0 {
			sh := exec.Command("sh", "-n")
			sh.Stdin = strings.NewReader(strings.ReplaceAll(strings.Join(s.Command, "\n"), "$$", "$"))
			out, err := sh.CombinedOutput()
			must.Hold(t, err == nil, "the script of %s: %v: %s", name, err, out)
		}
		if s.Image != "localhost/amber" {
			continue
		}
		must.Get(os.Stat("../../docs/deploy/" + s.Build.Context + "/" + s.Build.Dockerfile))(t)
		environ := []string{}
		for key, value := range s.Environment {
			must.Hold(t, known[key], "%s sets %s, which nothing reads", name, key)
			environ = append(environ, key+"="+value)
		}
		if len(environ) > 0 {
			c := must.Get(config.Load(config.Input{Environ: environ}))(t)
			must.Get(s3.ParseURL(c.Config.Snapshot.Root))(t)
		}
		for _, words := range s.verbs() {
			verbs++
			runs(t, name, words)
		}
		if strings.HasPrefix(name, "amber-") {
			homes[s.Volumes[0]], ports[s.Ports[0]] = true, true
		}
	}
	must.Equal(t, "verbs, homes and ports", []int{verbs, len(homes), len(ports)}, []int{4, 2, 2})
}

// runs checks that there is a verb with such flags, and runs nothing.
func runs(t *testing.T, service string, words []string) {
	t.Helper()
	root := (&app{&cli.App{World: process()}}).rootCommand()
	verb, rest, err := root.Find(words)
	must.NoError(t, err)
	must.Hold(t, verb != root, "%s runs amber %q, which has no verb", service, words)
	verb.InheritedFlags().VisitAll(func(*pflag.Flag) {}) // those of the root are known from here on
	must.NoError(t, verb.ParseFlags(rest))
}
