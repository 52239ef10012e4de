package search

import (
	"context"
	"slices"
	"strings"
)

// Model turns texts into vectors. It is safe for concurrent use.
type Model interface {
	// Name tells models apart, with everything that their vectors depend on: those of one
	// say nothing to another.
	Name() string
	// Embed returns a vector of length 1 for each text. Some models read questions and
	// passages differently.
	Embed(ctx context.Context, texts []string, question bool) ([][]float32, error)
}

// Choosy is a model that is for some questions and passages only. Others get no vector of it.
type Choosy interface {
	Model
	Knows(text string, question bool) bool
}

// Sharing is a model that makes the same vectors as others, which keep those of other passages: models of one space need the
// vector of a question once.
type Sharing interface {
	Model
	Space() string
}

// SpaceOf names what the vectors of a model can be compared with.
func SpaceOf(m Model) string {
	if s, ok := m.(Sharing); ok {
		return s.Space()
	}
	return m.Name()
}

// Lacking is a model that says which questions it cannot read although another model could; "" for the others.
type Lacking interface {
	Model
	Lacks(question string) string
}

// Levelled is a model whose cosines are not those of the built-in model: Level returns what says which of these means the same when
// a question is asked, for the question and a passage or for two passages.
type Levelled interface {
	Model
	Level(question string) func(cosine float64, question bool) float64
}

// Several are models side by side, the one that decides first. A question and a passage are compared by the first model that
// knows both.
type Several []Model

// Name implements [Model].
func (s Several) Name() string {
	var names []string
	for _, m := range s {
		if n := SpaceOf(m); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return strings.Join(names, " + ")
}

// Embed implements [Model]: the vectors are those of the first.
func (s Several) Embed(ctx context.Context, texts []string, question bool) ([][]float32, error) {
	return s[0].Embed(ctx, texts, question)
}

// Each returns the models of [Several], m itself where it is one model, or none for nil.
func Each(m Model) []Model {
	switch s := m.(type) {
	case nil:
		return nil
	case Several:
		return s
	}
	return []Model{m}
}

// Knows reports whether a model makes vectors of a text.
func Knows(m Model, text string, question bool) bool {
	choosy, ok := m.(Choosy)
	return !ok || choosy.Knows(text, question)
}

// Local is a model that is part of this process: a vector takes milliseconds, and no network.
type Local interface {
	Model
	Local()
}

// Embed returns the vectors of texts as they are stored.
func Embed(ctx context.Context, m Model, texts []string, question bool) ([]Vector, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	raw, err := m.Embed(ctx, texts, question)
	if err != nil {
		return nil, err
	}
	out := make([]Vector, len(raw))
	for i, v := range raw {
		out[i] = Quantize(v)
	}
	return out, nil
}
