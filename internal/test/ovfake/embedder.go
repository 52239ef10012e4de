package ovfake

import (
	"crypto/sha256"
	"math"
	"regexp"
	"strings"
)

// Embedder turns text into vectors: each word is stemmed and hashed to four
// dimensions. Equal words are near each other, and there is no other meaning.
type Embedder struct {
	Dimensions int // 0: 128
	// Synonyms are words that are taken for another, both in lower case, before
	// they are stemmed; one that is taken for "" does not count.
	Synonyms map[string]string
	// Model makes the vectors instead, of Dimensions numbers and of length one; nil: words do.
	Model func(text string) []float32
}

const defaultDimensions = 128

var words = regexp.MustCompile(`[a-z0-9]+`)

// suffixes are cut off words that keep three letters at least; the first that fits.
var suffixes = []string{"ing", "ies", "es", "ed", "s"}

func stem(word string) string {
	for _, s := range suffixes {
		if rest, ok := strings.CutSuffix(word, s); ok && len(rest) >= 3 {
			return rest
		}
	}
	return word
}

func (e Embedder) dimensions() int {
	if e.Dimensions == 0 {
		return defaultDimensions
	}
	return e.Dimensions
}

// Vector returns a vector of length one, or of length zero for a text without words.
func (e Embedder) Vector(text string) []float32 {
	if e.Model != nil {
		return e.Model(text)
	}
	sum := make([]float64, e.dimensions())
	for _, w := range words.FindAllString(strings.ToLower(text), -1) {
		if other, ok := e.Synonyms[w]; ok {
			w = other
		}
		if w == "" {
			continue
		}
		add(sum, stem(w))
	}
	return normal(sum)
}

// add adds a word to a sum. Two bytes of its hash choose the dimension, of which
// the second matters only where there are more than 256 dimensions.
func add(sum []float64, word string) {
	h := sha256.Sum256([]byte(word))
	for i := range 4 {
		at := (int(h[2*i]) + int(h[2*i+8])<<8) % len(sum)
		if h[2*i+1]&1 == 1 {
			sum[at]++
		} else {
			sum[at]--
		}
	}
}

func normal(sum []float64) []float32 {
	length := 0.0
	for _, x := range sum {
		length += x * x
	}
	if length = math.Sqrt(length); length == 0 {
		length = 1
	}
	v := make([]float32, len(sum))
	for i, x := range sum {
		v[i] = float32(x / length)
	}
	return v
}

// quantised is a vector as a real server's index keeps it: numbers from -127 to 127,
// and what they are to be multiplied by.
type quantised struct {
	values []int8
	scale  float64
}

// quantise works with 32 bits and multiplies, so that halves are rounded as a real
// server rounds them.
func quantise(v []float32) quantised {
	var most float32
	for _, x := range v {
		most = max(most, x, -x)
	}
	q := quantised{values: make([]int8, len(v))}
	if most == 0 {
		return q
	}
	q.scale = float64(most / 127)
	factor := 127 / most
	for i, x := range v {
		q.values[i] = int8(math.Round(float64(x * factor)))
	}
	return q
}

// score compares two vectors: 1 for equal directions, 0.5 where there is nothing in
// common, 0 for opposite ones.
func (q quantised) score(other quantised) float64 {
	sum := 0
	for i, x := range q.values {
		sum += int(x) * int(other.values[i])
	}
	cosine := float64(sum) * q.scale * other.scale
	return float64(float32(min(max((1+cosine)/2, 0), 1)))
}
