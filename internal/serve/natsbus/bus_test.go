package natsbus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/internal/test/must"
)

func publish(t testing.TB, b *natsbus.Bus, e events.Event) {
	t.Helper()
	must.Do(t, b.Publish(t.Context(), e))
}

// modes runs a test without and with JetStream.
func modes(t *testing.T, test func(t *testing.T, jetStream bool)) {
	for name, jetStream := range map[string]bool{"plain": false, "jetstream": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, jetStream)
		})
	}
}

func TestEveryEventArrivesAsItsJSON(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../testdata/json/event_*.json")
	files = slices.DeleteFunc(files, func(f string) bool { return strings.Contains(f, "minimal") }) // it has no real subject
	if err != nil || len(files) < 7 {
		t.Fatalf("%d vectors, %v", len(files), err)
	}
	modes(t, func(t *testing.T, jetStream bool) {
		s := newBroker(t, jetStream)
		sub := s.listen(t, "amber.>")
		b, _ := open(t, natsbus.Options{URL: s.url(), JetStream: jetStream})
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(t)
			var e struct {
				events.Event
				Payload json.RawMessage `json:"payload"`
			}
			must.Do(t, json.Unmarshal(text, &e))
			e.Event.Payload = e.Payload
			publish(t, b, e.Event)
			m := next(t, sub)
			must.Equal(t, file+": the id in the header", m.Header.Get(nats.MsgIdHdr), e.ID)
			must.Equal(t, file+": subject", m.Subject, e.Subject)
			var got, want any
			must.Do(t, errors.Join(json.Unmarshal(m.Data, &got), json.Unmarshal(text, &want)))
			must.Equal(t, file, got, want)
		}
		if h := b.Health(); !h.Connected || h.Published != int64(len(files)) || h.Failed != 0 || h.LastError != "" {
			t.Errorf("health is %+v", h)
		}
	})
}

func TestABusNeedsNoBrokerToBegin(t *testing.T) {
	t.Parallel()
	modes(t, func(t *testing.T, jetStream bool) {
		s := newBroker(t, jetStream)
		s.stop()
		b, log := open(t, natsbus.Options{URL: s.url(), JetStream: jetStream})
		must.Kind(t, "publish", b.Publish(t.Context(), mutation("1")), amber.KindUnreachable)
		if h := b.Health(); h.Connected || h.Failed != 1 || h.Published != 0 || h.LastError == "" {
			t.Errorf("health is %+v", h)
		}
		s.start(t)
		log.await(t, "connected to NATS")
		publish(t, b, mutation("1"))
		if h := b.Health(); !h.Connected || h.Published != 1 || h.LastError != "" {
			t.Errorf("health is %+v", h)
		}
	})
}

func TestABrokerThatRestartsKeepsWhatItHad(t *testing.T) {
	t.Parallel()
	s := newBroker(t, true)
	b, log := open(t, natsbus.Options{URL: s.url(), JetStream: true})
	log.await(t, "connected to NATS")
	var want []string
	for i := range 4 {
		id := fmt.Sprint(i)
		publish(t, b, mutation(id))
		want = append(want, id)
		s.stop()
		log.await(t, "not connected")
		must.Kind(t, "while it is away", b.Publish(t.Context(), mutation("lost")), amber.KindUnreachable)
		s.start(t)
		log.await(t, "connected to NATS")
	}
	must.Equal(t, "kept", idsOf(t, s.kept(t, natsbus.DefaultStream)), want)
	if h := b.Health(); h.Reconnects != 4 || h.Published != 4 || h.Failed != 4 {
		t.Errorf("health is %+v", h)
	}
}

// A connection that leads nowhere is noticed and made anew, and a publication waits for it no
// longer than Options.Wait.
func TestAPartitionEndsAndTheBusGoesOn(t *testing.T) {
	t.Parallel()
	modes(t, func(t *testing.T, jetStream bool) {
		s := newBroker(t, jetStream)
		p := newProxy(t, s.addr())
		b, log := open(t, natsbus.Options{URL: p.url(), JetStream: jetStream, Wait: 200 * time.Millisecond})
		publish(t, b, mutation("1"))
		p.freeze()
		for range 3 {
			must.Kind(t, "in the partition", b.Publish(t.Context(), mutation("2")), amber.KindUnreachable)
		}
		log.await(t, "not connected")
		p.cut()
		p.thaw()
		log.await(t, "connected to NATS")
		publish(t, b, mutation("2"))
	})
}

