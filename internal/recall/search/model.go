package search

import "context"

// Model turns texts into vectors. It is safe for concurrent use.
type Model interface {
	// Name tells models apart, with everything that their vectors depend on: those of one
	// say nothing to another.
	Name() string
	// Embed returns a vector of length 1 for each text. Some models read questions and
	// passages differently.
	Embed(ctx context.Context, texts []string, question bool) ([][]float32, error)
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
