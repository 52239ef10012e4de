package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/store/vaultrow"
)

// A file of a vault is a row for each piece of it. A row without a place says that the vault is in use.
const (
	selectVault     = `SELECT place, number, octet_length(piece), substr(piece, 1, CASE number WHEN 0 THEN 4096 ELSE 0 END) FROM vault_files ORDER BY place, number`
	selectVaultFile = `SELECT place, number, octet_length(piece), substr(piece, 1, CASE number WHEN 0 THEN 4096 ELSE 0 END) FROM vault_files WHERE place = ? ORDER BY number`
	selectPieces    = `SELECT number, piece FROM vault_files WHERE place = ? ORDER BY number`
	insertPiece     = `INSERT INTO vault_files (place, number, piece) VALUES (?, ?, ?)`
	insertInUse     = `INSERT INTO vault_files (place, number, piece) VALUES ('', 0, ?) ON CONFLICT (place, number) DO NOTHING`
	deleteVaultFile = `DELETE FROM vault_files WHERE place = ?`
)

// vault is the files of an agent's vault.
type vault struct{ *database }

var _ vaultrow.Rows = vault{}

// Vault returns the files of an agent's vault, in whichever generation is live. Nothing is looked for yet, and no agent is made.
func (s *Server) Vault(tenant amber.TenantID, agent amber.AgentID) vaultrow.Rows {
	return vault{&database{
		server: s, tenant: tenant, agent: agent, log: logMemory, line: s.lines.Of(lineKey{tenant, agent, logMemory}),
		core: &sqlcore.Options{Clock: s.Now, Random: s.o.Random, Wrap: pgerr.Wrap, Backend: backendName},
	}}
}

const selectVaultKey = `SELECT hash FROM amber_home.heads WHERE name = 'vault'`

// VaultKey returns what all servers of the database seal the access tokens of vault clients with. Errors: damaged; those of the database.
func (s *Server) VaultKey(ctx context.Context) (key []byte, err error) {
	const op = "read key of vaults"
	err = s.db.Conn(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, selectVaultKey).Scan(&key) })
	if errors.Is(err, pgx.ErrNoRows) || err == nil && len(key) != 32 {
		return nil, amber.Errorf(amber.KindDamaged, op, "", "amber_home.heads has no key of 32 bytes for vaults").WithHint("put the database back from a backup")
	}
	return key, pgerr.Wrap(op, "", err)
}

// View implements [vaultrow.Rows].
func (v vault) View(ctx context.Context, op string, fn func(vaultrow.Tx) error) error {
	return v.database.View(ctx, op, "", func(t *tx) error { return fn(vaultTx{ctx, t.Conn}) })
}

// Update implements [vaultrow.Rows]. It commits alone, without the work of other writers: files are large, and there is
// no index here.
func (v vault) Update(ctx context.Context, op string, fn func(vaultrow.Tx) error) error {
	return v.UpdateAlone(ctx, op, "", func(t *tx) error { return fn(vaultTx{ctx, t.Conn}) })
}

// VaultIn returns the files of the generation that a transaction is about.
func VaultIn(ctx context.Context, c *pgdb.Conn) vaultrow.Tx { return vaultTx{ctx, c} }

// vaultTx is a transaction on the files.
type vaultTx struct {
	ctx  context.Context
	conn sqlrows.Conn
}

// List implements [vaultrow.Tx].
func (v vaultTx) List() (files []vaultrow.File, exists bool, err error) { return v.files(selectVault) }

// Look implements [vaultrow.Tx].
func (v vaultTx) Look(place string) (f vaultrow.File, found bool, err error) {
	files, _, err := v.files(selectVaultFile, place)
	if err != nil || len(files) == 0 {
		return f, false, err
	}
	return files[0], true, nil
}

// files puts together what is said of pieces.
func (v vaultTx) files(query string, args ...any) (files []vaultrow.File, exists bool, err error) {
	err = v.conn.Each(v.ctx, query, args, func(s sqlrows.Row) error {
		var place string
		var number, size int64
		var head []byte
		if err := s.Scan(&place, &number, &size, &head); err != nil {
			return err
		}
		exists = true
		if place == "" {
			return nil
		}
		if len(files) == 0 || files[len(files)-1].Place != place {
			files = append(files, vaultrow.File{Place: place})
		}
		f := &files[len(files)-1]
		if number == 0 {
			f.Head = append([]byte{}, head...)
		}
		f.Size += size
		return nil
	})
	return files, exists, err
}

// Read implements [vaultrow.Tx].
func (v vaultTx) Read(place string) (b []byte, found bool, err error) {
	const op = "read file of vault"
	f, found, err := v.Look(place)
	if err != nil || !found {
		return nil, false, err
	}
	if f.Size > vaultrow.MaxBytes {
		return nil, true, sqlrows.Damaged(op, place, fmt.Errorf("the rows of the file hold %d bytes, want at most %d", f.Size, vaultrow.MaxBytes))
	}
	b, next := make([]byte, 0, f.Size), int64(0)
	err = v.conn.Each(v.ctx, selectPieces, []any{place}, func(s sqlrows.Row) error {
		var number int64
		var piece []byte
		if err := s.Scan(&number, &piece); err != nil {
			return err
		}
		if number != next {
			return sqlrows.Damaged(op, place, fmt.Errorf("the file has piece %d where piece %d belongs", number, next))
		}
		next++
		b = append(b, piece...)
		return nil
	})
	return b, true, err
}

// Put implements [vaultrow.Tx].
func (v vaultTx) Put(place string, b []byte) error {
	const op = "put file of vault"
	switch {
	case !vaultrow.IsPlace(place):
		return amber.Errorf(amber.KindInvalid, op, "", "the place of the file is %.80q, want 64 hexadecimal digits", place)
	case len(b) > vaultrow.MaxBytes:
		return amber.Errorf(amber.KindInvalid, op, place, "the file has %d bytes, want at most %d", len(b), vaultrow.MaxBytes)
	}
	if err := v.conn.Later(v.ctx, deleteVaultFile, place); err != nil {
		return err
	}
	for number := int64(0); number == 0 || len(b) > 0; number++ {
		piece := b[:min(len(b), vaultrow.PieceBytes)]
		if b = b[len(piece):]; piece == nil {
			piece = []byte{}
		}
		if err := v.conn.Later(v.ctx, insertPiece, place, number, piece); err != nil {
			return err
		}
	}
	_, err := v.conn.Exec(v.ctx, insertInUse, []byte{})
	return err
}

// Remove implements [vaultrow.Tx].
func (v vaultTx) Remove(place string) (bool, error) {
	if place == "" {
		return false, nil // no file is there
	}
	n, err := v.conn.Exec(v.ctx, deleteVaultFile, place)
	return n > 0, err
}
