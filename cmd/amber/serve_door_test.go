//go:build unix

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// certificate makes a certificate for 127.0.0.1, and a client that trusts it and
// speaks HTTP/2 where the server does.
func certificate(t *testing.T) (cert, key string, transport *http.Transport) {
	t.Helper()
	private := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "amber"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private))(t)
	secret := must.Get(x509.MarshalPKCS8PrivateKey(private))(t)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		must.Do(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	roots := x509.NewCertPool()
	parsed := must.Get(x509.ParseCertificate(der))(t)
	roots.AddCert(parsed)
	return cert, key, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
}

// secret makes a token on the command line and returns its secret.
func (u *user) secret(args ...string) string {
	u.t.Helper()
	return strings.TrimSpace(u.must("", append([]string{"token", "create"}, args...)...))
}

// No server listens beyond this machine without tokens and TLS.
func TestBeyondThisMachineItWantsTokensAndTLS(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	cert, key, transport := certificate(t)
	refused := func(why string, args ...string) {
		t.Helper()
		errs, code := u.cannotServe(args...)
		if code != 6 {
			t.Errorf("%v: exit code %d", args, code)
		}
		says(t, "stderr", errs, why, "hint: ")
	}
	refused("no token was created yet", "--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key)
	refused("no token was created yet", "--listen", "0.0.0.0:0", "--behind-proxy")
	// A proxy on this machine brings callers of others.
	refused("no token was created yet", "--listen", "127.0.0.1:0", "--behind-proxy")
	secret := u.secret("one")
	refused("need TLS", "--listen", "0.0.0.0:0")
	refused("need TLS", "--listen", ":0")

	r := u.serve("--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key)
	r.client.Transport = transport
	r.url = strings.Replace(r.url, "0.0.0.0", "127.0.0.1", 1)
	if !strings.HasPrefix(r.url, "https://") {
		t.Errorf("it serves %s", r.url)
	}
	r.refuses(amber.KindRefused, http.MethodGet, agentURL+"/memories", "")
	r.token = secret
	r.answer(http.MethodPost, agentURL+"/memories", remembering("over TLS"), nil)
	resp := must.Get(r.client.Get(r.url + "/livez"))(t)
	defer resp.Body.Close()
	if resp.ProtoMajor != 2 || resp.TLS == nil || resp.TLS.Version < tls.VersionTLS12 {
		t.Errorf("it speaks %s over %+v", resp.Proto, resp.TLS)
	}
	r.stop()

	proxied := u.serve("--listen", "0.0.0.0:0", "--behind-proxy")
	proxied.url = strings.Replace(proxied.url, "0.0.0.0", "127.0.0.1", 1)
	proxied.token = secret
	present(t, proxied.contents(), "over TLS")
}

// Files that are no certificate, or do not fit, are named before anybody is let
// in.
func TestCertificatesThatAreNone(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	cert, key, _ := certificate(t)
	_, stranger, _ := certificate(t)
	for _, args := range [][]string{
		{"--tls-cert", cert},
		{"--tls-key", key},
		{"--tls-cert", cert, "--tls-key", stranger},
		{"--tls-cert", key, "--tls-key", key},
		{"--tls-cert", "missing.pem", "--tls-key", key},
	} {
		if errs, code := u.cannotServe(args...); code != 2 {
			t.Errorf("%v: exit code %d\n%s", args, code, errs)
		}
	}
	u.serve("--tls-cert", cert, "--tls-key", key)
}

// The first token closes the door to everybody else, and what is revoked or has
// expired is refused from then on, also after a restore.
func TestTokensOfAServer(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve()
	const path = agentURL + "/memories"
	r.answer(http.MethodPost, path, remembering("by the user"), nil)
	var meta wire.SnapshotMeta
	r.answer(http.MethodPost, agentURL+"/snapshots", "{}", &meta)

	first := u.secret("first", "--scope", "read,write,restore,snapshot")
	r.refuses(amber.KindRefused, http.MethodGet, path, "")
	r.get("/livez", nil)
	r.token = first
	r.answer(http.MethodPost, path, remembering("with a token"), nil)

	short, gone := u.secret("short", "--expires", "2s"), u.secret("gone")
	r.token = gone
	r.get(path, nil)
	u.must("", "token", "revoke", strings.Split(gone, "_")[1], "--yes")
	r.refuses(amber.KindRefused, http.MethodGet, path, "")
	r.token = short
	r.await("it expires", func() bool {
		status, _, err := r.ask(http.MethodGet, path, "")
		return err == nil && status >= 400
	})
	r.token = u.secret("reads", "--scope", "read")
	r.refuses(amber.KindRefused, http.MethodPost, path, remembering("not allowed"))
	r.refuses(amber.KindNotFound, http.MethodGet, "/v1/tenants/acme/agents/bob/memories", "")

	// The snapshot is older than every token.
	r.token = first
	r.answer(http.MethodPost, agentURL+"/snapshots/"+string(meta.ID)+"/restore", "{}", nil)
	there := r.contents()
	present(t, there, "by the user")
	if there["with a token"] != "" {
		t.Error("nothing was restored")
	}
	for _, secret := range []string{"", short, gone} {
		r.token = secret
		r.refuses(amber.KindRefused, http.MethodGet, path, "")
	}
	r.stop()
	u.must("", "audit", "verify")
}
