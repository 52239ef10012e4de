package s3_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

var serverPath = flag.String("s3.server", "", "path of a versitygw, which is started and asked; empty: it is not")

// startServer starts a versitygw that keeps its buckets in a folder, and
// returns how to reach one of them.
func startServer(t *testing.T) (s3.Config, s3.Options) {
	t.Helper()
	if *serverPath == "" {
		t.Skip("no server is given by -s3.server")
	}
	root := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(root, "bucket"), 0o700))
	address := freeAddress(t)
	// It needs a file system with extended attributes. In a sidecar folder it does not keep ETags together
	// with bytes.
	cmd := exec.Command(*serverPath, "--port", address, "--quiet", "posix", root)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
	cmd.Stderr = t.Output()
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	c := must.Get(s3.ParseURL("s3://" + address + "/bucket/some/prefix"))(t)
	o := options()
	o.Attempts, o.Sleep = 0, nil
	// It needs a moment to listen.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		target, err := s3.Open(ctx, c, o)
		if err == nil {
			_ = target.Close()
			return c, o
		}
		if amber.KindOf(err) != amber.KindUnreachable || ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// freeAddress returns an address of this host where no process listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestRealServerKeepsEveryPromise(t *testing.T) {
	c, o := startServer(t)
	checkPromises(t, c, o)
}

func TestRealServerHeedsConditions(t *testing.T) {
	c, o := startServer(t)
	const rivals, rounds = 20, 10
	targets := make([]*s3.Target, rivals)
	for i := range targets {
		targets[i] = must.Get(s3.Open(t.Context(), c, o))(t)
		t.Cleanup(func() { _ = targets[i].Close() })
	}
	for round := range rounds {
		name := "races/" + string(rune('a'+round))
		data := noise(100_000 + round)
		created := together(t, targets, func(target *s3.Target) (bool, error) {
			return target.Put(t.Context(), name, int64(len(data)), strings.NewReader(data))
		})
		must.Equal(t, fmt.Sprintf("round %d: writers that made the object", round), created, 1)
		must.Equal(t, fmt.Sprintf("round %d: object", round), must.Get(get(t, targets[0], name))(t), data)
	}
}

// together runs f on every target at once and returns how many answered yes.
func together(t *testing.T, targets []*s3.Target, f func(*s3.Target) (bool, error)) (yes int) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs []error
	for _, target := range targets {
		wg.Go(func() {
			ok, err := f(target)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			if ok {
				yes++
			}
		})
	}
	wg.Wait()
	must.Do(t, errors.Join(errs...))
	return yes
}

func TestRealServerTakesObjectsInParts(t *testing.T) {
	c, o := startServer(t)
	target := must.Get(s3.Open(t.Context(), c, o))(t)
	t.Cleanup(func() { _ = target.Close() })
	checkParts(t, target)
}
