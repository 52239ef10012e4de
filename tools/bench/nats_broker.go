package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// natsJob holds the folder and the port of a NATS server in a process of its
// own, so that it can be killed.
const natsJob = "AMBER_BENCH_NATS"

// natsWait bounds what takes no time where all is well.
const natsWait = time.Minute

// natsChild is that process. It prints its port and serves until its standard
// input ends.
func natsChild(job string) {
	dir, port, _ := strings.Cut(job, "\n")
	n := get(strconv.Atoi(port))
	s := get(server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: n, NoLog: true, NoSigs: true, JetStream: true, StoreDir: dir,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 30,
	}))
	s.Start()
	if !s.ReadyForConnections(natsWait) {
		fail("the NATS server does not start")
	}
	fmt.Println(s.Addr().(*net.TCPAddr).Port)
	_, err := io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	s.WaitForShutdown()
	check(err)
}

// natsBroker is a NATS server that is killed and started again.
type natsBroker struct {
	dir, port string
	cmd       *exec.Cmd
	stdin     io.Closer
}

// start returns when the server listens, at the port it had before.
func (b *natsBroker) start(ctx context.Context) {
	if b.port == "" {
		b.port = "-1"
	}
	b.cmd = exec.CommandContext(ctx, os.Args[0])
	b.cmd.Env = append(os.Environ(), natsJob+"="+b.dir+"\n"+b.port)
	b.cmd.Stderr = os.Stderr
	in, out := get(b.cmd.StdinPipe()), get(b.cmd.StdoutPipe())
	check(b.cmd.Start())
	b.stdin = in
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		b.kill()
		fail("the NATS server has not said where it listens")
	}
	b.port = lines.Text()
}

// kill ends it as kill -9 does. It may be called twice.
func (b *natsBroker) kill() {
	if b.cmd == nil {
		return
	}
	_ = b.cmd.Process.Kill() // it may have ended by itself
	_ = b.cmd.Wait()
	_ = b.stdin.Close()
	b.cmd = nil
}

func (b *natsBroker) url() string { return "nats://127.0.0.1:" + b.port }

// read returns the ids and subjects of what a stream holds, in its order.
func (b *natsBroker) read(ctx context.Context, stream string) (list []natsArrival) {
	nc := get(nats.Connect(b.url()))
	defer nc.Close()
	js := get(jetstream.New(nc))
	s := get(js.Stream(ctx, stream))
	c := get(s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{}))
	for total := int(s.CachedInfo().State.Msgs); len(list) < total; {
		batch := get(c.Fetch(min(1000, total-len(list)), jetstream.FetchMaxWait(natsWait)))
		for m := range batch.Messages() {
			list = append(list, natsArrival{m.Headers().Get(nats.MsgIdHdr), m.Subject()})
		}
		check(batch.Error())
	}
	return list
}

// natsArrival is an event in a stream.
type natsArrival struct{ id, subject string }
