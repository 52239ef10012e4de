package embed

import (
	"context"

	"github.com/amber-memory/amber"
)

// OnDemand is the built-in model, read when it is first used: a program that asks nothing
// does not pay for it. It is safe for concurrent use.
type OnDemand struct{}

// Name names the model to the byte; "" where it cannot be read.
func (OnDemand) Name() string {
	m, err := Builtin()
	if err != nil || m == nil {
		return ""
	}
	return m.Name()
}

// Local says that vectors are made in this process.
func (OnDemand) Local() {}

// Embed returns the vectors of texts. Errors: unsupported for a program that was built
// without a model; damaged.
func (OnDemand) Embed(ctx context.Context, texts []string, question bool) ([][]float32, error) {
	m, err := Builtin()
	switch {
	case err != nil:
		return nil, &amber.Error{Op: "read model", Kind: amber.KindDamaged, ID: "builtin", Err: err}
	case m == nil:
		return nil, amber.Errorf(amber.KindUnsupported, "read model", "builtin", "this program was built without a model")
	}
	return m.Embed(ctx, texts, question)
}
