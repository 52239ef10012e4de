package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire"
)

// Bounds of files.
const (
	maxToken = 4096
	maxCA    = 1 << 20
)

// An edge is a home that keeps the crash journal, while memory lies on a server of Amber.

// openRemote leads every layer to the server, which is not asked yet. Errors: invalid; those of
// reading the token and the certificates.
func (a *Agent) openRemote(_ context.Context, c config.Config) (config.Opened, error) {
	served, err := a.serverOf(c, client.Options{})
	if err != nil {
		return config.Opened{}, err
	}
	a.remote = served.Agent
	return config.Opened{Parts: served.Parts(), Close: served.client.Close}, nil
}

// served is the agent on its server.
type served struct {
	*client.Agent
	client *client.Client
}

// serverOf makes what speaks to the server of an edge. It touches no network.
func (a *Agent) serverOf(c config.Config, o client.Options) (served, error) {
	o, err := RemoteOptions(c.Memory.Backends.Remote, o)
	if err != nil {
		return served{}, err
	}
	o.Random = a.o.Random
	s := served{}
	if s.client, err = client.New(o); err != nil {
		return s, err
	}
	s.Agent, err = s.client.Agent(a.Tenant(), a.ID())
	return s, err
}

// RemoteOptions adds what the configuration says of a server: URL, token and certificates.
// Errors: not_found; refused for a token that others may read; invalid.
func RemoteOptions(r config.Remote, o client.Options) (client.Options, error) {
	var err error
	if o.URL = r.URL; r.TokenFile != "" {
		if o.Token, err = ReadToken(r.TokenFile); err != nil {
			return o, err
		}
	}
	if r.CA != "" {
		o.TLS, err = ReadCertificates(r.CA)
	}
	return o, err
}

// AskServer asks the server of an edge for context on behalf of a hook, which waits: once, and
// not again where the server is away. The agent may be closed. Errors: those of recall;
// unreachable; damaged for an answer that is larger than what was asked for.
func (a *Agent) AskServer(ctx context.Context, r wire.ContextRequest) (wire.ContextBlock, error) {
	s, err := a.serverOf(a.config, client.Options{Attempts: 1, MaxAnswer: wire.MaxNearAnswer})
	if err != nil {
		return wire.ContextBlock{}, err
	}
	defer s.client.Close()
	b, err := s.Context(ctx, r)
	if err == nil && (len(b.Text) > r.MaxBytes || !utf8.ValidString(b.Text) || len(b.Items) > wire.MaxKnown) {
		err = amber.Errorf(amber.KindDamaged, "read answer", "", "the text has %d bytes and %d passages, at most %d and %d were asked for", len(b.Text), len(b.Items), r.MaxBytes, wire.MaxKnown)
	}
	if err != nil {
		return wire.ContextBlock{}, err
	}
	return b, nil
}

// served removes the text of a memory from the server, once the server has what the crash
// journal of this machine holds.
func (e erasure) served(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	spooled := e.a.Settle(ctx)
	report, err := e.a.plain.Eraser.Erase(ctx, id)
	if err == nil {
		report.Remaining = append(report.Remaining, spooled...)
	}
	return report, err
}

// ReadToken reads a token. Errors: not_found; refused when others may read it; invalid.
func ReadToken(file string) (client.Token, error) {
	const op = "read token"
	text, err := SecretFile(op, followed(file), maxToken)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(text)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", amber.Errorf(amber.KindInvalid, op, file, "want one token in the file and nothing else")
	}
	return client.Token(token), nil
}

// ReadCertificates reads certificates to trust. Errors: not_found; invalid.
func ReadCertificates(file string) (*tls.Config, error) {
	const op = "read certificates"
	b, err := boundedFile(op, followed(file), maxCA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, amber.Errorf(amber.KindInvalid, op, file, "the file has no certificate in PEM")
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// followed is where links lead to: mounted secrets and the certificates of the system often
// are links.
func followed(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	return file
}

// SecretFile reads a file that must be for the owner alone. A file that belongs to root may be for a group,
// too: that is how Kubernetes gives a secret to a program that is not root. Errors: not_found; refused when
// others may read it; invalid.
func SecretFile(op, path string, most int64) (string, error) {
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && !secretMode(info.Mode().Perm(), fromRoot(info)) {
		return "", amber.Errorf(amber.KindRefused, op, path, "the file has mode %04o, want 0600: other users can read the file", info.Mode().Perm()).
			WithHint("chmod 600 " + path)
	}
	b, err := boundedFile(op, path, most)
	return string(b), err
}

// secretMode reports whether a file of that mode is a secret; fromRoot says that root, which is
// another user, gives the file to this one.
func secretMode(mode fs.FileMode, fromRoot bool) bool {
	if fromRoot {
		return mode&0o037 == 0
	}
	return mode&0o077 == 0
}

// boundedFile reads a regular file of at most so many bytes: a larger one is no token, key or certificate. Errors: not_found;
// refused; invalid.
func boundedFile(op, path string, most int64) ([]byte, error) {
	b, err := fsx.ReadFile(fsx.OS(), path, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, amber.Errorf(amber.KindNotFound, op, path, "the file does not exist")
	case errors.Is(err, fsx.ErrTooLarge):
		return nil, &amber.Error{Op: op, Kind: amber.KindInvalid, ID: path, Err: err}
	}
	return b, diskerr.Given(op, path, err)
}
