package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/freeze/target/location"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire/sign"
)

// checkKeys looks at what signs and encrypts. A home that is not there yet has
// none.
func (d *doctor) checkKeys(ctx context.Context) {
	if d.agent == nil || d.failed("home") {
		return
	}
	h, c := d.agent.home, d.agent.config
	if _, err := os.Lstat(h.Dir()); err != nil {
		return
	}
	if d.NoModes {
		d.skip(noModes, "key_modes")
	} else {
		d.judge("key_modes", checkKeyModes(h.KeysDir()), "only their owner can reach the keys")
	}
	if d.failed("key_modes") {
		d.skip("others can reach the keys", "signing_key", "trusted_keys", "encryption")
	} else {
		d.checkSigningKey(ctx, h, c.Snapshot)
		d.checkTrusted(ctx, h, c.Snapshot)
		d.checkEncryption(ctx, h, c.Snapshot)
	}
	known, err := d.agent.Repositories().List()
	d.judge("repositories", err, "%d added", len(known))
}

// checkKeyModes checks that other users cannot get at the files in the folder of
// keys. The list of trusted keys is no secret: other users may read it, not write.
func checkKeyModes(dir string) error {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was a temporary one
		}
		if err != nil {
			return err
		}
		secret, want := fs.FileMode(0o077), "600"
		switch {
		case e.IsDir():
			want = "700"
		case !info.Mode().IsRegular():
			return amber.Errorf(amber.KindRefused, "check modes", path, "want a regular file, found a link or a device")
		case path == filepath.Join(dir, keyring.TrustedFile):
			secret = 0o022
		}
		if info.Mode().Perm()&secret != 0 {
			return amber.Errorf(amber.KindRefused, "check modes", path, "the mode is %04o, want access for the owner only", info.Mode().Perm()).
				WithHint("chmod " + want + " " + path)
		}
		return nil
	})
	var known *amber.Error
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, &known):
		return err
	}
	return &amber.Error{Op: "look at keys", Kind: amber.KindInternal, ID: dir, Err: err}
}

func (d *doctor) ring(h *home.Home) *keyring.Ring {
	return keyring.Open(h.KeysDir(), keyring.Options{Random: d.o.Random})
}

func (d *doctor) checkSigningKey(ctx context.Context, h *home.Home, c config.Snapshot) {
	signer, err := d.ring(h).Signer(ctx)
	switch {
	case err == nil && !c.Sign:
		d.judge("signing_key", nil, "%s, and snapshot.sign is false: snapshots are not signed with it", signer.KeyID())
	case err == nil:
		d.judge("signing_key", nil, "%s", signer.KeyID())
	case amber.KindOf(err) == amber.KindNotFound && !c.Sign:
		d.judge("signing_key", nil, "no key, and snapshot.sign is false")
	case amber.KindOf(err) == amber.KindNotFound:
		d.judge("signing_key", nil, "no key yet; the first snapshot makes one")
	default:
		d.judge("signing_key", err, "")
	}
}

func (d *doctor) checkTrusted(ctx context.Context, h *home.Home, c config.Snapshot) {
	keys, err := d.ring(h).Known(ctx)
	if err != nil {
		// A seed that cannot be read has been told already.
		if _, err = d.ring(h).Trusted(ctx); err == nil {
			d.skip("the key that signs cannot be read", "trusted_keys")
			return
		}
		d.judge("trusted_keys", err, "")
		return
	}
	if c.RequireSigned && len(keys) == 0 {
		d.warn("trusted_keys", "amber key trust DIDKEY", "snapshot.require_signed is set, and no key is trusted: nothing can be restored")
		return
	}
	own := 0
	if len(keys) > 0 && keys[0].Standing == sign.StandingOwn {
		own = 1
	}
	d.judge("trusted_keys", nil, "%d beside this home's own", len(keys)-own)
}

// checkEncryption checks that the recipients can be encrypted to, and that
// this home can open what it has encrypted.
func (d *doctor) checkEncryption(ctx context.Context, h *home.Home, s config.Snapshot) {
	c := s.Encryption
	recipients, err := agekey.ParseRecipients(c.Recipients)
	var ids []age.Identity
	if err == nil {
		ids, err = identities(h, c)
	}
	if err != nil {
		d.judge("encryption", err, "")
		return
	}
	detail := "off"
	if len(recipients) > 0 {
		detail = "to " + words.Count(len(recipients), "recipient", "recipients")
	}
	if location.IsBucket(s.Root) {
		d.judge("encryption", nil, "%s; the repository is in a bucket, and whether it opens was not tried", detail)
		return
	}
	state, err := d.checkOpens(ctx, h, s.Root, ids)
	d.judge("encryption", err, "%s; %s", detail, state)
}

// identities returns what opens the repository: the configured one, which must
// be there, and this home's own, which may be.
func identities(h *home.Home, c config.Encryption) ([]age.Identity, error) {
	var ids []age.Identity
	if c.Identity != "" {
		configured, err := agekey.ReadIdentities(nil, c.Identity)
		if err != nil {
			return nil, err
		}
		ids = configured
	}
	own, err := agekey.ReadIdentities(nil, filepath.Join(h.KeysDir(), keyring.AgeIdentityFile))
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return nil, err
	}
	return append(ids, own...), nil
}

// checkOpens reports in words whether the tenant's repository is encrypted. Errors: refused when it is
// encrypted and no identity opens it; those of the repository.
func (d *doctor) checkOpens(ctx context.Context, h *home.Home, root string, ids []age.Identity) (string, error) {
	tenant := d.agent.Tenant()
	path := h.RepoDir(tenant)
	if root != "" {
		path = filepath.Join(root, string(tenant))
	}
	t, err := dir.Open(path, dir.Options{})
	if amber.KindOf(err) == amber.KindNotFound {
		return "no repository yet", nil
	}
	if err != nil {
		return "", err
	}
	encrypted := false
	if err := t.List(ctx, "keys/", func(target.Object) error { encrypted = true; return nil }); err != nil || !encrypted {
		return "the repository is not encrypted", err
	}
	r, err := repo.Open(ctx, t, &repo.Options{Identities: ids})
	if err != nil {
		return "", err
	}
	if r.Locked() {
		return "", amber.Errorf(amber.KindRefused, "open repository", path, "the repository is encrypted, and no identity of this home opens it: no snapshot can be taken").
			WithHint("name the file of one in snapshot.encryption.identity")
	}
	return "the repository is encrypted, and opens", nil
}
