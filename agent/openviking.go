package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// vikingSide is the OpenViking server beside the store of an agent.
type vikingSide struct{ a *Agent }

// open opens the primary, and puts an OpenViking server beside it, which is not asked yet.
// Errors: invalid; those of the primary.
func (v vikingSide) open(ctx context.Context, c config.Config) (config.Opened, error) {
	if err := checkPrimary(c); err != nil {
		return config.Opened{}, err
	}
	primary, err := v.a.openSQLite(ctx, c)
	if err != nil {
		return config.Opened{}, err
	}
	s, client, err := v.beside(c, primary.Parts, v.a.sqlite)
	if err != nil {
		return config.Opened{}, errors.Join(err, closed(primary))
	}
	v.a.viking = s
	return config.Opened{Parts: s.Parts(), Close: func() error { return errors.Join(client.Close(), closed(primary)) }}, nil
}

func (v vikingSide) serverClock() amber.Clock {
	if v.a.o.ServerClock != nil {
		return v.a.o.ServerClock
	}
	return v.a.o.Clock
}

// closed closes a backend, unless another one does.
func closed(o config.Opened) error {
	if o.Close == nil {
		return nil
	}
	return o.Close()
}

// beside puts an OpenViking server beside a primary. The caller closes the client.
func (v vikingSide) beside(c config.Config, primary amber.Parts, cursors amber.IndexCursors) (*openviking.Store, *api.Client, error) {
	o := c.Memory.Backends.OpenViking
	client, err := v.client(o)
	if err != nil {
		return nil, nil, err
	}
	with := openviking.Options{
		Primary: primary, Cursors: cursors, Server: client, URL: o.URL, Tenant: v.a.Tenant(), Agent: v.a.ID(), Rules: c.RedactDigest(),
		MinScore: o.MinScore, FindTimeout: o.FindTimeout, AnyVersion: o.AnyVersion, Clock: v.serverClock(), Lock: v.lock,
	}
	if o.Mode == config.VikingTrusted || o.Mode == config.VikingKey && o.KeyFile == "" {
		with.User = string(v.a.ID()) // it needs no request to the server
	}
	rules := c.Redactor()
	if with.Redact = rules.WithoutPrivate; c.Export.Redact {
		with.Redact = func(s string) string { s, _ = rules.String(s); return s }
	}
	for _, s := range o.Include {
		with.Include = append(with.Include, amber.Scope(s))
	}
	if o.Fusion == config.FusionRRF {
		with.Fusion = openviking.FusionRRF
	}
	s, err := openviking.New(with)
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return s, client, nil
}

// Viking is the OpenViking server beside the store; nil where there is none.
func (a *Agent) Viking() *openviking.Store { return a.viking }

// Viking is the OpenViking server beside the store; nil where there is none.
func (x Index) Viking() *openviking.Store { return x.a.viking }

func (v vikingSide) client(o config.OpenViking) (*api.Client, error) {
	with := api.Options{URL: o.URL, Connect: o.ConnectTimeout, Request: o.RequestTimeout, Clock: v.serverClock(), Random: v.a.o.Random}
	switch o.Mode {
	case config.VikingTrusted:
		with.Account, with.User = string(v.a.Tenant()), string(v.a.ID())
		if path := v.keyPath(o); o.KeyFile != "" || o.KeysDir != "" {
			with.Key = func() (string, error) { return readKey(path) }
		}
	case config.VikingKey:
		path := v.keyPath(o)
		with.Key = func() (string, error) { return readKey(path) }
		if with.SameOwner = o.KeyFile != ""; !with.SameOwner { // the name of the file says whose key it is
			with.Owner = api.Owner{Account: string(v.a.Tenant()), User: string(v.a.ID())}
		}
	default:
		if !openviking.IsLoopback(o.URL) {
			return nil, amber.Errorf(amber.KindInvalid, "choose backend", "memory.backends.openviking.mode", "dev is for a server on this machine, not for %s: it lets everybody in", o.URL)
		}
	}
	return api.New(with)
}

func (v vikingSide) keyPath(o config.OpenViking) string {
	if o.KeyFile != "" {
		return o.KeyFile
	}
	dir := o.KeysDir
	if dir == "" {
		dir = filepath.Join(v.a.home.Dir(), "keys", "openviking")
	}
	return filepath.Join(dir, string(v.a.Tenant()), string(v.a.ID()))
}

// maxKey bounds the file of a key.
const maxKey = 4 << 10

