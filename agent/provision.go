package agent

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// Provisioned is what an agent has on an OpenViking server, and what of it was made.
type Provisioned struct {
	Account, User, KeyFile         string
	MadeAccount, MadeUser, MadeKey bool
}

// vikingAdmin is the user that the account of a tenant begins with. It owns no memories.
const vikingAdmin = "amber-admin"

// Provision makes the account of the tenant, the user of the agent and its key on the OpenViking server, with
// the root key of the server, which is not kept. An account, a user or a key that is there stays; a new key is
// made where its file is missing, or to renew it. Errors: those of the server; refused where the server asks
// for no keys, or the key is that of a gateway.
func (x Index) Provision(ctx context.Context, rootKey string, renew bool) (p Provisioned, err error) {
	o := x.a.config.Memory.Backends.OpenViking
	if o.Mode != config.VikingKey {
		return p, amber.Errorf(amber.KindRefused, "provision", "memory.backends.openviking.mode", "the mode is %s, and keys are for %s", o.Mode, config.VikingKey)
	}
	admin, err := api.New(api.Options{
		URL: o.URL, Connect: o.ConnectTimeout, Request: o.RequestTimeout, Clock: x.a.o.Clock, Random: x.a.o.Random,
		Key: func() (string, error) { return rootKey, nil },
	})
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	p = Provisioned{Account: string(x.a.Tenant()), User: string(x.a.ID()), KeyFile: vikingSide(x).keyPath(o)}
	if _, err = admin.CreateAccount(ctx, p.Account, vikingAdmin); err == nil {
		p.MadeAccount = true
	} else if amber.KindOf(err) != amber.KindConflict {
		return p, err
	}
	key, err := admin.CreateUser(ctx, p.Account, p.User)
	switch {
	case err == nil:
		p.MadeUser = true
	case amber.KindOf(err) != amber.KindConflict:
		return p, err
	default:
		if _, lacks := readKey(p.KeyFile); lacks == nil && !renew {
			return p, nil
		}
		if key, err = admin.NewKey(ctx, p.Account, p.User); err != nil {
			return p, err
		}
	}
	p.MadeKey = true
	return p, writeKey(p.KeyFile, key)
}

// writeKey stores a key for the user alone.
func writeKey(path, key string) error {
	if err := fsx.MkdirAll(fsx.OS(), filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return fsx.Replace(fsx.OS(), path, 0o600, []byte(key+"\n"))
}
