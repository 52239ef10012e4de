package archtest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	indexLink = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	indexCode = regexp.MustCompile("`([^`]+)`")
	indexRow  = regexp.MustCompile(`(?m)^\| .* \|$`)
)

// Index returns the files and folders that docs/README.md names, in a link or as code, and that do not exist, and the
// documents in docs that it does not link, sorted. A path as code contains a slash or an ending, may be a pattern, and
// may lie in the folder of a path before it in the same row. A go command names its packages.
func Index(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		return nil, err
	}
	var broken []string
	linked := map[string]bool{}
	for _, m := range indexLink.FindAllStringSubmatch(string(text), -1) {
		name := path.Join("docs", m[1])
		linked[name] = true
		if !exists(root, name) {
			broken = append(broken, fmt.Sprintf("docs/README.md links %s, which does not exist", name))
		}
	}
	for _, row := range indexRow.FindAllString(string(text), -1) {
		folders := []string{"."}
		for _, m := range indexCode.FindAllStringSubmatch(row, -1) {
			for _, name := range pathsIn(m[1]) {
				if !slices.ContainsFunc(folders, func(f string) bool { return exists(root, path.Join(f, name)) }) {
					broken = append(broken, fmt.Sprintf("docs/README.md names %s, which does not exist", name))
				}
				folders = append(folders, path.Dir(name))
			}
		}
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	for _, file := range documents {
		if name := path.Join("docs", filepath.Base(file)); !linked[name] && name != "docs/README.md" {
			broken = append(broken, fmt.Sprintf("docs/README.md does not link %s", name))
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken), err
}

// pathsIn returns the paths in a piece of code: itself, or the packages of a command.
func pathsIn(code string) (paths []string) {
	words := strings.Fields(code)
	if len(words) == 1 {
		if strings.Contains(code, "/") || path.Ext(code) != "" && !strings.HasPrefix(code, ".") {
			paths = append(paths, path.Clean(strings.TrimSuffix(code, "...")))
		}
		return paths
	}
	folder := ""
	if len(words) > 2 && words[1] == "-C" {
		folder = words[2]
	}
	for _, w := range words {
		if strings.HasPrefix(w, "./") && words[0] == "go" {
			paths = append(paths, path.Join(folder, strings.TrimSuffix(w, "...")))
		}
	}
	return paths
}

func exists(root, pattern string) bool {
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	return err == nil && len(found) > 0
}
