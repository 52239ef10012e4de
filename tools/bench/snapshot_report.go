package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// line is one line of the outcome that is not a ratio of two times.
type line struct {
	name   string
	wall   time.Duration // 0: not a time
	amount float64
	unit   string  // of amount and limit
	limit  float64 // 0: none
	least  bool    // the limit is the least that the amount may be
	note   string
}

func (l line) missed() bool {
	return l.limit > 0 && (l.amount > l.limit) != l.least && l.amount != l.limit
}

// The targets, as docs/benchmarks.md explains them.
const (
	limitFirst   = 17.0 // times cp
	limitSecond  = 3.0
	limitRestore = 8.0
	limitGrowth  = 0.5  // MB
	limitMemory  = 64.0 // MB
	limitPages   = 10.0 // percent
	limitBundle  = 1.5  // times tar and zstd at the same level
)

// report prints what was measured and returns the lines that have a target.
func (l *lab) report() []line {
	fmt.Printf("\nagent folder: %s in %d files; repository after the first snapshot: %s\n", mb(l.sizes.agent), l.sizes.files, mb(l.sizes.repo))
	fmt.Printf("small change: %s\n", smallChange)
	fmt.Printf("unit: cp -r of the agent folder, %s (%s), cpu %s, %d runs\n", ms(l.copied.wall()), l.copied.spread(), ms(l.copied.cpu()), len(l.copied))
	for _, why := range l.absent {
		fmt.Println(why)
	}
	lines := append(l.times(), l.bundled()...)
	lines = append(lines, l.growth()...)
	lines = append(lines, l.memory(), l.pages())
	printLines(lines)
	return lines
}

// times compares medians with the unit.
func (l *lab) times() []line {
	unit := float64(l.copied.wall())
	limits := map[string]float64{"first snapshot": limitFirst, "second snapshot": limitSecond, "restore": limitRestore}
	names := []string{
		"first snapshot", "second snapshot", "restore", "restore with full checks", "restore with safety snapshot",
		"verify --read-data", "recall --at", bundleExport, bundleRedacted, bundleRestore,
	}
	for _, p := range l.peers {
		names = append(names, p.name+": first", p.name+": second", p.name+": restore")
	}
	var lines []line
	for _, name := range names {
		s := l.costs[name]
		if len(s) == 0 {
			continue
		}
		lines = append(lines, line{
			name: name, wall: s.wall(), amount: float64(s.wall()) / unit, unit: "x cp", limit: limits[name],
			note: fmt.Sprintf("%s, cpu %s, %s", s.spread(), ms(s.cpu()), s.memory()),
		})
	}
	return lines
}

// growth tells by how much repositories grew for one small change.
func (l *lab) growth() []line {
	var lines []line
	for _, name := range append([]string{"amber"}, each(l.peers, func(p peer) string { return p.name })...) {
		grown := slices.Clone(l.grown[name])
		if len(grown) == 0 {
			continue
		}
		slices.Sort(grown)
		sum := int64(0)
		for _, n := range grown {
			sum += n
		}
		row := line{
			name: "growth per small change, " + name, amount: float64(grown[len(grown)/2]) / 1e6, unit: "MB",
			note: fmt.Sprintf("%s to %s, mean %s, of %d", mb(grown[0]), mb(grown[len(grown)-1]), mb(sum/int64(len(grown))), len(grown)),
		}
		if name == "amber" {
			row.limit = limitGrowth
		}
		lines = append(lines, row)
	}
	return lines
}

// memory is the most that any run of the binary took.
func (l *lab) memory() line {
	row := line{name: "peak memory of any of these", unit: "MB", limit: limitMemory}
	for name, s := range l.costs {
		if most := float64(s.resident()) / 1e6; !strings.Contains(name, ": ") && most > row.amount {
			row.amount, row.note = most, name
		}
	}
	return row
}

// pages is the largest share of a snapshot that a question needed.
func (l *lab) pages() line {
	row := line{name: "pages read by recall --at", unit: "%", limit: limitPages}
	for _, a := range l.answers {
		if share := 100 * float64(a.PagesRead) / float64(a.PagesTotal); share >= row.amount {
			row.amount = share
			row.note = fmt.Sprintf("the most of %d questions: %d of %d pages, %s from the repository, %d hits", len(l.answers), a.PagesRead, a.PagesTotal, mb(a.BytesRead), a.hits)
		}
	}
	if len(l.fences) > 0 {
		slices.Sort(l.fences)
		fmt.Printf("fence: median %.1f ms, longest %.1f ms, nobody writing\n", l.fences[len(l.fences)/2], l.fences[len(l.fences)-1])
	}
	return row
}

func printLines(lines []line) {
	fmt.Printf("\n%-44s %10s %16s %10s\n", "", "median", "", "limit")
	for _, l := range lines {
		wall, limit, mark := "", "-", ""
		if l.wall > 0 {
			wall = ms(l.wall)
		}
		if l.limit > 0 {
			limit = fmt.Sprintf("%.3g", l.limit)
		}
		if l.least {
			limit = "at least " + limit
		}
		if l.missed() {
			mark = "MISSED "
		}
		fmt.Printf("%-44s %10s %11.2f %-4s %10s  %s%s\n", l.name, wall, l.amount, l.unit, limit, mark, l.note)
	}
}
