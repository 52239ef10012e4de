package natsbus_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing.creds")
	for what, tt := range map[string]struct {
		change func(*natsbus.Options)
		kind   amber.Kind
	}{
		"no URL":         {func(o *natsbus.Options) { o.URL = "" }, amber.KindInvalid},
		"no scheme":      {func(o *natsbus.Options) { o.URL = "host:4222" }, amber.KindInvalid},
		"another scheme": {func(o *natsbus.Options) { o.URL = "http://host" }, amber.KindInvalid},
		"no host":        {func(o *natsbus.Options) { o.URL = "nats://ann:hunter2@" }, amber.KindInvalid},
		"a path":         {func(o *natsbus.Options) { o.URL = "nats://ann:hunter2@host/x" }, amber.KindInvalid},
		"no URL at all":  {func(o *natsbus.Options) { o.URL = "nats://ann:hunter2%zz@host" }, amber.KindInvalid},
		"one of two":     {func(o *natsbus.Options) { o.URL = "nats://ann:hunter2@host,x" }, amber.KindInvalid},
		"long":           {func(o *natsbus.Options) { o.URL = "nats://" + strings.Repeat("hunter2", 1000) }, amber.KindInvalid},
		"a stream":       {func(o *natsbus.Options) { o.Stream = "a.b" }, amber.KindInvalid},
		"a prefix":       {func(o *natsbus.Options) { o.Prefixes = []string{"a.>"} }, amber.KindInvalid},
		"no credentials": {func(o *natsbus.Options) { o.CredsFile = missing }, amber.KindNotFound},
		"a folder":       {func(o *natsbus.Options) { o.CredsFile = filepath.Dir(missing) }, amber.KindInvalid},
	} {
		o := natsbus.Options{URL: "nats://127.0.0.1:1"}
		tt.change(&o)
		b, err := natsbus.Open(t.Context(), o)
		must.Kind(t, what, err, tt.kind)
		if b != nil {
			t.Errorf("%s: there is a bus", what)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error %q holds the password", what, err)
		}
	}
}

// A login that is refused is no reason to give up: a person may correct it at the server. The
// password or token of the login is never shown.
func TestARefusedLoginIsTriedAgainAndNeverShown(t *testing.T) {
	t.Parallel()
	for name, login := range map[string]string{"password": "ann:hunter2", "token": "hunter2", "odd": "ann:hunter2%2F%20%40"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBroker(t, false, func(o *server.Options) { o.Username, o.Password = "bob", "other" })
			b, log := open(t, natsbus.Options{URL: "nats://" + login + "@" + s.addr(), ReconnectWait: time.Millisecond})
			log.await(t, "cannot connect")
			for range 20 { // the client library gives up after two
				must.Kind(t, "publish", b.Publish(t.Context(), mutation("1")), amber.KindUnreachable)
			}
			h := b.Health()
			must.Equal(t, "connected", h.Connected, false)
			must.Says(t, "last error", strings.ToLower(h.LastError), "authorization")
			s.stop()
			s.opts.Username, s.opts.Password = "", ""
			s.start(t)
			log.await(t, "connected to NATS")
			publish(t, b, mutation("1"))
			for what, text := range map[string]string{"log": log.String(), "health": fmt.Sprint(h, b.Health())} {
				must.Hides(t, what, text, "hunter2")
			}
		})
	}
}

// credentials makes a server that wants them, and a file that has them.
func credentials(t *testing.T) (file string, change func(*server.Options)) {
	t.Helper()
	operator, account, user := must.Get(nkeys.CreateOperator())(t), must.Get(nkeys.CreateAccount())(t), must.Get(nkeys.CreateUser())(t)
	accountClaims := jwt.NewAccountClaims(must.Get(account.PublicKey())(t))
	accountJWT := must.Get(accountClaims.Encode(operator))(t)
	userJWT := must.Get(jwt.NewUserClaims(must.Get(user.PublicKey())(t)).Encode(account))(t)
	creds := must.Get(jwt.FormatUserConfig(userJWT, must.Get(user.Seed())(t)))(t)
	file = filepath.Join(t.TempDir(), "nats.creds")
	must.Do(t, os.WriteFile(file, creds, 0o600))
	return file, func(o *server.Options) {
		resolver := &server.MemAccResolver{}
		must.Do(t, resolver.Store(accountClaims.Subject, accountJWT))
		o.TrustedKeys = []string{must.Get(operator.PublicKey())(t)}
		o.AccountResolver = resolver
	}
}

