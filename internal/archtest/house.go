package archtest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// houseHeading begins the section of docs/architecture.md whose first code block
// draws the packages as a tree.
const houseHeading = "## The house"

// House compares the tree of packages in docs/architecture.md with the packages of the
// module below root. It returns packages that the tree does not name and names for
// which there is no package, one line each, sorted.
func House(root string) ([]string, error) {
	_, packages, err := read(root)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		return nil, err
	}
	named := drawn(string(text))
	var broken []string
	for _, p := range packages {
		if !slices.Contains(named, p) {
			broken = append(broken, fmt.Sprintf("docs/architecture.md does not name the package %s", p))
		}
	}
	for _, n := range named {
		if !slices.ContainsFunc(packages, func(p string) bool { return p == n || strings.HasPrefix(p, n+"/") }) {
			broken = append(broken, fmt.Sprintf("docs/architecture.md names %s, which is not a package", n))
		}
	}
	slices.Sort(broken)
	return broken, nil
}

// drawn returns the folders that the tree names, relative to the module. A line
// begins with one or more names that end in a slash; two spaces more of indent put
// them into the folder above. amber/ is the module itself.
func drawn(text string) (folders []string) {
	_, section, _ := strings.Cut(text, houseHeading)
	_, block, _ := strings.Cut(section, "```\n")
	block, _, _ = strings.Cut(block, "```")
	var parents []string
	for line := range strings.Lines(block) {
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		parents = parents[:min(depth, len(parents))]
		last := ""
		for _, field := range strings.Fields(line) {
			name, ok := strings.CutSuffix(strings.TrimSuffix(field, ","), "/")
			if !ok {
				break
			}
			if last = path.Join(path.Join(parents...), name); last == "amber" {
				last = "." // the module itself
			}
			folders = append(folders, last)
		}
		if last != "" {
			parents = append(parents, path.Base(last))
		}
	}
	return folders
}
