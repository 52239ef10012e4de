package ovfake_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// post returns the status and the answer to a request.
func post(t *testing.T, url, body string) (int, []byte) {
	t.Helper()
	resp := must.Get(http.Post(url, "application/json", strings.NewReader(body)))(t)
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, must.Get(io.ReadAll(resp.Body))(t)
}

func TestStubAnswersInBothEncodings(t *testing.T) {
	t.Parallel()
	stub := &ovfake.Stub{}
	server := httptest.NewServer(stub)
	t.Cleanup(server.Close)
	var floats struct {
		Data []struct{ Embedding []float32 }
	}
	_, raw := post(t, server.URL+"/v1/embeddings", `{"model":"m","input":["purple elephants","x"]}`)
	must.Do(t, json.Unmarshal(raw, &floats))
	var packed struct{ Data []struct{ Embedding string } }
	_, raw = post(t, server.URL+"/v1/embeddings", `{"model":"m","input":"purple elephants","encoding_format":"base64"}`)
	must.Do(t, json.Unmarshal(raw, &packed))
	bits := must.Get(base64.StdEncoding.DecodeString(packed.Data[0].Embedding))(t)
	got := make([]float32, len(bits)/4)
	for i := range got {
		got[i] = math.Float32frombits(binary.LittleEndian.Uint32(bits[4*i:]))
	}
	must.Equal(t, "packed", got, floats.Data[0].Embedding)
	must.Equal(t, "vector", got, ovfake.Embedder{}.Vector("purple elephants"))
	must.Equal(t, "texts", stub.Texts(), []string{"purple elephants", "x", "purple elephants"})
}

func TestStubFails(t *testing.T) {
	t.Parallel()
	stub := &ovfake.Stub{}
	server := httptest.NewServer(stub)
	t.Cleanup(server.Close)
	stub.Fail(http.StatusServiceUnavailable)
	status, _ := post(t, server.URL+"/v1/embeddings", `{"input":"x"}`)
	must.Equal(t, "status", status, http.StatusServiceUnavailable)
	stub.Fail(0)
	stub.Hold(true)
	answered := make(chan int)
	go func() {
		status, _ := post(t, server.URL+"/v1/chat/completions", `{}`)
		answered <- status
	}()
	stub.Hold(false)
	must.Equal(t, "status", <-answered, http.StatusOK)
}
