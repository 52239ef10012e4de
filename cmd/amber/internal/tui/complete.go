package tui

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber/cmd/amber/internal/window"
)

// completions are the lines that could be typed, from what was typed so far: the next word of a
// verb, or a flag.
func completions(verbs []Verb, text string) (list []window.Offer) {
	start, last := "", text
	if i := strings.LastIndexByte(text, ' '); i >= 0 {
		start, last = text[:i+1], text[i+1:]
	}
	typed := verbWords(start)
	if strings.HasPrefix(last, "-") {
		for _, f := range flagsOf(verbs, typed) {
			if strings.HasPrefix(f, last) {
				list = append(list, window.Offer{Text: start + f, About: ""})
			}
		}
		return list
	}
	seen := map[string]bool{}
	for _, v := range verbs {
		words := strings.Fields(v.Words)
		if len(words) <= len(typed) || !slices.Equal(words[:len(typed)], typed) || !strings.HasPrefix(words[len(typed)], last) {
			continue
		}
		if next := words[len(typed)]; !seen[next] {
			seen[next] = true
			list = append(list, window.Offer{Text: start + next, About: v.Short})
		}
	}
	return list
}

// verbWords are the words before the first flag.
func verbWords(text string) (list []string) {
	for _, w := range strings.Fields(text) {
		if strings.HasPrefix(w, "-") {
			break
		}
		list = append(list, w)
	}
	return list
}

// flagsOf are the flags of the longest verb that was typed.
func flagsOf(verbs []Verb, typed []string) (flags []string) {
	longest := 0
	for _, v := range verbs {
		words := strings.Fields(v.Words)
		if n := len(words); n > longest && n <= len(typed) && slices.Equal(words, typed[:n]) {
			longest, flags = n, v.Flags
		}
	}
	return flags
}

// completed is the text with as much as every offer shares; the only one gets a blank behind it.
func completed(text string, offers []window.Offer) string {
	if len(offers) == 0 {
		return text
	}
	common := offers[0].Text
	for _, o := range offers[1:] {
		for !strings.HasPrefix(o.Text, common) {
			common = common[:len(common)-1]
		}
	}
	if len(offers) == 1 {
		return common + " "
	}
	return common
}
