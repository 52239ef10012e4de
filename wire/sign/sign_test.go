package sign_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// readVectors reads what colony-memory 0.1.2 made.
func readVectors(t testing.TB, file string, into any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	must.Do(t, err)
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	return must.Get(hex.DecodeString(s))(t)
}

type keyVector struct {
	Seed   string     `json:"seed_hex"`
	Public string     `json:"public_hex"`
	Key    sign.KeyID `json:"did_key"`
}

func keyVectors(t testing.TB) (l []keyVector) {
	t.Helper()
	readVectors(t, "didkeys.json", &l)
	if len(l) != 24 {
		t.Fatalf("%d vectors", len(l))
	}
	return l
}

// TestKeysHaveTheNamesThatColonyGivesThem goes from seed to name and back to
// the public key.
func TestKeysHaveTheNamesThatColonyGivesThem(t *testing.T) {
	t.Parallel()
	for _, v := range keyVectors(t) {
		public := ed25519.NewKeyFromSeed(unhex(t, v.Seed)).Public().(ed25519.PublicKey)
		if got := sign.NewKeyID(public); got != v.Key || hex.EncodeToString(public) != v.Public {
			t.Errorf("seed %s: got %s of %x, want %s", v.Seed, got, public, v.Key)
		}
		must.Equal(t, string(v.Key), hex.EncodeToString(must.Get(v.Key.PublicKey())(t)), v.Public)
		if got, err := sign.ParseKeyID(string(v.Key)); got != v.Key || err != nil {
			t.Errorf("parse %s: got %s, %v", v.Key, got, err)
		}
	}
}

// TestSignaturesAreThoseOfColony makes the signatures that colony-memory made,
// byte for byte, and accepts its own.
func TestSignaturesAreThoseOfColony(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name      string         `json:"name"`
		Seed      string         `json:"seed_hex"`
		Message   string         `json:"message"`
		Signature sign.Signature `json:"signature"`
	}
	readVectors(t, "signed.json", &vectors)
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors {
		must.Equal(t, v.Name, sign.SignWith(ed25519.NewKeyFromSeed(unhex(t, v.Seed)), []byte(v.Message)), v.Signature)
		must.Kind(t, v.Name, v.Signature.Verify([]byte(v.Message)), "")
	}
}

// TestAKeyHasOneName refuses every other spelling, and what is no key.
func TestAKeyHasOneName(t *testing.T) {
	t.Parallel()
	good := keyVectors(t)[3].Key
	of := func(b string) string {
		return string(sign.NewKeyID(ed25519.PublicKey(b))) // not a key of 32 bytes: only a name
	}
	tests := map[string]string{
		"empty":                      "",
		"prefix alone":               "did:key:z",
		"no prefix":                  strings.TrimPrefix(string(good), "did:key:"),
		"another multibase":          strings.Replace(string(good), ":z", ":m", 1),
		"another method":             strings.Replace(string(good), "did:key", "did:web", 1),
		"upper case":                 strings.ToUpper(string(good)),
		"a leading 1":                strings.Replace(string(good), ":z", ":z1", 1),
		"a digit too many":           string(good) + "1",
		"a digit too few":            string(good[:len(good)-1]),
		"not in the alphabet":        string(good[:len(good)-1]) + "0",
		"a line end":                 string(good) + "\n",
		"a space before it":          " " + string(good),
		"a fragment":                 string(good) + "#" + string(good[8:]),
		"31 bytes":                   of(strings.Repeat("x", 31)),
		"33 bytes":                   of(strings.Repeat("x", 33)),
		"no bytes":                   of(""),
		"a key of another algorithm": "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme", // secp256k1
		"very long":                  "did:key:z" + strings.Repeat("z", 1<<20),
		"invalid UTF-8":              "did:key:z\xff\xfe",
		"hostile to terminals":       "did:key:z\x1b[2J\n\n",
	}
	for name, s := range tests {
		_, err := sign.ParseKeyID(s)
		if amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("%s: got %v, want an error of kind invalid", name, err)
			continue
		}
		if text := err.Error(); len(text) > 300 || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\x1b") {
			t.Errorf("%s: the error says %q", name, text)
		}
	}
}

// TestASignatureIsNothingElse changes everything about a signature.
func TestASignatureIsNothingElse(t *testing.T) {
	t.Parallel()
	vectors := keyVectors(t)
	key := ed25519.NewKeyFromSeed(unhex(t, vectors[3].Seed))
	message := []byte("what is signed")
	good := sign.SignWith(key, message)
	must.Do(t, good.Verify(message))
	raw := must.Get(base64.RawURLEncoding.DecodeString(good.Sig))(t)
	encode := base64.RawURLEncoding.EncodeToString
	tests := map[string]func(s *sign.Signature){
		"no algorithm":      func(s *sign.Signature) { s.Alg = "" },
		"another algorithm": func(s *sign.Signature) { s.Alg = "none" },
		"upper case":        func(s *sign.Signature) { s.Alg = "Ed25519" },
		"another key":       func(s *sign.Signature) { s.KeyID = vectors[4].Key },
		"no key":            func(s *sign.Signature) { s.KeyID = "" },
		"no signature":      func(s *sign.Signature) { s.Sig = "" },
		"padded":            func(s *sign.Signature) { s.Sig += "==" },
		"a line end":        func(s *sign.Signature) { s.Sig += "\n" },
		"a line end inside": func(s *sign.Signature) { s.Sig = s.Sig[:40] + "\r\n" + s.Sig[40:] },
		"other last bits":   func(s *sign.Signature) { s.Sig = otherLastBits(s.Sig) },
		"cut":               func(s *sign.Signature) { s.Sig = encode(raw[:63]) },
		"longer":            func(s *sign.Signature) { s.Sig = encode(append([]byte(nil), append(raw, 0)...)) },
		"standard alphabet": func(s *sign.Signature) { s.Sig = base64.StdEncoding.EncodeToString(raw) },
		"of something else": func(s *sign.Signature) { s.Sig = sign.SignWith(key, []byte("something else")).Sig },
	}
	for name, spoil := range tests {
		s := good
		spoil(&s)
		if s == good {
			t.Fatalf("%s: nothing was spoiled", name)
		}
		must.Kind(t, name, s.Verify(message), amber.KindUntrusted)
	}
	for i := range raw {
		s := good
		flipped := append([]byte(nil), raw...)
		flipped[i] ^= 1
		s.Sig = encode(flipped)
		must.Hold(t, s.Verify(message) != nil, "byte %d flipped, and it matches", i)
	}
}

// otherLastBits returns another text that decodes to the same bytes.
func otherLastBits(s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, s[len(s)-1])
	return s[:len(s)-1] + string(alphabet[last|1])
}

// FuzzKeyID checks that what is accepted is the name of its key.
func FuzzKeyID(f *testing.F) {
	for _, v := range keyVectors(f) {
		f.Add(string(v.Key))
	}
	f.Add("did:key:z1111")
	f.Fuzz(func(t *testing.T, s string) {
		k, err := sign.ParseKeyID(s)
		if err != nil {
			return
		}
		if key := must.Get(k.PublicKey())(t); sign.NewKeyID(key) != k || string(k) != s {
			t.Errorf("%q was accepted", s)
		}
	})
}
