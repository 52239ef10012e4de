package documents

import (
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// Own is what a backup never takes along: the key files it is made with, the
// secrets in them, and the home of Amber. The zero value names none.
type Own struct {
	// Rules find other secrets; nil: the built-in ones alone.
	Rules *redact.Redactor

	files   []fs.FileInfo
	home    fs.FileInfo // nil when there is none
	secrets []string
}

// ownRule is the name under which the keys of this side are taken out.
const ownRule = "own-key"

// maxOwnFile bounds a key file.
const maxOwnFile = 64 << 10

// SetHome names the home of Amber. A folder that does not exist is ignored.
func (o *Own) SetHome(dir string) { o.home, _ = os.Stat(dir) }

// AddSecret names a secret that lies in no file.
func (o *Own) AddSecret(text string) { o.secrets = append(o.secrets, text) }

// AddFile names a key file; every line of it is a secret. A file that cannot be
// read is ignored: the code that needs the key reports it.
func (o *Own) AddFile(path string) { o.add(path) }

// AddSeed is AddFile for a file with a signing seed, which is a secret in every
// spelling.
func (o *Own) AddSeed(path string) { o.secrets = append(o.secrets, seedTexts(o.add(path))...) }

func (o *Own) add(path string) []byte {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil {
		o.files = append(o.files, info)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	b, err := fsx.ReadFile(fsx.OS(), path, maxOwnFile)
	if err != nil || !utf8.Valid(b) {
		return b
	}
	for line := range strings.Lines(string(b)) {
		// Comments and the frame of a PEM block are not secret.
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "-----") {
			o.secrets = append(o.secrets, line)
		}
	}
	return b
}

// seedTexts returns the spellings of the seed in a file.
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

// isKey reports whether a file is one of the key files, under any name.
func (o Own) isKey(info fs.FileInfo) bool {
	return slices.ContainsFunc(o.files, func(own fs.FileInfo) bool { return os.SameFile(own, info) })
}

// isHome reports whether a folder is a home of Amber, this one or another.
func (o Own) isHome(path string, info fs.FileInfo) bool {
	if o.home != nil && os.SameFile(o.home, info) {
		return true
	}
	agents, err := fs.Glob(os.DirFS(path), "tenants/*/agents/*/CURRENT")
	return err == nil && len(agents) > 0
}

func (o Own) redactor() *redact.Redactor {
	if o.Rules == nil {
		return redact.New()
	}
	return o.Rules
}

// teach makes the keys known as secrets.
func (o Own) teach(known *redact.Secrets) {
	for _, text := range o.secrets {
		known.Add(ownRule, text)
	}
}
