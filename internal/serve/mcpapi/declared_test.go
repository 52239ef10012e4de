package mcpapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/serve/mcpapi/compat"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
)

// Every tool that is declared is in a profile, once.
func TestEveryToolIsInAProfile(t *testing.T) {
	t.Parallel()
	names := mcpapi.Names()
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
		t.Errorf("a tool is in the profiles twice: %v", names)
	}
	declared := regexp.MustCompile(`Op: +[^\n]*Name: +"([a-z_]+)"`)
	found := 0
	for _, pattern := range []string{"../../../op/*_tool.go", "compat/*.go"} {
		for _, file := range must.Get(filepath.Glob(pattern))(t) {
			for _, m := range declared.FindAllStringSubmatch(string(must.Get(os.ReadFile(file))(t)), -1) {
				found++
				if !slices.Contains(names, m[1]) {
					t.Errorf("%s declares %s, which is in no profile", file, m[1])
				}
			}
		}
	}
	if found < len(names)-1 { // the name of the tool that restores is a constant
		t.Errorf("%d declarations were found, there are %d tools", found, len(names))
	}
}

// The tags of arguments are those that schemas are made of, and their numbers can be read.
func TestTagsOfArgumentsAreKnown(t *testing.T) {
	t.Parallel()
	tag := regexp.MustCompile(`(\w+):"([^"]*)"`)
	for _, p := range append(op.Profiles(), compat.Profiles()...) {
		for _, tool := range p.Tools {
			for i := range tool.Args.NumField() {
				f := tool.Args.Field(i)
				what := fmt.Sprintf("%s, %s", tool.Name, f.Name)
				must.Hold(t, f.Tag.Get("json") != "", "%s has no name", what)
				for _, m := range tag.FindAllStringSubmatch(string(f.Tag), -1) {
					must.Hold(t, slices.Contains([]string{"json", "doc", "need", "enum", "range", "default", "type"}, m[1]), "%s has the tag %s", what, m[1])
				}
				checkNumbers(t, what, f)
			}
		}
	}
}

func checkNumbers(t *testing.T, what string, f reflect.StructField) {
	t.Helper()
	span, def := f.Tag.Get("range"), f.Tag.Get("default")
	if span == "" && def == "" {
		return
	}
	var least, most int64
	if n, err := fmt.Sscan(span, &least, &most); n != 2 || err != nil || least >= most {
		t.Errorf("%s has the range %q: %v", what, span, err)
	}
	if def == "" {
		return
	}
	if n, err := strconv.ParseInt(def, 10, 64); err != nil || n < least || n > most {
		t.Errorf("%s has the default %q, its range is %q: %v", what, def, span, err)
	}
}
