package agekey_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/test/must"
)

func newX25519(t testing.TB) *age.X25519Identity {
	t.Helper()
	return must.Get(age.GenerateX25519Identity())(t)
}

func newHybrid(t testing.TB) *age.HybridIdentity {
	t.Helper()
	return must.Get(age.GenerateHybridIdentity())(t)
}

// roundTrip encrypts to a recipient and opens it with an identity.
func roundTrip(t *testing.T, r age.Recipient, id age.Identity) {
	t.Helper()
	var b bytes.Buffer
	w := must.Get(age.Encrypt(&b, r))(t)
	io.WriteString(w, "memory")
	must.Do(t, w.Close())
	out := must.Get(age.Decrypt(&b, id))(t)
	must.Equal(t, "plain text", string(must.Get(io.ReadAll(out))(t)), "memory")
}

func TestRecipientsOfAgeHaveOneSpelling(t *testing.T) {
	t.Parallel()
	x, h := newX25519(t), newHybrid(t)
	for _, tt := range []struct {
		name, text, want string
		kind             agekey.Kind
		id               age.Identity
	}{
		{"x25519", " " + x.Recipient().String() + "\n", x.Recipient().String(), agekey.X25519, x},
		{"hybrid", h.Recipient().String(), h.Recipient().String(), agekey.Hybrid, h},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := must.Get(agekey.ParseRecipient(tt.text))(t)
			if r.Text != tt.want || r.Kind != tt.kind {
				t.Errorf("got %q of kind %s, want %q of kind %s", r.Text, r.Kind, tt.want, tt.kind)
			}
			roundTrip(t, r.Recipient, tt.id)
			of, ok := agekey.RecipientOf(tt.id)
			must.Hold(t, ok && of.Text == tt.want && of.Kind == tt.kind, "RecipientOf: got %q of kind %s, %v", of.Text, of.Kind, ok)
		})
	}
}

func TestBadRecipientsAreInvalidAndNotRepeated(t *testing.T) {
	t.Parallel()
	x := newX25519(t)
	good := x.Recipient().String()
	for _, s := range []string{
		"", " ", "age1", good[:len(good)-1], strings.ToUpper(good), good + "\n" + good,
		"age1pq1qqqq", "age1yubikey1qqqqqqqq", x.String(), strings.ToLower(x.String()),
		newHybrid(t).String(), strings.Repeat("a", 5000), "ssh-ed25519", "ssh-dss AAAA", "ssh-rsa AAAA\x00",
		"mike@example.org",
	} {
		_, err := agekey.ParseRecipient(s)
		if amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("ParseRecipient(%.20q): got %v, want invalid", s, err)
			continue
		}
		if len(s) > 12 && strings.Contains(err.Error(), s[8:]) {
			t.Errorf("the error repeats what it was given: %v", err)
		}
	}
}

func TestHybridRecipientsAreNotMixedWithOthers(t *testing.T) {
	t.Parallel()
	x1, x2 := newX25519(t).Recipient().String(), newX25519(t).Recipient().String()
	h1, h2 := newHybrid(t).Recipient().String(), newHybrid(t).Recipient().String()
	for _, tt := range []struct {
		name string
		list []string
		want []string
		kind amber.Kind
	}{
		{"none", nil, nil, ""},
		{"doubles are dropped, order is kept", []string{x2, x1, x2}, []string{x2, x1}, ""},
		{"all hybrid", []string{h1, h2}, []string{h1, h2}, ""},
		{"mixed", []string{h1, x1}, nil, amber.KindInvalid},
		{"mixed, the other way", []string{x1, x2, h1}, nil, amber.KindInvalid},
		{"one is bad", []string{x1, "nobody"}, nil, amber.KindInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, err := agekey.ParseRecipients(tt.list)
			if amber.KindOf(err) != tt.kind {
				t.Fatalf("got %v, want kind %q", err, tt.kind)
			}
			var got []string
			for _, r := range list {
				got = append(got, r.Text)
			}
			if err == nil {
				must.Equal(t, "recipients", got, tt.want)
				must.Equal(t, "recipients of Ages", len(agekey.Ages(list)), len(tt.want))
			}
		})
	}
}

func TestRecipientsAreBounded(t *testing.T) {
	t.Parallel()
	var list []string
	for range agekey.MaxRecipients + 1 {
		list = append(list, newX25519(t).Recipient().String())
	}
	must.Kind(t, fmt.Sprintf("%d recipients", agekey.MaxRecipients), must.Err(agekey.ParseRecipients(list[1:])), "")
	must.Fail(agekey.ParseRecipients(list))(t, fmt.Sprintf("%d recipients", len(list)), amber.KindInvalid)
}

func TestIdentitiesAreReadLineByLine(t *testing.T) {
	t.Parallel()
	x, h := newX25519(t), newHybrid(t)
	text := "# a comment\r\n\n  " + x.String() + "\r\n#AGE-SECRET-KEY-1\n" + h.String()
	ids := must.Get(agekey.ParseIdentities(strings.NewReader(text)))(t)
	if len(ids) != 2 {
		t.Fatalf("got %d identities, want 2", len(ids))
	}
	roundTrip(t, x.Recipient(), ids[0])
	roundTrip(t, h.Recipient(), ids[1])
}

