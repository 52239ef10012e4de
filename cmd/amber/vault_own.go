package main

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/redact"
)

// ownThings are what a backup never takes along: the files with the keys that it
// is made with, what they say, and where Amber keeps its own.
type ownThings struct {
	files   []fs.FileInfo
	home    fs.FileInfo // nil when there is none
	secrets []string
	rules   *redact.Redactor // by which other secrets are found; nil: those of Amber alone
}

// redactor is what finds secrets.
func (o ownThings) redactor() *redact.Redactor {
	if o.rules == nil {
		return redact.New()
	}
	return o.rules
}

// ownRule is the name that the keys of this side are taken out under.
const ownRule = "own-key"

// signingSeedName is what the key that signs is called among the home's keys.
const signingSeedName = "signing.seed"

// maxOwnFile bounds a file with a key.
const maxOwnFile = 64 << 10

// vaultOwn finds them. What cannot be read is left out: whatever needs it says
// so.
func (a *app) vaultOwn(s *opened, f vaultFlags) ownThings {
	own := ownThings{rules: s.config.Config.Redactor()}
	own.home, _ = os.Stat(s.home.Dir())
	paths := []string{
		filepath.Join(s.home.KeysDir(), ageIdentityName), s.config.Config.Snapshot.Encryption.Identity,
		cmp.Or(f.keyFile, s.config.Config.Vault.APIKeyFile),
	}
	if f.sign != signWithHome {
		paths = append(paths, f.sign)
	}
	paths = append(paths, a.access.identities...)
	for _, path := range paths {
		if b := own.add(a, path); path == f.sign {
			own.secrets = append(own.secrets, seedTexts(b)...)
		}
	}
	own.secrets = append(own.secrets, seedTexts(own.add(a, filepath.Join(s.home.KeysDir(), signingSeedName)))...)
	own.secrets = append(own.secrets, f.key)
	return own
}

// add takes a file, and its lines, and returns what it holds.
func (o *ownThings) add(a *app, file string) []byte {
	if file == "" || file == stdinKey {
		return nil
	}
	path, err := a.absolute(file)
	if err != nil {
		return nil
	}
	if info, err := os.Stat(path); err == nil {
		o.files = append(o.files, info)
	}
	b, err := fsx.ReadFile(fsx.OS(), a.followed(path), maxOwnFile)
	if err != nil || !utf8.Valid(b) {
		return b
	}
	for line := range strings.Lines(string(b)) {
		// Neither a comment nor what frames a key is secret.
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "-----") {
			o.secrets = append(o.secrets, line)
		}
	}
	return b
}

// seedTexts are the ways to write the seed of a file.
func seedTexts(b []byte) []string {
	const size = 32
	if len(b) != size {
		text := strings.TrimSpace(string(b))
		if raw, err := hex.DecodeString(text); err == nil && len(raw) == size {
			b = raw
		} else if raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")); err == nil {
			b = raw
		}
	}
	if len(b) != size {
		return nil
	}
	return []string{hex.EncodeToString(b), base64.RawStdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b)}
}

// isKey reports whether a file is one of those with the keys, by whatever name.
func (o ownThings) isKey(info fs.FileInfo) bool {
	for _, own := range o.files {
		if os.SameFile(own, info) {
			return true
		}
	}
	return false
}

// isHome reports whether a folder is a home of Amber, this one or another.
func (o ownThings) isHome(path string, info fs.FileInfo) bool {
	if o.home != nil && os.SameFile(o.home, info) {
		return true
	}
	agents, err := fs.Glob(os.DirFS(path), "tenants/*/agents/*/CURRENT")
	return err == nil && len(agents) > 0
}

// teach makes the keys known as secrets.
func (o ownThings) teach(known *redact.Secrets) {
	for _, text := range o.secrets {
		known.Add(ownRule, text)
	}
}
