package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	recordFile   = regexp.MustCompile(`^([0-9]{4})-[a-z0-9-]+\.md$`)
	recordStatus = regexp.MustCompile(`^Status: (accepted|(?:superseded|amended) by (.+?))(: .+)?$`)
	recordLink   = regexp.MustCompile(`^\[([0-9]+)\]\(([0-9]{4}-[a-z0-9-]+\.md)\)$`)
	between      = regexp.MustCompile(`, | and `)
	required     = regexp.MustCompile(`(?m)^(?:require )?\s*([a-z0-9.]+\.[a-z]+/\S+) v\S+$`)
)

// Decisions reads the records in docs/decisions. Each begins with its number, its title and its status: accepted, amended
// by later records, which change a part of the choice, or superseded by later ones. It returns what differs from that,
// statuses that name no later record, and numbers that no record has and that are not in unused, one line each, sorted.
func Decisions(root string, unused ...int) ([]string, error) {
	folder := filepath.Join(root, "docs", "decisions")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	names := map[int]string{}
	var broken []string
	for _, e := range entries {
		m := recordFile.FindStringSubmatch(e.Name())
		if m == nil {
			broken = append(broken, fmt.Sprintf("docs/decisions/%s is not named NNNN-title.md", e.Name()))
			continue
		}
		n, _ := strconv.Atoi(m[1])
		if before, ok := names[n]; ok {
			broken = append(broken, fmt.Sprintf("docs/decisions/%s and %s have one number", before, e.Name()))
		}
		names[n] = e.Name()
	}
	last := 0
	for n, name := range names {
		last = max(last, n)
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		for _, what := range recordHead(n, string(text), names) {
			broken = append(broken, fmt.Sprintf("docs/decisions/%s: %s", name, what))
		}
	}
	for n := 1; n <= last; n++ {
		if _, ok := names[n]; !ok && !slices.Contains(unused, n) {
			broken = append(broken, fmt.Sprintf("docs/decisions has no record %d", n))
		}
	}
	slices.Sort(broken)
	return broken, nil
}

// recordHead checks the first lines of record n.
func recordHead(n int, text string, names map[int]string) (broken []string) {
	lines := strings.SplitN(text, "\n", 5)
	if len(lines) < 5 || !strings.HasPrefix(lines[0], fmt.Sprintf("# %d. ", n)) || lines[1] != "" || lines[3] != "" {
		return []string{fmt.Sprintf("a record begins with \"# %d. Title\", an empty line, its status and an empty line", n)}
	}
	m := recordStatus.FindStringSubmatch(lines[2])
	if m == nil {
		return []string{fmt.Sprintf("%q is not \"Status: accepted\", nor amended or superseded by records", lines[2])}
	}
	if m[2] == "" {
		return nil
	}
	for _, named := range between.Split(m[2], -1) {
		link := recordLink.FindStringSubmatch(named)
		if link == nil {
			broken = append(broken, fmt.Sprintf("the status names %q, want a record as [25](0025-title.md)", named))
			continue
		}
		if by, _ := strconv.Atoi(link[1]); by <= n || names[by] != link[2] {
			broken = append(broken, fmt.Sprintf("the status names %s, which is not a later record", named))
		}
	}
	return broken
}

// Dependencies returns the modules that go.mod and tools/go.mod require directly and that the record about dependencies
// does not name.
func Dependencies(root string) ([]string, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	tools, err := os.ReadFile(filepath.Join(root, "tools", "go.mod"))
	if err != nil {
		return nil, err
	}
	record, err := os.ReadFile(filepath.Join(root, "docs", "decisions", "0004-dependencies.md"))
	if err != nil {
		return nil, err
	}
	var broken []string
	for _, m := range required.FindAllStringSubmatch(string(mod)+string(tools), -1) {
		module := regexp.MustCompile(`/v[0-9]+$`).ReplaceAllString(m[1], "")
		if module != Module && !strings.Contains(string(record), module) {
			broken = append(broken, "docs/decisions/0004-dependencies.md does not name "+module)
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken), nil
}
