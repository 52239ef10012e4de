package embed

import (
	"encoding/binary"
	"errors"
	"math"
	"sort"
	"strings"
	"unicode/utf8"
)

// unigram cuts texts as a unigram model of SentencePiece does: of all ways to write a text as pieces of the vocabulary, the
// likeliest. Pieces are read where they lie in the file.
type unigram struct {
	vocabulary
	scores  []float32
	longest int    // bytes of the longest piece
	trie    []byte // a double array of 4 bytes a unit: what characters are replaced by (darts-clone)
	texts   []byte // the replacements, each with a zero byte behind it
	unknown float32
}

// The pieces that every model of the format has.
const (
	unknownPiece = 0
	startPiece   = 1
	endPiece     = 2
)

// blank is a space in pieces.
const blank = "\u2581"

func (p *unigram) check() error {
	if err := p.ordered(); err != nil {
		return err
	}
	least := float32(0)
	for i, s := range p.scores {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
			return errors.New("a piece of the model file has a score that is no number")
		}
		least = min(least, s)
		p.longest = max(p.longest, int(p.ends[i+1]-p.ends[i]))
	}
	p.unknown = least - 10
	if len(p.trie) < 4 || len(p.trie)%4 != 0 {
		return errors.New("the replacements of the model file are cut off")
	}
	return nil
}

// tokenize returns the pieces of a text between start and end, at most so many.
func (p *unigram) tokenize(text string, most int) []int32 {
	if limit := most * maxWordBytes; len(text) > limit {
		text = text[:limit]
	}
	ids := p.cut(p.normalize(strings.ToValidUTF8(text, "\ufffd")))
	ids = ids[:min(len(ids), most-2)]
	out := append(make([]int32, 0, len(ids)+2), startPiece)
	return append(append(out, ids...), endPiece)
}

// unit returns a unit of the double array; 0 beyond its end.
func (p *unigram) unit(at uint32) uint32 {
	if uint64(at)*4+4 > uint64(len(p.trie)) {
		return 0
	}
	return binary.LittleEndian.Uint32(p.trie[4*at:])
}

// replacement returns what the beginning of text is written as, and how many bytes of text that is.
func (p *unigram) replacement(text string) (string, int) {
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & 0x200 >> 6) }
	length, value := 0, uint32(0)
	node := offset(p.unit(0))
	for i := range len(text) {
		node ^= uint32(text[i])
		unit := p.unit(node)
		if unit&0x800000FF != uint32(text[i]) {
			break
		}
		node ^= offset(unit)
		if unit&0x100 != 0 {
			length, value = i+1, p.unit(node)&0x7FFFFFFF
		}
	}
	if length == 0 || int(value) >= len(p.texts) {
		_, size := utf8.DecodeRuneInString(text)
		return text[:size], size
	}
	end := int(value)
	for end < len(p.texts) && p.texts[end] != 0 {
		end++
	}
	return string(p.texts[value:end]), length
}

// normalize writes a text as the model was trained on it: compatible characters as one, one blank where there is white
// space, and one before the first word.
func (p *unigram) normalize(text string) string {
	var out strings.Builder
	space := true // nothing, or a blank, was written last
	for len(text) > 0 {
		part, size := p.replacement(text)
		text = text[size:]
		for i := 0; i < len(part); {
			if part[i] == ' ' {
				space = true
				i++
				continue
			}
			if space {
				out.WriteString(blank)
				space = false
			}
			end := strings.IndexByte(part[i:], ' ')
			if end < 0 {
				end = len(part) - i
			}
			out.WriteString(part[i : i+end])
			i += end
		}
	}
	return out.String()
}

// step is the best way to write a text up to a place.
type step struct {
	score float32
	from  int32 // where its last piece begins
	piece int32
}

// cut returns the likeliest pieces of a text that was normalized.
func (p *unigram) cut(text string) []int32 {
	if text == "" {
		return []int32{unknownPiece}
	}
	best := make([]step, len(text)+1)
	for i := range best[1:] {
		best[1+i].score = float32(math.Inf(-1))
	}
	reach := func(to int, s step) {
		if s.score > best[to].score {
			best[to] = s
		}
	}
	for at := range text {
		_, size := utf8.DecodeRuneInString(text[at:])
		single := false
		p.beginning(text[at:min(len(text), at+p.longest)], func(length int, id uint32) {
			reach(at+length, step{best[at].score + p.scores[id], int32(at), int32(id)})
			single = single || length == size
		})
		if !single {
			reach(at+size, step{best[at].score + p.unknown, int32(at), unknownPiece})
		}
	}
	n := 0
	for at := len(text); at > 0; at = int(best[at].from) {
		n++
	}
	ids := make([]int32, n)
	for at := len(text); at > 0; at = int(best[at].from) {
		n--
		ids[n] = best[at].piece
	}
	return ids
}

// beginning calls fn for each piece that text begins with, the shortest first.
func (p *unigram) beginning(text string, fn func(length int, id uint32)) {
	low, high := 0, len(p.sorted)
	for length := 1; length <= len(text); length++ {
		c := text[length-1]
		// The range is narrowed to the pieces whose next byte is c. The piece that has no next byte is first.
		byteAt := func(i int) int {
			if w := p.word(p.sorted[i]); len(w) >= length {
				return int(w[length-1])
			}
			return -1
		}
		begin := low + sort.Search(high-low, func(i int) bool { return byteAt(low+i) >= int(c) })
		high = begin + sort.Search(high-begin, func(i int) bool { return byteAt(begin+i) > int(c) })
		if low = begin; low >= high {
			return
		}
		if id := p.sorted[low]; len(p.word(id)) == length {
			fn(length, id)
		}
	}
}