// readKey reads the key of a server. Errors: refused where it is missing, or others can read it.
func readKey(path string) (string, error) {
	const op = "read key of openviking"
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		e := amber.Errorf(amber.KindRefused, op, path, "the file with the key is missing")
		e.Hint = "amber index provision makes one; or set memory.backends.openviking.key_file"
		return "", e
	}
	if err != nil {
		return "", &amber.Error{Op: op, Kind: amber.KindRefused, ID: path, Err: err}
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		e := amber.Errorf(amber.KindRefused, op, path, "others can read it: its mode is %04o, want 0600", info.Mode().Perm())
		e.Hint = "chmod 600 " + path
		return "", e
	}
	b, err := fsx.ReadFile(fsx.OS(), path, maxKey)
	if err != nil {
		return "", &amber.Error{Op: op, Kind: amber.KindRefused, ID: path, Err: err}
	}
	key := strings.TrimSpace(string(b))
	if key == "" {
		return "", amber.Errorf(amber.KindRefused, op, path, "the file is empty")
	}
	return key, nil
}

// lock keeps other processes from feeding the server. Errors: busy.
func (v vikingSide) lock(context.Context) (release func() error, err error) {
	if v.a.absent { // no process writes to it
		return func() error { return nil }, nil
	}
	path := filepath.Join(v.a.folder.Dir(), "openviking.lock")
	lock, err := fsx.TryLock(path, fsx.Exclusive)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, amber.Errorf(amber.KindBusy, "feed openviking", path, "another process feeds the server")
	}
	if err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}

// feedSlice is how long a server feeds the index of one agent before it looks at others.
const feedSlice = 5 * time.Second

// Feed feeds the server that stands beside the store for a while, and returns what it did, when to
// feed again, and whether that was all.
// Errors: those of [openviking.Store.Feed].
func (a *Agent) Feed(ctx context.Context) (detail string, again time.Duration, done bool, err error) {
	r, err := a.viking.Feed(ctx, openviking.Budget{Time: feedSlice})
	if r.Written > 0 || r.Deleted > 0 || r.Mended > 0 {
		detail = fmt.Sprintf("%d files written, %d deleted, %d vectors mended", r.Written, r.Deleted, r.Mended)
	}
	if again = r.Again; again == 0 {
		again = r.Look
	}
	return detail, again, r.Done, err
}

// FeedWithin feeds the server that stands beside the store, for as long as the configuration allows before a
// question. The rest is fed later, and the answer reports an outage.
func (a *Agent) FeedWithin(ctx context.Context) {
	budget := a.config.Memory.Backends.OpenViking.FeedBudget
	if a.viking == nil || budget == 0 || a.absent || a.isReadOnly() {
		return
	}
	_, _ = a.viking.Feed(ctx, openviking.Budget{Time: budget, Hard: true})
}

// conversations ends the place of the cursor of earlier versions, which sent conversations to OpenViking servers.
const conversations = "#sessions"

// formerIndexes names servers that were fed once and are not used any more, and those that earlier versions sent
// conversations to: no version deletes these now.
func (e erasure) formerIndexes(ctx context.Context) (left []string) {
	if e.a.sqlite == nil {
		return nil
	}
	places, err := e.a.sqlite.IndexPlaces(ctx)
	if err != nil {
		return []string{"OpenViking servers that were fed, which were not looked for: " + err.Error()}
	}
	for _, p := range places {
		if at, sent := strings.CutSuffix(p, conversations); sent {
			left = append(left, "conversations that an earlier version sent to an OpenViking server (docs/openviking.md): "+at)
		}
		if strings.Contains(p, "#") || e.a.viking != nil && !e.a.viking.Left(p) { // a part of another place, or in use
			continue
		}
		left = append(left, "an OpenViking server that was fed and is not used any more: "+p)
	}
	return left
}

// left names what an agent that is deleted leaves on its server, and removes its key.
func (v vikingSide) left() []string {
	if v.a.config.BackendOf(amber.LayerLongTerm) != "openviking" {
		return nil
	}
	o := v.a.config.Memory.Backends.OpenViking
	left := []string{fmt.Sprintf("the files of the agent on the OpenViking server %s: memories/amber/%s.%s of its user", o.URL, v.a.Tenant(), v.a.ID())}
	if path := v.keyPath(o); o.KeyFile == "" {
		if err := fsx.Remove(fsx.OS(), path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			left = append(left, path+": "+err.Error())
		}
	}
	return left
}
