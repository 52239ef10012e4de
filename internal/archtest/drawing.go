package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Drawing draws the wings of the module below root, made from its imports: a line for each wing that a program consists of,
// above the wings that it uses, with arrows to those that it does not reach by way of another.
func Drawing(root string) (string, error) {
	imports, packages, err := read(root)
	if err != nil {
		return "", err
	}
	uses := map[string][]string{}
	for _, p := range packages {
		if w := wing(short(p)); drawnWing(w) && !suite(p) {
			uses[w] = nil
		}
	}
	for _, i := range imports {
		inside, ok := strings.CutPrefix(i.Path, Module+"/")
		from, to := wing(short(path.Dir(i.File))), wing(short(inside))
		if ok && from != to && drawnWing(from) && drawnWing(to) && !suite(path.Dir(i.File)) && !slices.Contains(uses[from], to) {
			uses[from] = append(uses[from], to)
		}
	}
	var b strings.Builder
	for _, w := range above(uses) {
		line := fmt.Sprintf("%-9s %s", w, strings.Join(direct(uses, w), "  "))
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String(), nil
}

// drawnWing reports whether a wing is part of a program of a user, and no vocabulary that every wing uses.
func drawnWing(w string) bool {
	return !slices.Contains([]string{".", "wire", "test", "archtest", "tools"}, w)
}

// suite reports whether a package is a suite or a double for tests.
func suite(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// above returns the wings in an order in which each stands above those that it uses; wings that use each other come last.
func above(uses map[string][]string) (order []string) {
	left := map[string]bool{}
	for w := range uses {
		left[w] = true
	}
	for len(left) > 0 {
		var free []string
		for w := range left {
			used := false
			for other := range left {
				used = used || other != w && slices.Contains(uses[other], w)
			}
			if !used {
				free = append(free, w)
			}
		}
		if len(free) == 0 { // a circle
			for w := range left {
				free = append(free, w)
			}
		}
		slices.Sort(free)
		order = append(order, free...)
		for _, w := range free {
			delete(left, w)
		}
	}
	return order
}

// direct returns arrows to the wings that w uses and that no other wing it uses reaches.
func direct(uses map[string][]string, w string) (arrows []string) {
	for _, to := range slices.Sorted(slices.Values(uses[w])) {
		if !slices.ContainsFunc(uses[w], func(by string) bool { return by != to && reaches(uses, by, to, nil) }) {
			arrows = append(arrows, "→ "+to)
		}
	}
	return arrows
}

func reaches(uses map[string][]string, from, to string, seen []string) bool {
	return !slices.Contains(seen, from) && slices.ContainsFunc(uses[from], func(next string) bool {
		return next == to || reaches(uses, next, to, append(seen, from))
	})
}
