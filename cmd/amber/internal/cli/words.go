package cli

import (
	"math"
	"strings"

	"github.com/spf13/cobra"
)

// Verb is a command whose words [Describe] takes from the page of its room.
func Verb(name string, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: name, RunE: run}
}

// A page of words has a section like this for each verb:
//
//	## concept set ID [CONCEPT...]
//	needs the id of a memory
//
//	Replace the concepts of a memory, or remove all of them
//
//	Replace the concepts of a memory. Without CONCEPT all of them are removed. {ids}
//
//	```sh
//	amber concept set 5f3a91c0 databases "message queues"
//	```
//
//	## {ids}
//
//	An ID is a whole id, or its last 8 or more digits if no other id ends in them.
//
// Below the heading, how the verb is called, stand the arguments that it needs; then what it does on one line, more
// about it, and examples. A heading in braces is a passage that other words name.
const (
	headingMark = "\n## "
	needMark    = "needs "
	sampleMark  = "\n\n```sh\n"
	sampleEnd   = "\n```"
)

// Describe gives verbs, and those below them, their words from the page of their room. Values are pairs: a name in
// braces, and what the page says instead. A verb without words, and words without a verb, are mistakes in Amber.
func Describe(text string, values []string, verbs ...*cobra.Command) []*cobra.Command {
	sections := map[string]string{}
	for section := range strings.SplitSeq(text, headingMark) {
		heading, body, _ := strings.Cut(section, "\n")
		if strings.HasPrefix(heading, "{") {
			values = append(values, heading, strings.TrimSpace(body))
			continue
		}
		sections[pathOf(heading)] = section
	}
	delete(sections, "") // the title of the page
	d := describer{sections, strings.NewReplacer(values...)}
	for _, v := range verbs {
		d.describe("", v)
	}
	for path := range sections {
		panic("amber: there is no verb " + path)
	}
	return verbs
}

// pathOf returns the words of a heading that lead to the verb.
func pathOf(heading string) string {
	words := strings.Fields(heading)
	for i, word := range words {
		if word[0] < 'a' || word[0] > 'z' {
			words = words[:i]
			break
		}
	}
	return strings.Join(words, " ")
}

// describer gives verbs the words of a page.
type describer struct {
	sections map[string]string // by the path of the verb; each is used once
	values   *strings.Replacer
}

func (d describer) describe(above string, v *cobra.Command) {
	path := above + v.Name()
	section, ok := d.sections[path]
	if !ok {
		panic("amber: the verb " + path + " has no words")
	}
	delete(d.sections, path)
	if strings.Contains(section, "{") { // replacing takes time, and each hook of a host is a run
		section = d.values.Replace(section)
	}
	heading, body, _ := strings.Cut(section, "\n")
	v.Use = strings.TrimPrefix(heading, above)
	var needs []string
	for strings.HasPrefix(body, needMark) {
		line, rest, _ := strings.Cut(body, "\n")
		needs, body = append(needs, strings.TrimPrefix(line, needMark)), rest
	}
	body, examples, _ := strings.Cut(strings.TrimSpace(body), sampleMark)
	v.Short, v.Long, _ = strings.Cut(body, "\n\n")
	if examples != "" {
		v.Example = "  " + strings.ReplaceAll(strings.TrimSuffix(examples, sampleEnd), "\n", "\n  ")
	}
	if v.Args == nil {
		v.Args = argumentsOf(v.Use, needs)
	}
	for _, below := range v.Commands() {
		d.describe(path+" ", below)
	}
}

// argumentsOf checks arguments as the usage of a verb says: those that it needs, then those that may be left out.
func argumentsOf(use string, needs []string) cobra.PositionalArgs {
	words := strings.Fields(use)[1:]
	for i, word := range words {
		if strings.HasPrefix(word, "--") {
			words = words[:i]
			break
		}
	}
	most := len(words)
	if strings.Contains(use, "...") {
		most = math.MaxInt
	}
	return UpTo(most, needs...)
}
