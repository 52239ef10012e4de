package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestBucketScripts runs testdata/bucket. Every script has a bucket of its own
// on this machine, at $BUCKET, and the credentials for it.
func TestBucketScripts(t *testing.T) {
	p := scriptParams("testdata/bucket")
	p.Cmds["bucket"] = scriptBucket
	user := p.Setup
	p.Setup = func(env *testscript.Env) error {
		b, err := newBucket()
		if err != nil {
			return err
		}
		env.Defer(b.close)
		env.Values[bucketKey{}] = b
		env.Setenv("BUCKET", "s3:"+b.server.URL+"/bucket/some/prefix")
		env.Setenv("NOBUCKET", "s3:"+b.server.URL+"/nobucket")
		env.Setenv("AWS_ACCESS_KEY_ID", "AKIDAMBERTESTKEY")
		env.Setenv("AWS_SECRET_ACCESS_KEY", "no-secret-at-all")
		return user(env)
	}
	testscript.Run(t, p)
}

// bucketKey is how a script finds its bucket.
type bucketKey struct{}

// bucket is one bucket of an object store in this process.
type bucket struct {
	backend *s3mem.Backend
	server  *httptest.Server

	mu     sync.Mutex
	most   int           // packs that are taken before the server falls silent; negative: all
	silent chan struct{} // is closed when it has
	speak  chan struct{} // is closed when it is to answer again
	denied bool
	taken  []string // keys of packs, in order; a key that was sent twice is twice in it

	storing sync.WaitGroup // packs that were taken and are not stored yet
}

func newBucket() (*bucket, error) {
	b := &bucket{backend: s3mem.New(), most: -1}
	store := gofakes3.New(b.backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.answers(r) {
			store.ServeHTTP(w, r)
			if isPack(r) {
				b.storing.Done()
			}
			return
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	return b, b.backend.CreateBucket("bucket")
}

func (b *bucket) close() {
	b.listen(-1)
	b.server.Close()
}

// answers waits while the server is silent, and reports whether a request is
// to be carried out.
func (b *bucket) answers(r *http.Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !isPack(r) {
		return !b.denied
	}
	if b.most >= 0 && len(b.taken) >= b.most {
		speak, silent := b.speak, b.silent
		b.mu.Unlock()
		b.storing.Wait() // packs come side by side
		b.mu.Lock()
		select {
		case <-silent:
		default:
			close(silent)
		}
		b.mu.Unlock()
		select {
		case <-speak:
		case <-r.Context().Done():
		}
		b.mu.Lock()
		return false // the client is gone
	}
	b.taken = append(b.taken, r.URL.Path)
	if b.denied {
		return false
	}
	b.storing.Add(1)
	return true
}

// isPack reports whether a request brings a pack.
func isPack(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/packs/")
}

// listen lets the server take so many more packs; it forgets what it took.
func (b *bucket) listen(most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.speak != nil {
		close(b.speak)
	}
	b.most, b.taken = most, nil
	b.silent, b.speak = make(chan struct{}), make(chan struct{})
}

// keys returns what is in the bucket.
func (b *bucket) keys() ([]string, error) {
	list, err := b.backend.ListBucket("bucket", &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, o := range list.Contents {
		keys = append(keys, o.Key)
	}
	return keys, nil
}

// packs returns the packs in it.
func (b *bucket) packs() ([]string, error) {
	keys, err := b.keys()
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.Contains(k, "/packs/") }), err
}

// holds returns a key whose object holds a text.
func (b *bucket) holds(text string) (string, error) {
	keys, err := b.keys()
	if err != nil || len(keys) == 0 {
		return "", fmt.Errorf("there is nothing in it: %w", err)
	}
	for _, key := range keys {
		o, err := b.backend.GetObject("bucket", key, nil)
		if err != nil {
			return "", err
		}
		content, err := io.ReadAll(o.Contents)
		if o.Contents.Close(); err != nil {
			return "", err
		}
		if bytes.Contains(bytes.ToLower(content), []byte(strings.ToLower(text))) {
			return key, nil
		}
	}
	return "", nil
}

// scriptBucket is one of
//
//	bucket silent N     fall silent when so many packs came
//	bucket await        until it has fallen silent
//	bucket speak        answer again, and forget what was taken
//	bucket holds N      packs
//	bucket took N       packs since it was asked to speak, none of them twice
//	bucket deny|permit  answer 403 to everything, or do not
//	bucket nowords WORD...
func scriptBucket(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: bucket VERB [ARG...]")
	}
	b := ts.Value(bucketKey{}).(*bucket)
	number := func() (n int) {
		if len(args) != 2 {
			ts.Fatalf("usage: bucket %s N", args[0])
		}
		_, err := fmt.Sscan(args[1], &n)
		ts.Check(err)
		return n
	}
	switch args[0] {
	case "silent":
		b.listen(number())
	case "await":
		<-b.silent
	case "speak":
		b.listen(-1)
	case "holds":
		packs, err := b.packs()
		ts.Check(err)
		if len(packs) != number() {
			ts.Fatalf("it holds %d packs: %q", len(packs), packs)
		}
	case "took":
		b.mu.Lock()
		taken := slices.Sorted(slices.Values(b.taken))
		b.mu.Unlock()
		if once := len(slices.Compact(slices.Clone(taken))); once != len(taken) || once != number() {
			ts.Fatalf("it took %d packs: %q", len(taken), taken)
		}
	case "deny", "permit":
		b.mu.Lock()
		b.denied = args[0] == "deny"
		b.mu.Unlock()
	case "nowords":
		for _, word := range args[1:] {
			key, err := b.holds(word)
			ts.Check(err)
			if key != "" {
				ts.Fatalf("%q is in %s", word, key)
			}
		}
	default:
		ts.Fatalf("unknown verb %q", args[0])
	}
}
