//go:build !nomodel

package embed

import (
	_ "embed"
	"sync"
	"unsafe"
)

// The file is made by tools/modelconv; MODEL.md says of what, and under which licence.
//
//go:embed minilm.model
var builtin string

// HasBuiltin reports whether this program carries a model.
const HasBuiltin = true

var readBuiltin = sync.OnceValues(func() (*Model, error) {
	return Parse(unsafe.Slice(unsafe.StringData(builtin), len(builtin)))
})

// Builtin returns the model that this program carries, nil where it was built without
// one. It is read where it lies: only what a text needs comes into memory.
func Builtin() (*Model, error) { return readBuiltin() }
