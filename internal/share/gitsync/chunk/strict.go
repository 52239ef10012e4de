package chunk

import (
	"errors"
	"reflect"
	"sync"

	"github.com/amber-memory/amber/internal/base/strictjson"
)

var (
	headerShape = sync.OnceValue(func() *strictjson.Shape { return strictjson.Of(reflect.TypeFor[Header]()) })
	lineShape   = sync.OnceValue(func() *strictjson.Shape { return strictjson.Of(reflect.TypeFor[line]()) })
	indexShape  = sync.OnceValue(func() *strictjson.Shape { return strictjson.Of(reflect.TypeFor[index]()) })
)

// strict reads one line of JSON without white space into a value. A field that is
// not known is too_new, too many elements are over quota, all the rest is damaged.
func strict(b []byte, s *strictjson.Shape, into any) error {
	err := strictjson.Rules{MaxDepth: maxDepth, MaxElements: maxElements}.Decode(b, s, into)
	var wrong *strictjson.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return damaged("decode: %v", err)
	case wrong.Reason == strictjson.UnknownField:
		return tooNew("%w, which this amber does not know", err)
	case wrong.Reason == strictjson.TooLong:
		return overQuota("the number of elements", maxElements+1, maxElements)
	}
	return damaged("%w", err)
}
