package strictjson_test

import (
	"math"
	"testing"

	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestALineEscapesOnlyWhatItHasTo(t *testing.T) {
	t.Parallel()
	must.Equal(t, "a line", string(must.Get(strictjson.Line(map[string]string{"a": "<b> & \"c\"\n"}))(t)), `{"a":"<b> & \"c\"\n"}`)
	_, err := strictjson.Line(math.Inf(1))
	must.Equal(t, "what is no JSON", err != nil, true)
}
