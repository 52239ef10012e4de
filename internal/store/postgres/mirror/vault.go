package mirror

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/store/vaultrow"
)

// VaultPlace is where a file lies in the folder of a vault.
func VaultPlace(place string) string { return filepath.Join(place[:2], place) }

// IsVaultFile reports whether a path in the folder of a vault is that of a file of it.
func IsVaultFile(rel string) bool {
	place := filepath.Base(rel)
	return vaultrow.IsPlace(place) && filepath.Clean(rel) == VaultPlace(place)
}

// VaultFolder looks at the folder of a vault, which need not be there. Files is for [ImportOptions.VaultFiles] and reads one file at a
// time; strays are the paths of what is no file of a vault.
func VaultFolder(dir string) (files func(put func(VaultFile) error) error, strays []string, err error) {
	var places []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && IsVaultFile(rel) {
			places = append(places, d.Name())
		} else {
			strays = append(strays, filepath.ToSlash(rel))
		}
		return nil
	})
	return func(put func(VaultFile) error) error {
		for _, place := range places {
			b, err := fsx.ReadFile(fsx.OS(), filepath.Join(dir, VaultPlace(place)), vaultrow.MaxBytes)
			if errors.Is(err, fsx.ErrTooLarge) {
				return amber.Errorf(amber.KindDamaged, opImport, place, "the file of the vault has more than %d bytes", vaultrow.MaxBytes).
					WithHint("move it out of the agent's folder, and have its client back up again")
			}
			if err == nil {
				err = put(VaultFile{Place: place, Bytes: b})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, strays, err
}
