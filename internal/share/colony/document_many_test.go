package colony_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestDocumentsAreBounded: a snapshot of few bytes may hold very many documents,
// each of which costs more than its bytes.
func TestDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	const most = 100_000
	docs := colony.Documents{}
	for i := range most {
		docs[fmt.Sprintf("%05x", i)] = ""
	}
	plaintext := must.Get(docs.Canonical())(t)
	read := func(plaintext []byte) (colony.Documents, error) {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		must.Get(w.Write(plaintext))(t)
		must.Do(t, w.Close())
		p := handmade(t, plaintext, base64.StdEncoding.EncodeToString(z.Bytes()), []string{})
		docs, _, err := unpack(t, p, colony.ReadOptions{Tolerant: true})
		return docs, err
	}
	must.Equal(t, "documents", len(must.Get(read(plaintext))(t)), most)
	docs["one more"] = ""
	must.Fail(docs.Canonical())(t, "writing one more", amber.KindQuota)
	plaintext = append(bytes.TrimSuffix(plaintext, []byte("}")), `,"one more":""}`...)
	must.Fail(read(plaintext))(t, "reading one more", amber.KindQuota)
}
