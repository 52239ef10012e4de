// Command modelconv turns the published files of a sentence model (ONNX with int8
// weights as onnxruntime quantizes them, and its tokenizer) into the model file of
// package embed. No number is rounded again. The result depends on the two inputs
// alone: anyone can repeat it and compare digests.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/recall/embed"
)

func main() {
	var h embed.Header
	onnxFile := flag.String("onnx", "", "the ONNX file")
	tokenizer := flag.String("tokenizer", "", "the file tokenizer.json")
	out := flag.String("out", "", "the model file to write")
	want := flag.String("sha256", "", "the digest the ONNX file must have")
	flag.StringVar(&h.Name, "name", "", "the name of the model")
	flag.StringVar(&h.Licence, "licence", "", "its licence, as an SPDX identifier")
	flag.StringVar(&h.Source, "source", "", "where the ONNX file was published")
	flag.StringVar(&h.QueryPrefix, "query-prefix", "", "text before every question")
	flag.StringVar(&h.PassagePrefix, "passage-prefix", "", "text before every passage")
	flag.IntVar(&h.Heads, "heads", 12, "attention heads")
	flag.IntVar(&h.MaxTokens, "max-tokens", 256, "tokens of a text that are read")
	flag.Parse()
	if err := convert(h, *onnxFile, *tokenizer, *want, *out); err != nil {
		fmt.Fprintln(os.Stderr, "modelconv:", err)
		os.Exit(1)
	}
}

func convert(h embed.Header, onnxFile, tokenizer, want, out string) error {
	b, err := os.ReadFile(onnxFile)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	h.SourceSHA256 = hex.EncodeToString(sum[:])
	if want != "" && want != h.SourceSHA256 {
		return fmt.Errorf("%s has the digest %s, want %s", onnxFile, h.SourceSHA256, want)
	}
	g, err := readONNX(b)
	if err != nil {
		return fmt.Errorf("read %s: %w", onnxFile, err)
	}
	words, err := readVocabulary(tokenizer)
	if err != nil {
		return err
	}
	w, err := newWriter(g, h, words)
	if err != nil {
		return err
	}
	return fsx.Replace(fsx.OS(), out, 0o644, w)
}

// readVocabulary returns the words of a WordPiece tokenizer by id.
func readVocabulary(file string) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var t struct {
		Model struct {
			Type  string         `json:"type"`
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, err
	}
	if t.Model.Type != "WordPiece" {
		return nil, fmt.Errorf("%s has a tokenizer of type %q, want WordPiece", file, t.Model.Type)
	}
	words := make([]string, len(t.Model.Vocab))
	for word, id := range t.Model.Vocab {
		if id < 0 || id >= len(words) || words[id] != "" {
			return nil, fmt.Errorf("%s: id %d of %q is out of range or taken", file, id, word)
		}
		words[id] = word
	}
	return words, nil
}

func newWriter(g *graph, h embed.Header, words []string) ([]byte, error) {
	tokens, scale, dims, err := g.table("embeddings.word_embeddings.weight")
	if err != nil {
		return nil, err
	}
	h.Vocabulary, h.Dim = dims[0], dims[1]
	if len(words) != h.Vocabulary {
		return nil, fmt.Errorf("the tokenizer has %d words, the model %d", len(words), h.Vocabulary)
	}
	for g.has(fmt.Sprintf("encoder.layer.%d.output.dense.bias", h.Layers)) {
		h.Layers++
	}
	inner, err := g.tensor("encoder.layer.0.intermediate.dense.bias")
	if err != nil {
		return nil, err
	}
	h.Inner = inner.dims[0]
	f, err := embed.NewFile(embed.Magic, h)
	if err != nil {
		return nil, err
	}
	f.Vocabulary(words)
	f.Matrix(tokens, slices.Repeat([]float32{scale}, h.Vocabulary))
	if err := errors.Join(writePositions(f, g, h), writeLayers(f, g, h)); err != nil {
		return nil, err
	}
	return f.End(), nil
}

// writePositions writes what a position adds to a token, with what the first kind of
// sentence adds: there is only one sentence.
func writePositions(f *embed.File, g *graph, h embed.Header) error {
	positions, by, _, err1 := g.table("embeddings.position_embeddings.weight")
	kinds, kindBy, _, err2 := g.table("embeddings.token_type_embeddings.weight")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if len(positions) < h.MaxTokens*h.Dim || len(kinds) < h.Dim {
		return fmt.Errorf("the model has %d positions, want %d", len(positions)/h.Dim, h.MaxTokens)
	}
	sum := make([]float32, h.MaxTokens*h.Dim)
	for i := range sum {
		sum[i] = float32(positions[i])*by + float32(kinds[i%h.Dim])*kindBy
	}
	f.Floats(sum)
	return writeNorm(f, g, "embeddings.LayerNorm")
}

func writeNorm(f *embed.File, g *graph, name string) error {
	w, err1 := g.tensor(name + ".weight")
	b, err2 := g.tensor(name + ".bias")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	f.Floats(w.data)
	f.Floats(b.data)
	return nil
}

func writeLayers(f *embed.File, g *graph, h embed.Header) error {
	for l := range h.Layers {
		name := fmt.Sprintf("encoder.layer.%d.", l)
		var qkv linear
		for _, part := range []string{"query", "key", "value"} {
			l, err := g.linear(name+"attention.self."+part, h.Dim, h.Dim)
			if err != nil {
				return err
			}
			if part == "query" { // the scale of attention
				by := float32(1 / math.Sqrt(float64(h.Dim/h.Heads)))
				scale(l.scale, by)
				scale(l.bias, by)
			}
			qkv.rows, qkv.scale, qkv.bias = append(qkv.rows, l.rows...), append(qkv.scale, l.scale...), append(qkv.bias, l.bias...)
		}
		f.Matrix(qkv.rows, qkv.scale)
		f.Floats(qkv.bias)
		for _, part := range []struct {
			name, norm string
			n, k       int
		}{
			{"attention.output.dense", "attention.output.LayerNorm", h.Dim, h.Dim},
			{"intermediate.dense", "", h.Inner, h.Dim},
			{"output.dense", "output.LayerNorm", h.Dim, h.Inner},
		} {
			w, err := g.linear(name+part.name, part.n, part.k)
			if err != nil {
				return err
			}
			f.Matrix(w.rows, w.scale)
			f.Floats(w.bias)
			if part.norm != "" {
				if err := writeNorm(f, g, name+part.norm); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func scale(v []float32, by float32) {
	for i := range v {
		v[i] *= by
	}
}
