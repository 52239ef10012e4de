package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/freeze/filesig"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/wire/sign"
)

// Files of a release that say what the others are.
const (
	sumsName      = "SHA256SUMS"
	listName      = "release.json"
	keyName       = "amber-release.pub"   // the did:key
	keyPEMName    = "amber-release.pem"   // the same for OpenSSL
	throwawayName = "NOT-FOR-RELEASE.txt" // there is one when the key is thrown away
)

const throwawayText = `This folder was signed with a key that was made for one run and thrown away.
Its signature says only that nothing has changed since. Do not publish it:

  make release RELEASE_KEY=/path/to/signing.seed
`

// findKey reads the key that signs, or makes one for this run.
func (r *release) findKey(file string) (err error) {
	if file != "" {
		r.signer, err = keyring.ReadSigner(file)
	} else {
		_, key, kerr := ed25519.GenerateKey(rand.Reader)
		r.signer, err = memorySigner{key}, kerr
	}
	if err != nil {
		return err
	}
	public, err := r.signer.KeyID().PublicKey()
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return err
	}
	if err := r.write(keyPEMName, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})); err != nil {
		return err
	}
	if r.trial {
		if err := r.write(throwawayName, []byte(throwawayText)); err != nil {
			return err
		}
	}
	return r.write(keyName, []byte(string(r.signer.KeyID())+"\n"))
}

// memorySigner signs with a key that is nowhere else.
type memorySigner struct{ key ed25519.PrivateKey }

func (m memorySigner) KeyID() sign.KeyID { return sign.NewKeyID(m.key.Public().(ed25519.PublicKey)) }

func (m memorySigner) Sign(_ context.Context, message []byte) (sign.Signature, error) {
	return sign.SignWith(m.key, message), nil
}

// artefact is a file of a release.
type artefact struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// contents is release.json.
type contents struct {
	Version   string     `json:"version"`
	Tag       string     `json:"tag"` // as the program says it
	Commit    string     `json:"commit"`
	Go        string     `json:"go"`
	KeyID     sign.KeyID `json:"key_id"`
	Throwaway bool       `json:"throwaway_key"`
	Missing   []string   `json:"missing,omitempty"` // packages that this machine could not make
	Artefacts []artefact `json:"artefacts"`
}

// artefacts lists the folder of a release by name, slash-separated.
func artefacts(dir string) (out []artefact, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == madeName {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		out = append(out, artefact{filepath.ToSlash(rel), int64(len(b)), digestOf(b)})
		return err
	})
	slices.SortFunc(out, func(a, b artefact) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// writeSums writes the list of the release, its checksums, and their signature.
func writeSums(ctx context.Context, r *release) error {
	list, err := artefacts(r.dist)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(contents{r.Number, r.Tag, r.Commit, runtime.Version(), r.signer.KeyID(), r.trial, r.missing, list}, "", " ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if err := r.write(listName, b); err != nil {
		return err
	}
	list = append(list, artefact{listName, int64(len(b)), digestOf(b)})
	slices.SortFunc(list, func(a, b artefact) int { return strings.Compare(a.Name, b.Name) })
	var sums bytes.Buffer
	for _, a := range list {
		fmt.Fprintf(&sums, "%s  %s\n", a.SHA256, a.Name)
	}
	if err := r.write(sumsName, sums.Bytes()); err != nil {
		return err
	}
	sig, err := filesig.Sign(ctx, bytes.NewReader(sums.Bytes()), r.signer)
	if err != nil {
		return err
	}
	return r.write(sumsName+filesig.Suffix, sig)
}

// tell lists what was made.
func (r *release) tell() error {
	list, err := artefacts(r.dist)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "\n%s %s in %s\n", r.Name, r.Number, r.dist)
	for _, a := range list {
		fmt.Fprintf(r.out, "  %s %9.1f KiB  %s\n", a.SHA256[:16], float64(a.Bytes)/1024, a.Name)
	}
	if r.signer != nil {
		r.tellSigner()
	}
	for _, m := range r.missing {
		fmt.Fprintf(r.out, "*** NOT MADE: %s ***\n", m)
	}
	return nil
}

func (r *release) tellSigner() {
	fmt.Fprintf(r.out, "\nsigned by %s\n  amber key verify %s --key %s\n", r.signer.KeyID(), filepath.Join(r.dist, sumsName), r.signer.KeyID())
	if r.trial {
		fmt.Fprintf(r.out, "\n*** NOT FOR RELEASE: signed with a key that was thrown away. RELEASE_KEY=FILE names a real one. ***\n")
	}
}
