//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
)

// wicket is a way to a server that can be shut: what is under way waits in it.
type wicket struct {
	listener net.Listener
	to       string
	work     sync.WaitGroup

	mu    sync.Mutex
	open  *sync.Cond
	shut  bool
	ended bool
	conns []net.Conn
}

func newWicket(t *testing.T, to string) *wicket {
	t.Helper()
	w := &wicket{listener: must.Get(net.Listen("tcp", "127.0.0.1:0"))(t), to: to}
	w.open = sync.NewCond(&w.mu)
	w.work.Go(func() {
		for {
			c, err := w.listener.Accept()
			if err != nil {
				return
			}
			w.work.Go(func() { w.serve(c) })
		}
	})
	t.Cleanup(func() {
		w.set(false, true)
		must.NoError(t, w.listener.Close())
		w.mu.Lock()
		for _, c := range w.conns {
			_ = c.Close()
		}
		w.mu.Unlock()
		w.work.Wait()
	})
	return w
}

func (w *wicket) serve(c net.Conn) {
	to, err := net.Dial("tcp", w.to)
	if err != nil {
		_ = c.Close()
		return
	}
	w.mu.Lock()
	w.conns = append(w.conns, c, to)
	if w.ended {
		_, _ = c.Close(), to.Close()
	}
	w.mu.Unlock()
	pass := func(from, to net.Conn) {
		defer from.Close()
		defer to.Close()
		for b := make([]byte, 32<<10); ; {
			n, err := from.Read(b)
			w.wait()
			if _, werr := to.Write(b[:n]); err != nil || werr != nil {
				return
			}
		}
	}
	w.work.Go(func() { pass(to, c) })
	pass(c, to)
}

func (w *wicket) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.shut && !w.ended {
		w.open.Wait()
	}
}

func (w *wicket) set(shut, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shut, w.ended = shut, w.ended || ended
	w.open.Broadcast()
}

// Whatever becomes of the servers that publish, the database says how far they came, and each save of that is kept.
const noteMoves = `CREATE TABLE public.moves (n int8 GENERATED ALWAYS AS IDENTITY, log text, position text);
CREATE FUNCTION public.note_move() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO public.moves (log, position) VALUES (new.log, new.position);
  RETURN NULL;
END $$;
CREATE TRIGGER note_move AFTER INSERT OR UPDATE ON amber_home.cursors FOR EACH ROW WHEN (new.agent <> '') EXECUTE FUNCTION public.note_move()`

// publishers are servers of a database that tell a broker what changes.
type publishers struct {
	*fleet
	conn   *pgx.Conn
	client *http.Client
	n      int
}

// write writes to a server, and to both change logs.
func (p *publishers) write(server, times int) {
	p.Helper()
	at := p.urls[server].String()
	for range times {
		p.n++
		for _, k := range []*keyed{
			{name: "memory", method: "POST", path: "/memories", body: fmt.Sprintf(`{"content":"fact %d"}`, p.n)},
			{name: "task", method: "PUT", path: fmt.Sprint("/tasks/task-", p.n), body: `{"goal":"go on","state":"queued"}`},
		} {
			r, _ := k.insist(p.T, p.client, at, fmt.Sprint(k.name, "-", p.n))
			must.Hold(p, r.status/100 == 2, "%s: %d %s", k.name, r.status, r.body)
		}
	}
}

// holder is the server that publishes; -1 for none that is known.
func (p *publishers) holder() int {
	p.Helper()
	var address string
	err := p.conn.QueryRow(p.Context(), `SELECT s.address FROM amber_meta.work w JOIN amber_meta.servers s ON s.id = w.holder
WHERE w.kind = 'publish events' AND w.agent = 'default' AND w.until > clock_timestamp()`).Scan(&address)
	if errors.Is(err, pgx.ErrNoRows) {
		return -1
	}
	must.Do(p, err)
	for i, u := range p.urls {
		if u != nil && u.String() == address {
			return i
		}
	}
	return -1
}

func (p *publishers) await(what string, so func() bool) {
	p.Helper()
	for limit := time.Now().Add(giveUp); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			p.Fatalf("%s never happened", what)
		}
	}
}

// behind is how many changes of memory no cursor has passed yet.
func (p *publishers) behind() (n int64) {
	p.Helper()
	var head int64
	must.Do(p, p.conn.QueryRow(p.Context(), "SELECT seq FROM amber.heads WHERE log = 'memory'").Scan(&head))
	var at string
	err := p.conn.QueryRow(p.Context(), "SELECT position FROM amber_home.cursors WHERE log = 'memory' AND agent = 'default'").Scan(&at)
	if errors.Is(err, pgx.ErrNoRows) {
		return head
	}
	must.Do(p, err)
	_, seq, err := amber.Position(at).Parse()
	must.Do(p, err)
	return head - seq
}

