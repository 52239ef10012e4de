package foreign

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxSettings bounds a file of settings.
const maxSettings = 1 << 20

// Settings reads a JSON file in which a program keeps its settings; nil where there is none, or it cannot be read.
func Settings(file string) Object {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	o, err := ParseObject(TrimMark(b))
	if err != nil {
		return nil
	}
	return o
}

// Places returns paths each once, without empty ones and those that are not absolute, "~" being the home.
func Places(home string, paths ...string) (out []string) {
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			p = filepath.Join(home, rest)
		}
		if p = filepath.Clean(p); filepath.IsAbs(p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