func TestPublishEndsWithItsContext(t *testing.T) {
	t.Parallel()
	modes(t, func(t *testing.T, jetStream bool) {
		s := newBroker(t, jetStream)
		p := newProxy(t, s.addr())
		b, _ := open(t, natsbus.Options{URL: p.url(), JetStream: jetStream, Wait: time.Hour})
		publish(t, b, mutation("1"))
		p.freeze()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		for range 8 { // more than may be under way without JetStream
			go func() { done <- b.Publish(ctx, mutation("2")) }()
		}
		cancel()
		for range 8 {
			must.Kind(t, "after the end", <-done, amber.KindUnreachable)
		}
		p.thaw()
	})
}

// Whatever happens to the connection: Publish says that an event is out only
// when it is.
func TestWhatIsSaidToBeOutIsOut(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	modes(t, func(t *testing.T, jetStream bool) {
		chance := rand.New(rand.NewPCG(seed, 1))
		s := newBroker(t, jetStream)
		p := newProxy(t, s.addr())
		sub := s.listen(t, events.DefaultMutationPrefix+".>")
		b, _ := open(t, natsbus.Options{URL: p.url(), JetStream: jetStream, Wait: 300 * time.Millisecond, ReconnectWait: time.Millisecond})
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for cuts := 0; ; cuts++ {
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(chance.IntN(8)) * time.Millisecond):
				}
				switch {
				case cuts%10 == 9:
					p.freeze()
					<-time.After(time.Duration(chance.IntN(30)) * time.Millisecond)
					p.thaw()
				default:
					p.cut()
				}
			}
		}()
		var want []string
		failed := 0
		for i := 0; i < *eventCount/2; {
			id := fmt.Sprint(i)
			if err := b.Publish(t.Context(), mutation(id)); err != nil {
				failed++
				if amber.KindOf(err) != amber.KindUnreachable {
					t.Fatal(err)
				}
				<-time.After(time.Millisecond) // as a caller that offers it again would
				continue
			}
			want = append(want, id)
			i++
		}
		close(stop)
		<-stopped
		var got []string
		seen := map[string]bool{}
		for len(got) < len(want) {
			id := decode(t, next(t, sub)).ID
			if !seen[id] {
				got = append(got, id)
			}
			seen[id] = true
		}
		t.Logf("%d events, %d attempts failed", len(want), failed)
		must.Equal(t, "first arrivals", got, want)
	})
}

func TestAnEventOfferedTwiceIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := newBroker(t, true)
	b, _ := open(t, natsbus.Options{URL: s.url(), JetStream: true})
	odd := "note/a\nb " + strings.Repeat("x", 2000)
	for range 3 {
		publish(t, b, mutation("1"))
		publish(t, b, mutation("2"))
		publish(t, b, mutation(odd))
	}
	must.Equal(t, "kept", idsOf(t, s.kept(t, natsbus.DefaultStream)), []string{"1", "2", odd})
}

// An event that is too large is still told, and those behind it go on.
func TestALargeEventLosesItsPayloadAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	large := mutation("large")
	large.Payload = strings.Repeat("x", 100_000)
	trims := func(t *testing.T, b *natsbus.Bus, sub *nats.Subscription) {
		t.Helper()
		publish(t, b, large)
		publish(t, b, mutation("next"))
		m := next(t, sub)
		e := decode(t, m)
		if e.ID != "large" || e.Payload != nil || e.Tenant != "acme" || e.At.IsZero() || m.Header.Get("Amber-Payload") != "omitted" {
			t.Errorf("got %+v with %v", e, m.Header)
		}
		m = next(t, sub)
		if e := decode(t, m); e.ID != "next" || e.Payload == nil || m.Header.Get("Amber-Payload") != "" {
			t.Errorf("got %+v with %v", e, m.Header)
		}
		if h := b.Health(); h.Published != 2 || h.Failed != 0 {
			t.Errorf("health is %+v", h)
		}
	}
	modes(t, func(t *testing.T, jetStream bool) {
		s := newBroker(t, jetStream, func(o *server.Options) { o.MaxPayload = 64 << 10 })
		b, _ := open(t, natsbus.Options{URL: s.url(), JetStream: jetStream})
		trims(t, b, s.listen(t, "amber.>"))
	})
	t.Run("of a stream", func(t *testing.T) {
		t.Parallel()
		s := newBroker(t, true)
		s.makeStream(t, natsbus.DefaultStream, 32<<10, "amber.>")
		b, _ := open(t, natsbus.Options{URL: s.url(), JetStream: true})
		publish(t, b, large)
		publish(t, b, mutation("next"))
		list := s.kept(t, natsbus.DefaultStream)
		must.Equal(t, "kept", idsOf(t, list), []string{"large", "next"})
		must.Equal(t, "payload", decode(t, list[0]).Payload, nil)
	})
	t.Run("also without", func(t *testing.T) {
		t.Parallel()
		s := newBroker(t, false, func(o *server.Options) { o.MaxPayload = 100 })
		b, _ := open(t, natsbus.Options{URL: s.url()})
		must.Kind(t, "publish", b.Publish(t.Context(), mutation("1")), amber.KindRefused, "larger", "max_payload")
	})
}

