//go:build nomodel

package embed

// Builtin returns nil: this program was built without a model.
func Builtin() (*Model, error) { return nil, nil }