// Servers of one database that publish to a broker are killed and stopped in the middle. Every change and every snapshot arrives with the id that it always
// has, those of a log for the first time in its order, and a server that goes on after another one followed it does not move
// the cursor back.
func TestReplicasPublishThroughKills(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	homes, dsn := replicas(t, 2)
	wicket := newWicket(t, fmt.Sprint("127.0.0.1:", k.opts.Port))
	for i, h := range homes {
		at := k.url()
		if i == 0 {
			at = "nats://amber:hunter2@" + wicket.listener.Addr().String()
		}
		h.set("AMBER_EVENTS__NATS_URL", at)
		h.set("AMBER_EVENTS__JETSTREAM", "true")
		h.set("AMBER_SERVER__REPLICA__LEASE", "2s")
	}
	f := &fleet{T: t, homes: homes, cmds: make([]*exec.Cmd, 2), urls: make([]*url.URL, 2)}
	t.Cleanup(func() { f.kill(0); f.kill(1) })
	f.start(0)
	p := &publishers{fleet: f, conn: must.Get(pgx.Connect(t.Context(), dsn))(t), client: &http.Client{Timeout: giveUp / 2, Transport: &http.Transport{}}}
	defer func() { _ = p.conn.Close(t.Context()) }()
	defer p.client.CloseIdleConnections()
	must.Get(p.conn.Exec(t.Context(), noteMoves))(t)

	// The first server publishes, and is stopped while it waits for the broker. The other follows it and goes further; the first
	// one gets its answer then, and goes on.
	p.write(0, 5)
	p.await("the first server publishes", func() bool { return p.holder() == 0 && p.behind() == 0 })
	f.start(1)
	wicket.set(true, false)
	p.write(0, 5)
	p.await("it waits for the broker", func() bool { return p.holder() == 0 && p.behind() > 0 })
	time.Sleep(300 * time.Millisecond) // it has read the log
	process := f.cmds[0].Process
	must.Do(t, process.Signal(syscall.SIGSTOP))
	p.write(1, 5)
	p.await("the other follows it", func() bool { return p.holder() == 1 && p.behind() == 0 })
	wicket.set(false, false)
	must.Do(t, process.Signal(syscall.SIGCONT))
	p.write(0, 5)
	labels := map[string]bool{}
	for i := range 2 {
		label := fmt.Sprint("frozen ", i)
		homes[i].does("snapshot", "create", "--label", label)
		labels[label] = true
	}

	// The server that publishes is killed in the middle, again and again.
	kills := 0
	for range *replicasKills {
		p.write(kills%2, 5)
		p.await("somebody publishes", func() bool { return p.holder() >= 0 })
		i := p.holder()
		if i < 0 {
			i = kills % 2
		}
		p.write(1-i, 3)
		f.kill(i)
		p.write(1-i, 3)
		f.start(i)
		kills++
	}
	p.await("all is published", func() bool { return p.behind() == 0 })
	want := p.logs(dsn)
	got, messages := p.arrived(k, want, labels)
	must.Equal(t, "what arrived of memory", got["memory"], want["memory"])
	must.Equal(t, "what arrived of control", got["control"], want["control"])

	rows := must.Get(p.conn.Query(t.Context(), "SELECT log, position FROM public.moves ORDER BY n"))(t)
	moves, at := 0, map[string]int64{}
	var log, position string
	must.Get(pgx.ForEachRow(rows, []any{&log, &position}, func() error {
		_, seq, err := amber.Position(position).Parse()
		must.Hold(t, seq >= at[log], "the cursor of %s moved from %d back to %d", log, at[log], seq)
		at[log], moves = seq, moves+1
		return err
	}))(t)
	t.Logf("%d kills: %d changes, %d messages, cursors saved %d times", kills, len(want["memory"])+len(want["control"]), messages, moves)
}

// logs are the ids of the events of all changes, by log and in order.
func (p *publishers) logs(dsn string) map[string][]string {
	p.Helper()
	s := must.Get(postgres.Connect(p.Context(), postgres.ServerOptions{DSN: dsn, Clock: time.Now, Random: rand.Reader}))(p)
	defer s.Close()
	store := must.Get(s.Open(p.Context(), amber.DefaultTenant, amber.DefaultAgent, postgres.Options{Existing: true}))(p)
	defer store.Close()
	out := map[string][]string{}
	for name, log := range map[string]amber.ChangeLog{"memory": store.Store().Changes, "control": store.Store().ControlChanges} {
		for at := amber.Position(""); ; {
			changes := must.Get(log.Changes(p.Context(), at, 1000))(p)
			for _, c := range changes {
				at = c.Position
				out[name] = append(out[name], string(c.Position)+"/"+string(c.Scope)+"/"+c.Key)
			}
			if len(changes) < 1000 {
				break
			}
		}
	}
	return out
}

// arrived reads the stream until all that is wanted has come, or nothing comes any more. It returns the ids by log as they came first, and how many
// messages there are.
func (p *publishers) arrived(k *keeper, want map[string][]string, labels map[string]bool) (first map[string][]string, messages int) {
	p.Helper()
	missing := map[string]string{}
	for log, ids := range want {
		for _, id := range ids {
			missing[id] = log
		}
	}
	ctx, cancel := context.WithTimeout(p.Context(), giveUp)
	defer cancel()
	nc := must.Get(nats.Connect(k.url()))(p)
	defer nc.Close()
	c := must.Get(must.Get(jetstream.New(nc))(p).OrderedConsumer(ctx, "AMBER", jetstream.OrderedConsumerConfig{}))(p)
	first = map[string][]string{}
	for seen := map[string]bool{}; len(missing) > 0 || len(labels) > 0; messages++ {
		msg, err := c.Next(jetstream.FetchContext(ctx))
		if err != nil {
			p.Errorf("%v and %v never came: %v", missing, labels, err)
			return first, messages
		}
		var e struct {
			ID      string
			Payload struct{ Label string }
		}
		must.Do(p, json.Unmarshal(msg.Data(), &e))
		delete(labels, e.Payload.Label)
		if log, ok := missing[e.ID]; ok {
			first[log] = append(first[log], e.ID)
			delete(missing, e.ID)
		} else if !seen[e.ID] {
			must.Hold(p, !strings.Contains(msg.Subject(), "mutated"), "%s is an event of no change", e.ID)
		}
		seen[e.ID] = true
	}
	return first, messages
}
