package redact

import "strings"

// pairs are the letter pairs most words are made of: nine tenths of the pairs
// in English and in the names of programs, three tenths of those in random
// letters.
const pairs = "ab ac ad ag ai al am an ap ar as at au ba be bl bo bu ca ce ch ci ck cl co cr ct cu da de di do ds du ea ec " +
	"ed ee ef eg el em en ep er es et ev ex fa fe ff fi fl fo fr fu ge gh gi gn gr ha he hi ho ht ia ib ic id ie " +
	"if ig il im in io ip ir is it iv iz ke la ld le li ll lo ls lt lu ly ma me mi mo mp na nc nd ne nf ng ni no " +
	"ns nt nu oc od ol om on oo op or os ot ou ov ow pa pe pi pl po pp pr pt pu qu ra rc rd re ri rm rn ro rr rs " +
	"rt ru ry sa sc se sh si so sp ss st su sy ta tc te th ti to tp tr ts tt tu ty uc ue ui ul um un up ur us ut " +
	"va ve vi wa wh wi xp xt yp ze"

// usual holds for two folded letters whether they are one of pairs.
var usual = func() (table [26][26]bool) {
	for _, p := range strings.Fields(pairs) {
		table[p[0]-'a'][p[1]-'a'] = true
	}
	return table
}()

// wordShare returns the part of s, from 0 to 1, that lies in words: in four or
// more letters, of one hump of a camel-case name, most pairs of which are
// usual.
func wordShare(s string) float64 {
	words := 0
	for i := 0; i < len(s); {
		end := humpEnd(s, i)
		if end == i {
			i++
			continue
		}
		if isWord(s[i:end]) {
			words += end - i
		}
		i = end
	}
	return float64(words) / float64(max(len(s), 1))
}

// humpEnd returns where the hump that begins at i ends: letters of one case,
// or a capital and small letters. It is i when no letter stands there.
func humpEnd(s string, i int) int {
	end := i
	for end < len(s) && isUpper(s[end]) {
		end++
	}
	if end > i+1 {
		return end
	}
	for end < len(s) && isLower(s[end]) {
		end++
	}
	return end
}

func isWord(s string) bool {
	return len(s) >= 4 && 10*usualPairs(s) >= 7*(len(s)-1)
}

// usualPairs counts the usual pairs in s, which is made of letters.
func usualPairs(s string) int {
	n := 0
	for i := 1; i < len(s); i++ {
		if usual[lower(s[i-1])-'a'][lower(s[i])-'a'] {
			n++
		}
	}
	return n
}

// jumbled reports whether s is made of letters as a machine picks them: the
// case changes again and again, and few pairs are usual. It holds for nineteen
// of twenty random strings of sixteen letters and for one of a hundred names
// in programs.
func jumbled(s string) bool { return isJumble(s, 55) }

// isJumble is jumbled for a share of usual pairs of most percent.
func isJumble(s string, most int) bool {
	const least = 12
	if len(s) < least {
		return false
	}
	changes := 0
	for i := range len(s) {
		if !isUpper(s[i]) && !isLower(s[i]) {
			return false
		}
		if i > 0 && isUpper(s[i]) != isUpper(s[i-1]) {
			changes++
		}
	}
	return 4*changes >= len(s) && 100*usualPairs(s) <= most*(len(s)-1) && wordShare(s) <= 0.35
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
