//go:build nomodel

package embed

// HasBuiltin reports whether this program carries a model.
const HasBuiltin = false

// Builtin returns nil: this program was built without a model.
func Builtin() (*Model, error) { return nil, nil }
