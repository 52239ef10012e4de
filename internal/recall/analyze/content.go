package analyze

// Content returns the stems of the content words of text in order of appearance:
// stop words are left out, characters of scripts without spaces come in pairs.
func Content(text string) []string {
	words := []string{}
	for t := range pieces(text) {
		switch folded := string(t.folded); {
		case t.class == ideograph:
			words = append(words, Grams(text[t.start:t.end], 2)...)
		case !isStopWord(folded) && !onlySigns(folded):
			words = append(words, Stem(folded))
		}
	}
	return words
}