func TestAFileOfCredentialsLogsIn(t *testing.T) {
	t.Parallel()
	file, change := credentials(t)
	s := newBroker(t, false, change)
	with, _ := open(t, natsbus.Options{URL: s.url(), CredsFile: file})
	publish(t, with, mutation("1"))
	without, _ := open(t, natsbus.Options{URL: s.url()})
	must.Kind(t, "without", without.Publish(t.Context(), mutation("1")), amber.KindUnreachable)

	// A file that holds no credentials is an error of the login, and not shown.
	must.Do(t, os.WriteFile(file, []byte("-----BEGIN USER NKEY SEED-----\nSUhunter2\n------END USER NKEY SEED------\n"), 0o600))
	broken, log := open(t, natsbus.Options{URL: s.url(), CredsFile: file})
	must.Kind(t, "broken", broken.Publish(t.Context(), mutation("1")), amber.KindUnreachable)
	if h := broken.Health(); strings.Contains(log.String()+h.LastError, "hunter2") || h.LastError == "" {
		t.Errorf("the log or the health has the secret, or nothing:\n%s\n%+v", log, h)
	}
}

// A server that ends the connection with words the client library does not
// know makes it give up. The bus does not.
func TestABusOutlivesWhatItsClientGivesUp(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c, i == 0)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	b, log := open(t, natsbus.Options{URL: "nats://" + l.Addr().String()})
	log.await(t, "connected to NATS")
	must.Kind(t, "first", b.Publish(t.Context(), mutation("1")), amber.KindUnreachable)
	log.await(t, "not connected")
	late := time.After(patience)
	for b.Publish(t.Context(), mutation("1")) != nil {
		select {
		case <-late:
			t.Fatalf("it never comes back:\n%s", log)
		default:
		}
	}
	must.Kind(t, "Close", b.Close(t.Context()), "")
}

// serve speaks as little NATS as a client needs. Where angry it ends the
// connection at the first event.
func serve(c net.Conn, angry bool) {
	defer c.Close()
	fmt.Fprint(c, "INFO {\"server_id\":\"x\",\"version\":\"2.10.0\",\"proto\":1,\"headers\":true,\"max_payload\":1048576}\r\n")
	lines := bufio.NewReader(c)
	for {
		line, err := lines.ReadString('\n')
		switch {
		case err != nil:
			return
		case strings.HasPrefix(line, "PING"):
			fmt.Fprint(c, "PONG\r\n")
		case strings.HasPrefix(line, "HPUB") && angry:
			fmt.Fprint(c, "-ERR 'Something Nobody Has Heard Of'\r\n")
			_, _ = lines.ReadString(0) // until the client has gone
			return
		}
	}
}

// The permissions that docs/operations.md names are enough, and those to make
// a stream are not needed where there is one.
func TestFewPermissionsAreEnough(t *testing.T) {
	t.Parallel()
	events := []string{"amber.memory.mutated.>", "amber.memory.snapshot.>"}
	maker := append([]string{"$JS.API.STREAM.INFO.AMBER", "$JS.API.STREAM.CREATE.AMBER"}, events...)
	user := func(name string, pub []string) *server.User {
		return &server.User{Username: name, Password: "pw", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: pub}, Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
		}}
	}
	s := newBroker(t, true, func(o *server.Options) {
		o.Users = []*server.User{user("maker", maker), user("teller", events)}
	})
	for _, name := range []string{"maker", "teller"} {
		b, _ := open(t, natsbus.Options{URL: "nats://" + name + ":pw@" + s.addr(), JetStream: true})
		publish(t, b, mutation(name))
	}
}
