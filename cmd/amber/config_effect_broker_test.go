//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
)

// broker starts a NATS server and listens to everything.
func (s *setting) broker(change ...func(*natsd.Options)) *natsd.Server {
	s.Helper()
	o := &natsd.Options{Host: "127.0.0.1", Port: natsd.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: s.path("broker")}
	for _, c := range change {
		c(o)
	}
	b := must.Get(natsd.NewServer(o))(s)
	b.Start()
	s.Cleanup(func() {
		b.Shutdown()
		b.WaitForShutdown()
	})
	if !b.ReadyForConnections(time.Minute) {
		s.Fatal("the broker does not start")
	}
	if len(change) > 0 {
		return b
	}
	s.conn = must.Get(nats.Connect(b.ClientURL()))(s)
	s.Cleanup(s.conn.Close)
	s.heard = make(chan *nats.Msg, 10_000)
	must.Get(s.conn.ChanSubscribe(">", s.heard))(s)
	must.Do(s, s.conn.Flush())
	return b
}

// next waits for an event whose subject fits one of the patterns.
func (s *setting) next(patterns ...string) *nats.Msg {
	s.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case m := <-s.heard:
			if strings.HasPrefix(m.Subject, events.DefaultMutationPrefix+".") {
				s.mutations = append(s.mutations, m)
			}
			for _, p := range patterns {
				if fits(p, m.Subject) {
					return m
				}
			}
		case <-late:
			s.Fatalf("nothing comes on %v", patterns)
		}
	}
}

// fits reports whether a subject is one of a pattern of NATS.
func fits(pattern, subject string) bool {
	ps, ss := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, p := range ps {
		switch {
		case p == ">":
			return len(ss) > i
		case i >= len(ss) || p != "*" && p != ss[i]:
			return false
		}
	}
	return len(ps) == len(ss)
}

// credentials makes a file to log in with, and what makes a broker want it.
func credentials(s *setting) (file string, wants func(*natsd.Options)) {
	s.Helper()
	operator, err1 := nkeys.CreateOperator()
	account, err2 := nkeys.CreateAccount()
	user, err3 := nkeys.CreateUser()
	for _, err := range []error{err1, err2, err3} {
		must.Do(s, err)
	}
	ok := func(text string, err error) string {
		must.Do(s, err)
		return text
	}
	claims := jwt.NewAccountClaims(ok(account.PublicKey()))
	signed := ok(claims.Encode(operator))
	mine := ok(jwt.NewUserClaims(ok(user.PublicKey())).Encode(account))
	seed := must.Get(user.Seed())(s)
	text := must.Get(jwt.FormatUserConfig(mine, seed))(s)
	file = filepath.Join(s.dir, "nats.creds")
	must.Do(s, os.WriteFile(file, text, 0o600))
	return file, func(o *natsd.Options) {
		accounts := &natsd.MemAccResolver{}
		must.Do(s, accounts.Store(claims.Subject, signed))
		o.TrustedKeys, o.AccountResolver, o.JetStream = []string{ok(operator.PublicKey())}, accounts, false
	}
}
