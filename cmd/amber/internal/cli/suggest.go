package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// synonyms are words of other programs, and what Amber calls that, best first. A
// word is taken where a command of that name is.
func synonyms() map[string][]string {
	return map[string][]string{
		"search": {"recall", "list"}, "find": {"recall", "show", "list"}, "query": {"recall", "list"}, "grep": {"recall"},
		"ls": {"list"}, "all": {"list"}, "dir": {"list"},
		"status": {"doctor", "show", "list"}, "health": {"doctor"}, "check": {"doctor", "verify"}, "diagnose": {"doctor"}, "test": {"doctor", "verify"},
		"add": {"remember", "create", "new", "save", "write", "start"}, "save": {"remember", "create", "write"}, "store": {"remember", "save"}, "put": {"remember", "write", "save"},
		"new": {"create", "start", "write"}, "create": {"new", "start", "write", "add"}, "make": {"create", "new"}, "take": {"create"},
		"rm": {"delete", "remove", "forget", "clear"}, "remove": {"delete", "forget", "clear"}, "delete": {"forget", "remove", "revoke", "clear"}, "del": {"delete", "forget"}, "drop": {"delete", "forget"}, "erase": {"forget"},
		"cat": {"get", "show"}, "show": {"get", "list"}, "view": {"get", "show"}, "info": {"show", "stats", "version"}, "read": {"get", "show"}, "get": {"show"}, "print": {"get", "show"},
		"log": {"history", "list"}, "server": {"serve"}, "daemon": {"serve"}, "start": {"serve"}, "backup": {"snapshot", "create"}, "freeze": {"snapshot", "create"},
		"settings": {"config"}, "install": {"setup"}, "init": {"setup"}, "keep": {"pin"}, "mv": {"rename"}, "end": {"stop"}, "stop": {"end"},
	}
}

// likely returns the commands of cmd that a person may mean by a word, best first: the command that Amber has
// for a synonym, then the commands of that name of a family, then those that are spelt almost so.
func likely(cmd *cobra.Command, word string) (found []string) {
	names := map[string]string{}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names[c.Name()] = c.CommandPath()
		}
	}
	for _, s := range synonyms()[word] {
		if path, ok := names[s]; ok {
			return []string{path}
		}
	}
	for _, c := range cmd.Commands() {
		for _, below := range c.Commands() {
			if below.Name() == word && below.IsAvailableCommand() {
				found = append(found, below.CommandPath())
			}
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, name := range nearest(word, names) {
		found = append(found, names[name])
	}
	return found
}

// wantOf says what a flag takes.
func wantOf(wrong *pflag.InvalidValueError) string {
	switch f := wrong.GetFlag(); f.Value.Type() {
	case "int", "int64", "uint", "uint64":
		return "want a whole number"
	case "bool":
		return "want true or false"
	}
	return wrong.Unwrap().Error()
}

// nearest returns at most three of the names that differ little from word, the nearest first. A name that
// begins with word differs least.
func nearest[V any](word string, names map[string]V) []string {
	type near struct {
		name string
		far  int
	}
	var all []near
	for name := range names {
		far := distance(word, name)
		if len(word) > 2 && strings.HasPrefix(name, word) {
			far = 0
		}
		if far <= 1+max(len(word), len(name))/4 && far < len(name) {
			all = append(all, near{name, far})
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(a.far-b.far, strings.Compare(a.name, b.name)) })
	out := make([]string, 0, 3)
	for _, n := range all[:min(len(all), 3)] {
		if n.far <= all[0].far+1 {
			out = append(out, n.name)
		}
	}
	return out
}

// distance counts the letters to insert, delete, change, or swap with their
// neighbour to make one word of the other.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(last[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// orList joins words for a sentence: "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// Texts returns names as plain text.
func Texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = string(t)
	}
	return out
}
