package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// A screen that asks for many large records does not hold their answers. Other tests do not run meanwhile.
func TestAScreenKeepsItsFirstAnswerAlone(t *testing.T) {
	const large = 1 << 20
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(append([]byte(r.URL.Path), bytes.Repeat([]byte("x"), large)...))
	})
	v := &visit{p: &Page{o: Options{API: api}}, w: httptest.NewRecorder(), r: httptest.NewRequest(http.MethodGet, "/", nil), log: &calls{}}
	before := heap()
	for i := range 100 {
		resp := must.Get(inside{v: v}.RoundTrip(httptest.NewRequest(http.MethodGet, fmt.Sprintf("/record/%d", i), nil)))(t)
		must.Get(io.Copy(io.Discard, resp.Body))(t)
		must.NoError(t, resp.Body.Close())
	}
	if held := int64(heap()) - int64(before); held > 10*large {
		t.Errorf("after 100 answers of %d bytes the screen holds %d bytes", large, held)
	}
	first, asked := v.log.first()
	must.Equal(t, "asked", asked, true)
	must.Equal(t, "first call", first.URL, "/record/0")
	must.Equal(t, "bytes of the first answer", len(first.answer), len("/record/0")+large)
	must.Equal(t, "bytes that were read", v.log.size() >= 100*large, true)
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
