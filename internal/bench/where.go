package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// whereMain is the main of a binary that notes where its time goes.
//
//go:embed where/main.go.txt
var whereMain []byte

// productMain is what whereMain takes the place of.
const productMain = "\nfunc main() {"

// whereTimeGoes runs every step once more with a binary that looks at its own
// main goroutine, and prints the share of each place it was found at. That
// binary is the product built with another main: the product itself has no
// switch for this. Waiting counts: it is time on the wall, not of a processor.
func (l *lab) whereTimeGoes(ctx context.Context) error {
	if _, err := exec.LookPath("go"); err != nil {
		fmt.Println("where time goes: not told, the go tool is not installed")
		return nil
	}
	dir := filepath.Join(l.dir, "where")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := buildWatched(ctx, dir)
	if err != nil {
		return err
	}
	if err := l.fresh(ctx, filepath.Join("where", "home")); err != nil {
		return err
	}
	w := watched{lab: l, binary: binary, file: filepath.Join(dir, "places.json")}
	first, err := w.freeze(ctx, "first snapshot")
	if err != nil {
		return err
	}
	if err := l.change(ctx, 1<<20); err != nil {
		return err
	}
	last, err := w.freeze(ctx, "second snapshot")
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		args []string
	}{
		{"recall --at", []string{"recall", strings.Join(l.text.question(), " "), "--at", last}},
		{"verify --read-data", []string{"snapshot", "verify", first, "--read-data"}},
		{"restore", []string{"snapshot", "restore", first, "--no-safety-snapshot", "--yes"}},
		{"restore with safety snapshot", []string{"snapshot", "restore", first, "--yes"}},
	} {
		if _, err := w.run(ctx, step.name, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// buildWatched builds the command with whereMain for a main.
func buildWatched(ctx context.Context, dir string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	src := filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), "cmd", "amber")
	main, err := os.ReadFile(filepath.Join(src, "main.go"))
	if err != nil {
		return "", err
	}
	renamed := bytes.Replace(main, []byte(productMain), []byte("\nfunc mainOfTheProduct() {"), 1)
	if bytes.Equal(main, renamed) {
		return "", errors.New("cmd/amber/main.go has no main")
	}
	renamed = append(renamed, "\nvar _ = mainOfTheProduct\n"...)
	replace := map[string]string{}
	for name, text := range map[string][]byte{"main.go": renamed, "bench_where.go": whereMain} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(src, name)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "amber")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	build := command{program: "go", args: []string{"build", "-overlay", file, "-o", binary, "."}, dir: src, env: []string{"CGO_ENABLED=0"}}
	_, err = build.runNow(ctx)
	return binary, err
}

// watched runs the binary that looks at itself.
type watched struct {
	*lab
	binary, file string
}

func (w watched) freeze(ctx context.Context, name string) (string, error) {
	took, err := w.run(ctx, name, "snapshot", "create")
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	err = json.Unmarshal(took.stdout, &made)
	return made.ID, err
}

// run runs one step and prints the places that took at least a fiftieth of it.
func (w watched) run(ctx context.Context, name string, args ...string) (cost, error) {
	c := w.amber(args...)
	c.program, c.env = w.binary, []string{"AMBER_BENCH_WHERE=" + w.file}
	took, err := c.run(ctx)
	if err != nil {
		return took, err
	}
	b, err := os.ReadFile(w.file)
	if err != nil {
		return took, err
	}
	var counts map[string]int
	if err := json.Unmarshal(b, &counts); err != nil {
		return took, err
	}
	fmt.Printf("\nwhere the time of %s goes: %s on the wall, %s of processors, %.1f MB resident\n", name, ms(took.wall), ms(took.cpu), float64(took.resident)/1e6)
	printPlaces(counts)
	return took, nil
}

func printPlaces(counts map[string]int) {
	type place struct {
		name string
		n    int
	}
	var places []place
	total, small := 0, 0
	for name, n := range counts {
		places = append(places, place{name, n})
		total += n
	}
	slices.SortFunc(places, func(a, b place) int {
		return b.n - a.n
	})
	for _, p := range places {
		if p.n*50 < total {
			small += p.n
			continue
		}
		fmt.Printf("  %5.1f %%  %s\n", 100*float64(p.n)/float64(total), strings.ReplaceAll(p.name, "github.com/amber-memory/amber/", ""))
	}
	if small > 0 {
		fmt.Printf("  %5.1f %%  in smaller parts\n", 100*float64(small)/float64(total))
	}
}
