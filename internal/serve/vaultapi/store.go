package vaultapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
)

// Store is the vault of one agent. Safe for concurrent use. Errors are those of
// [colony.ConditionalBackend]; the version of a file is a text without quotes.
type Store interface {
	colony.ConditionalBackend
	// Append adds to the end of a file; one that is not there is made.
	Append(ctx context.Context, name, content string) (colony.FileInfo, error)
	// Move and Copy put a file under another name. Errors also: not_found;
	// conflict when the name is taken and not to be overwritten.
	Move(ctx context.Context, from, to string, overwrite bool) (colony.FileInfo, error)
	Copy(ctx context.Context, from, to string, overwrite bool) (colony.FileInfo, error)
	// Search looks for a text and returns the hits from offset on, at most
	// limit of them, and how many there are in all.
	Search(ctx context.Context, text string, limit, offset int) (hits []shelf.Match, total int, err error)
	// Folders returns the folders at the top, by name.
	Folders(ctx context.Context) ([]shelf.Folder, error)
}

// nothing is the vault of an agent that is not there yet, to be read.
type nothing struct{}

var _ Store = nothing{}

func absent(name string) error {
	return amber.Errorf(amber.KindNotFound, "open vault", name, "the agent has no vault")
}

func (nothing) Status(context.Context) (colony.Status, error) { return colony.Status{}, nil }

func (nothing) List(context.Context, string) ([]colony.FileInfo, error) { return nil, nil }

func (nothing) Get(_ context.Context, name string) (colony.File, error) {
	return colony.File{}, absent(name)
}

func (nothing) Put(_ context.Context, name, _ string) (colony.FileInfo, error) {
	return colony.FileInfo{}, absent(name)
}

func (nothing) PutIf(_ context.Context, name, _ string, _ colony.Condition) (colony.FileInfo, error) {
	return colony.FileInfo{}, absent(name)
}

func (nothing) Delete(_ context.Context, name string) error { return absent(name) }

func (nothing) Append(_ context.Context, name, _ string) (colony.FileInfo, error) {
	return colony.FileInfo{}, absent(name)
}

func (nothing) Move(_ context.Context, from, _ string, _ bool) (colony.FileInfo, error) {
	return colony.FileInfo{}, absent(from)
}

func (nothing) Copy(_ context.Context, from, _ string, _ bool) (colony.FileInfo, error) {
	return colony.FileInfo{}, absent(from)
}

func (nothing) Search(context.Context, string, int, int) ([]shelf.Match, int, error) {
	return nil, 0, nil
}

func (nothing) Folders(context.Context) ([]shelf.Folder, error) { return nil, nil }
