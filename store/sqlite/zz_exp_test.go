package sqlite_test

import (
	"bytes"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
)

func TestZZ(t *testing.T) {
	st := openStore(t)
	dir := st.Agent().Dir()
	random := mathrand.New(mathrand.NewPCG(1, 2))
	surround(t, st, random, 0, 300)
	var xs []string
	for range 3000 {
		b := make([]byte, 11)
		for i := range b {
			b[i] = secretLetters[random.IntN(len(secretLetters))]
		}
		xs = append(xs, string(b))
	}
	var a, b strings.Builder
	for _, x := range xs {
		a.WriteString(x + "j ")
		b.WriteString(x + "k ")
	}
	if _, err := st.Write(t.Context(), amber.WriteRequest{Content: a.String()}); err != nil {
		t.Fatal(err)
	}
	ack, err := st.Write(t.Context(), amber.WriteRequest{Content: b.String()})
	if err != nil {
		t.Fatal(err)
	}
	surround(t, st, random, 300, 300*4)
	if _, err := st.Erase(t.Context(), ack.ID); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(dir + "/gen/1/*")
	for _, f := range files {
		bb, _ := os.ReadFile(f)
		n := 0
		for _, x := range xs {
			if bytes.Contains(bb, []byte(x+"k")) {
				n++
			}
		}
		t.Log(f, len(bb), n)
	}
}
