//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/test/must"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/amber-memory/amber"
)

// keeper is a NATS server with JetStream that can be stopped and started again
// in the same place.
type keeper struct {
	t    testing.TB
	opts natsserver.Options
	s    *natsserver.Server
}

func newKeeper(t testing.TB) *keeper {
	t.Helper()
	k := &keeper{t: t, opts: natsserver.Options{
		Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true, NoLog: true, Username: "amber", Password: "hunter2",
		JetStream: true, StoreDir: t.TempDir(), JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 30,
	}}
	k.start()
	t.Cleanup(k.stop)
	return k
}

func (k *keeper) start() {
	k.t.Helper()
	opts := k.opts
	s := must.Get(natsserver.NewServer(&opts))(k.t)
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		k.t.Fatal("there is no broker")
	}
	k.s, k.opts.Port = s, s.Addr().(*net.TCPAddr).Port
}

func (k *keeper) stop() {
	k.s.Shutdown()
	k.s.WaitForShutdown()
}

func (k *keeper) url() string { return fmt.Sprintf("nats://amber:hunter2@127.0.0.1:%d", k.opts.Port) }

// until reads the stream until all that is wanted has come. It returns every event as its subject and what it
// is about, the first time it comes.
func (k *keeper) until(wanted ...[]string) (told []string) {
	k.t.Helper()
	missing := map[string]bool{}
	for _, w := range slices.Concat(wanted...) {
		missing[w] = true
	}
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	nc := must.Get(nats.Connect(k.url()))(k.t)
	defer nc.Close()
	js := must.Get(jetstream.New(nc))(k.t)
	c := must.Get(js.OrderedConsumer(ctx, "AMBER", jetstream.OrderedConsumerConfig{}))(k.t)
	for seen := map[string]bool{}; len(missing) > 0; {
		msg, err := c.Next(jetstream.FetchContext(ctx))
		if err != nil {
			k.t.Fatalf("%v never came: %v", missing, err)
		}
		var e struct {
			ID      string
			Payload struct{ Scope, Key, Label string }
		}
		must.Do(k.t, json.Unmarshal(msg.Data(), &e))
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		text := strings.Join([]string{msg.Subject(), e.Payload.Scope, e.Payload.Key, e.Payload.Label}, " ")
		told = append(told, text)
		delete(missing, text)
	}
	return told
}

// of returns what was told with these words in it, in order.
func of(told []string, words string) (out []string) {
	for _, t := range told {
		if strings.Contains(t, words) {
			out = append(out, t)
		}
	}
	return out
}

// Through an outage of the broker and a kill -9 of the server nothing is left
// out: no change of memory, no note, no snapshot. Each kind arrives in order, and
// /health says when it is well again.
func TestAServerPublishesThroughOutages(t *testing.T) {
	t.Parallel()
	k, u := newKeeper(t), newUser(t)
	u.configure("events: {nats_url: \"" + k.url() + "\", jetstream: true, mutation_prefix: mine.changed, lifecycle_prefix: mine.frozen}\n")
	r := u.serve()
	var memories, notes, frozen []string
	round := func(n int) {
		t.Helper()
		for i := range 20 {
			var ack amber.WriteAck
			r.answer(http.MethodPost, agentURL+"/memories", remembering("round %d, memory %d", n, i), &ack)
			memories = append(memories, "mine.changed.default.default memory "+string(ack.ID)+" ")
		}
		name := fmt.Sprintf("note-%d", n)
		u.must("", "note", "write", name, fmt.Sprintf("text %d", n))
		notes = append(notes, "mine.changed.default.default note "+name+" ")
		u.must("", "snapshot", "create", "--label", name)
		frozen = append(frozen, "mine.frozen.default.default.created   "+name)
	}
	status := func(worker string, want amber.HealthStatus) {
		t.Helper()
		r.await(worker+" is "+string(want), func() bool { return r.worker(worker).Status == want })
	}
	round(0)
	k.stop()
	round(1)
	status("events", amber.Degraded)
	status("outbox", amber.Degraded)
	k.start()
	status("events", amber.Healthy)
	status("outbox", amber.Healthy)
	round(2)
	k.stop()
	round(3)
	first := r
	r.kill()
	r = u.serve() // before the broker
	round(4)
	k.start()
	told := k.until(memories, notes, frozen)
	for what, want := range map[string][]string{" memory ": memories, " note ": notes, ".created ": frozen} {
		if diff := cmp.Diff(want, of(told, what)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if got := of(told, " git "); len(got) != len(notes) { // each is a commit, too
		t.Errorf("commits: %q", got)
	}
	if text := first.log.String() + r.log.String(); strings.Contains(text, "hunter2") {
		t.Errorf("the log has the password:\n%s", text)
	}
	r.stop()
	// As docs/format/home.md says.
	agent := "tenants/default/agents/default/"
	for name, form := range map[string]string{
		"serve.lock": `^$`, "published-since": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\n$`, agent + "published-memory": `^\S+\n$`,
	} {
		b := must.Get(os.ReadFile(filepath.Join(u.home, name)))(t)
		must.Hold(t, regexp.MustCompile(form).Match(b), "%s is %q", name, b)
	}
}