func TestWhatIsNoEventIsInvalid(t *testing.T) {
	t.Parallel()
	s := newBroker(t, false)
	b, _ := open(t, natsbus.Options{URL: s.url()})
	for what, change := range map[string]func(*events.Event){
		"no id":            func(e *events.Event) { e.ID = "" },
		"no subject":       func(e *events.Event) { e.Subject = "" },
		"a wildcard":       func(e *events.Event) { e.Subject = "amber.*" },
		"all":              func(e *events.Event) { e.Subject = "amber.>" },
		"a space":          func(e *events.Event) { e.Subject = "amber.a b" },
		"an empty token":   func(e *events.Event) { e.Subject = "amber..b" },
		"a line":           func(e *events.Event) { e.Subject = "amber.a\r\nPUB x 0" },
		"a system subject": func(e *events.Event) { e.Subject = "$SYS.x" },
		"a long subject":   func(e *events.Event) { e.Subject = strings.Repeat("a", 600) },
		"no JSON":          func(e *events.Event) { e.Payload = func() {} },
		"broken JSON":      func(e *events.Event) { e.Payload = json.RawMessage("{") },
	} {
		e := mutation("1")
		change(&e)
		must.Kind(t, what, b.Publish(t.Context(), e), amber.KindInvalid)
	}
}

func TestWhoMayNotPublishIsTold(t *testing.T) {
	t.Parallel()
	modes(t, func(t *testing.T, jetStream bool) {
		s := newBroker(t, jetStream, func(o *server.Options) {
			o.Users = []*server.User{
				{Username: "ann", Password: "pw", Permissions: &server.Permissions{
					Publish: &server.SubjectPermission{Deny: []string{"amber.memory.mutated.acme.eve"}},
				}},
			}
		})
		// Wait is an hour: the refusal has to arrive without it.
		b, _ := open(t, natsbus.Options{URL: "nats://ann:pw@" + s.addr(), JetStream: jetStream, Wait: time.Hour})
		denied := mutation("2")
		denied.Subject = "amber.memory.mutated.acme.eve"
		for range 2 { // the second complaint is about the second event
			publish(t, b, mutation("1"))
			must.Kind(t, "denied", b.Publish(t.Context(), denied), amber.KindRefused, "acme.eve")
		}
		publish(t, b, mutation("3"))
	})
}

// A listener that does not read delays neither the publisher nor another listener.
func TestASlowListenerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := newBroker(t, false, func(o *server.Options) {
		// Enough for a listener who takes what comes, however busy the machine is.
		o.MaxPayload, o.MaxPending = 64<<10, 512<<10
		o.WriteDeadline = 2 * time.Second
	})
	slow := must.Get(net.Dial("tcp", s.addr()))(t)
	defer slow.Close()
	must.Do(t, must.Err(fmt.Fprint(slow, "CONNECT {\"verbose\":false}\r\nSUB amber.> 1\r\nPING\r\n")))
	sub := s.listen(t, "amber.>")
	b, _ := open(t, natsbus.Options{URL: s.url()})
	e := mutation("1")
	e.Payload = strings.Repeat("x", 50_000)
	for range 200 {
		publish(t, b, e)
		next(t, sub)
	}
}

func TestABusThatIsClosedPublishesNothing(t *testing.T) {
	t.Parallel()
	modes(t, func(t *testing.T, jetStream bool) {
		s := newBroker(t, jetStream)
		b, log := open(t, natsbus.Options{URL: s.url(), JetStream: jetStream})
		publish(t, b, mutation("1"))
		for range 2 {
			must.Kind(t, "Close", b.Close(t.Context()), "")
		}
		must.Kind(t, "publish", b.Publish(t.Context(), mutation("2")), amber.KindUnreachable, "closed")
		must.Hides(t, "the log", log.String(), "not connected")
	})
}

func TestCloseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	modes(t, func(t *testing.T, jetStream bool) {
		s := newBroker(t, jetStream)
		p := newProxy(t, s.addr())
		b, _ := open(t, natsbus.Options{URL: p.url(), JetStream: jetStream, Wait: time.Hour})
		publish(t, b, mutation("1"))
		p.freeze()
		done := make(chan error)
		go func() { done <- b.Publish(t.Context(), mutation("2")) }()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must.Kind(t, "close", b.Close(ctx), amber.KindUnreachable)
		must.Kind(t, "publish", <-done, amber.KindUnreachable)
		must.Kind(t, "the second Close", b.Close(t.Context()), "")
		p.thaw()
	})
}