func TestBadIdentitiesAreInvalidAndNotRepeated(t *testing.T) {
	t.Parallel()
	secret := newX25519(t).String()
	other := "Q" // a character that the key does not have there
	if secret[30:31] == other {
		other = "P"
	}
	for name, text := range map[string]string{
		"empty":         "",
		"comments only": "# " + secret,
		"cut":           secret[:len(secret)-1],
		"changed":       secret[:30] + other + secret[31:],
		"another kind":  "AGE-SECRET-KEY-9" + secret[16:],
		"plugin":        "AGE-PLUGIN-YUBIKEY-1" + secret[16:],
		"public":        newX25519(t).Recipient().String(),
		"second bad":    secret + "\n" + secret[:40],
		"encrypted":     "age-encryption.org/v1\n-> scrypt x 18\n",
		"armored":       "-----BEGIN AGE ENCRYPTED FILE-----\n" + secret,
		"bad pem":       "-----BEGIN OPENSSH PRIVATE KEY-----\n" + secret + "\n-----END OPENSSH PRIVATE KEY-----\n",
		"binary":        "\x00\xff" + secret,
		"too long":      strings.Repeat("#\n", 40<<10),
		"too many":      strings.Repeat(secret+"\n", 101),
	} {
		_, err := agekey.ParseIdentities(strings.NewReader(text))
		if amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("%s: got %v, want invalid", name, err)
			continue
		}
		must.Hold(t, !strings.Contains(err.Error(), secret[20:30]), "%s: the error repeats the key: %v", name, err)
	}
	must.Fail(agekey.ParseIdentities(io.MultiReader(strings.NewReader("#"), failing{})))(t, "a failing reader", amber.KindInternal)
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func TestIdentityFilesOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "id.txt")
	write(t, file, newX25519(t).String(), 0o600)
	must.Kind(t, "mode 0600", must.Err(agekey.ReadIdentities(nil, file)), "")
	must.Fail(agekey.ReadIdentities(nil, file+"x"))(t, "missing", amber.KindNotFound)
	must.Fail(agekey.ReadIdentities(nil, filepath.Dir(file)))(t, "a folder", amber.KindInvalid)
	if runtime.GOOS == "windows" {
		return
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o601, 0o644} {
		must.Do(t, os.Chmod(file, mode))
		_, err := agekey.ReadIdentities(nil, file)
		if amber.KindOf(err) != amber.KindRefused || amber.HintOf(err) != "chmod 600 "+file {
			t.Errorf("mode %o: got %v, hint %q", mode, err, amber.HintOf(err))
		}
	}
}

func write(t *testing.T, file, text string, mode fs.FileMode) {
	t.Helper()
	must.Do(t, os.WriteFile(file, []byte(text), mode))
}

func TestABadIdentityFileTellsWhichAndNotWhat(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "id.txt")
	secret := newX25519(t).String()
	write(t, file, secret[:50], 0o600)
	_, err := agekey.ReadIdentities(nil, file)
	if amber.KindOf(err) != amber.KindInvalid || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), secret[20:30]) {
		t.Errorf("got %v", err)
	}
}

func TestOwnMakesOneOfEachKindAndKeepsIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys", "age-identity.txt")
	first := must.Get(agekey.Own(nil, file))(t)
	again := must.Get(agekey.Own(nil, file))(t)
	must.Equal(t, "identities of the second call", texts(t, again), texts(t, first))
	var kinds []agekey.Kind
	for _, id := range first {
		r, _ := agekey.RecipientOf(id)
		kinds = append(kinds, r.Kind)
	}
	must.Equal(t, "kinds", kinds, []agekey.Kind{agekey.X25519, agekey.Hybrid})
	info := must.Get(os.Stat(file))(t)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %o", info.Mode().Perm())
	}
}

func texts(t *testing.T, ids []age.Identity) (list []string) {
	t.Helper()
	for _, id := range ids {
		r, ok := agekey.RecipientOf(id)
		if !ok {
			t.Fatal("an identity without a recipient")
		}
		list = append(list, r.Text)
	}
	return list
}

func TestOwnGivesAllCallersTheSame(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "id.txt")
	var got [8][]age.Identity
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			ids, err := agekey.Own(nil, file)
			must.NoError(t, err)
			got[i] = ids
		})
	}
	wg.Wait()
	for i := range got {
		must.Equal(t, fmt.Sprint("identities of caller ", i), texts(t, got[i]), texts(t, got[0]))
	}
}

func TestOwnRefusesAFileThatOthersRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	file := filepath.Join(t.TempDir(), "id.txt")
	write(t, file, newX25519(t).String(), 0o644)
	must.Fail(agekey.Own(nil, file))(t, "own identity", amber.KindRefused)
}

func TestPassphrases(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", strings.Repeat("x", 1025)} {
		if _, _, err := agekey.Passphrase(s); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("%d bytes: got %v, want invalid", len(s), err)
		}
	}
	r, id, err := agekey.Passphrase("correct horse")
	must.Do(t, err)
	r.(*age.ScryptRecipient).SetWorkFactor(4)
	roundTrip(t, r, id)
	if _, ok := agekey.RecipientOf(id); ok {
		t.Error("a passphrase has a recipient")
	}
}

func TestAPassphraseFileCannotTakeAllMemory(t *testing.T) {
	t.Parallel()
	_, id, err := agekey.Passphrase("x")
	must.Do(t, err)
	s := &age.Stanza{Type: "scrypt", Args: []string{"AAAAAAAAAAAAAAAAAAAAAA", "21"}, Body: make([]byte, 32)}
	if _, err := id.Unwrap([]*age.Stanza{s}); err == nil || errors.Is(err, age.ErrIncorrectIdentity) {
		t.Errorf("got %v, want a refusal to compute", err)
	}
}
