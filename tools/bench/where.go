package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
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

// product is the module of the program. The go tool knows its folder at the top of the repository and in tools.
const product = "github.com/amber-memory/amber"

// productMain is what whereMain takes the place of.
const productMain = "\nfunc main() {"

// whereTimeGoes runs every step once more with a binary that looks at its own
// main goroutine, and prints the share of each place it was found at. That
// binary is the product built with another main: the product itself has no
// switch for this. Waiting counts: it is time on the wall, not of a processor.
func (l *lab) whereTimeGoes(ctx context.Context) {
	if _, err := exec.LookPath("go"); err != nil {
		fmt.Println("where time goes: not told, the go tool is not installed")
		return
	}
	dir := filepath.Join(l.dir, "where")
	check(os.MkdirAll(dir, 0o700))
	defer os.RemoveAll(dir)
	binary := buildWatched(ctx, dir)
	l.fresh(ctx, filepath.Join("where", "home"))
	w := watched{lab: l, binary: binary, file: filepath.Join(dir, "places.json")}
	first := w.freeze(ctx, "first snapshot")
	l.change(ctx, 1<<20)
	last := w.freeze(ctx, "second snapshot")
	for _, step := range []struct {
		name string
		args []string
	}{
		{"recall --at", []string{"recall", strings.Join(l.text.question(), " "), "--at", last}},
		{"verify --read-data", []string{"snapshot", "verify", first, "--read-data"}},
		{"restore", []string{"snapshot", "restore", first, "--no-safety-snapshot", "--yes"}},
		{"restore with safety snapshot", []string{"snapshot", "restore", first, "--yes"}},
	} {
		w.run(ctx, step.name, step.args...)
	}
}

// buildWatched builds the command with whereMain for a main.
func buildWatched(ctx context.Context, dir string) string {
	out := get(exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", product).Output())
	src := filepath.Join(strings.TrimSpace(string(out)), "cmd", "amber")
	main := get(os.ReadFile(filepath.Join(src, "main.go")))
	renamed := bytes.Replace(main, []byte(productMain), []byte("\nfunc mainOfTheProduct() {"), 1)
	if bytes.Equal(main, renamed) {
		fail("cmd/amber/main.go has no main")
	}
	renamed = append(renamed, "\nvar _ = mainOfTheProduct\n"...)
	replace := map[string]string{}
	for name, text := range map[string][]byte{"main.go": renamed, "bench_where.go": whereMain} {
		path := filepath.Join(dir, name)
		check(os.WriteFile(path, text, 0o600))
		replace[filepath.Join(src, name)] = path
	}
	overlay := get(json.Marshal(map[string]any{"Replace": replace}))
	file, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "amber")
	check(os.WriteFile(file, overlay, 0o600))
	build := command{program: "go", args: []string{"build", "-overlay", file, "-o", binary, "."}, dir: src, env: []string{"CGO_ENABLED=0"}}
	get(build.runNow(ctx))
	return binary
}

// watched runs the binary that looks at itself.
type watched struct {
	*lab
	binary, file string
}

func (w watched) freeze(ctx context.Context, name string) string {
	took := w.run(ctx, name, "snapshot", "create")
	var made struct {
		ID string `json:"id"`
	}
	check(json.Unmarshal(took.stdout, &made))
	return made.ID
}

// run runs one step and prints the places that took at least a fiftieth of it.
func (w watched) run(ctx context.Context, name string, args ...string) cost {
	c := w.amber(args...)
	c.program, c.env = w.binary, []string{"AMBER_BENCH_WHERE=" + w.file}
	took := get(c.run(ctx))
	b := get(os.ReadFile(w.file))
	var counts map[string]int
	check(json.Unmarshal(b, &counts))
	fmt.Printf("\nwhere the time of %s goes: %s on the wall, %s of processors, %.1f MB resident\n", name, ms(took.wall), ms(took.cpu), float64(took.resident)/1e6)
	printPlaces(counts)
	return took
}

func printPlaces(counts map[string]int) {
	total, small := 0, 0
	for _, n := range counts {
		total += n
	}
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return counts[b] - counts[a] }) {
		n := counts[name]
		if n*50 < total {
			small += n
			continue
		}
		fmt.Printf("  %5.1f %%  %s\n", 100*float64(n)/float64(total), strings.ReplaceAll(name, product+"/", ""))
	}
	if small > 0 {
		fmt.Printf("  %5.1f %%  in smaller parts\n", 100*float64(small)/float64(total))
	}
}
