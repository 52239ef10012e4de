package s3

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// Options say how a target is opened. The zero value works.
type Options struct {
	Getenv func(string) string // of credentials, endpoint and region; nil: os.Getenv
	// Attempts is how often a request is made before its failure is an answer;
	// 0: 6, which takes some ten seconds of waiting.
	Attempts int
	// Stall is how long the server may send nothing, and take nothing, before
	// an attempt is cut; 0: one minute.
	Stall     time.Duration
	Transport http.RoundTripper                          // nil: the package's own, with the proxies of the environment
	Sleep     func(context.Context, time.Duration) error // waits between attempts; nil: a timer
	Random    io.Reader                                  // nil: crypto/rand
}

// Target is a bucket, or the part of one below a prefix, that holds objects.
// Safe for concurrent use, also by several programs.
type Target struct {
	config   Config
	core     *minio.Core
	network  http.RoundTripper
	attempts int
	part     int64 // bytes of a part of a large object
	stall    time.Duration
	sleep    func(context.Context, time.Duration) error

	randomMu sync.Mutex
	random   io.Reader // under randomMu

	creates atomic.Int32 // whether the server heeds If-None-Match, as far as it is known
}

var _ target.Target = (*Target)(nil)

// Open returns the target that c names. It lists one object to see that the
// bucket is there and answers; it writes nothing. Errors: those of
// [ParseURL]; not_found when there is no such bucket; refused without
// credentials or when they do not permit it; unreachable.
func Open(ctx context.Context, c Config, o Options) (*Target, error) {
	t, err := build(c, o)
	if err != nil {
		return nil, err
	}
	if err := t.look(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// build returns the target without asking the network.
func build(c Config, o Options) (*Target, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	c, err := c.Resolve(o.Getenv)
	if err != nil {
		return nil, err
	}
	t := &Target{config: c, network: o.Transport, part: partSize, attempts: o.Attempts, stall: o.Stall, sleep: o.Sleep, random: o.Random}
	if t.attempts <= 0 {
		t.attempts = 6
	}
	if t.stall <= 0 {
		t.stall = time.Minute
	}
	if t.sleep == nil {
		t.sleep = httpcall.Wait
	}
	t.random = cmp.Or(t.random, rand.Reader)
	if t.network == nil {
		t.network = newTransport(t.stall)
	}
	t.core, err = newCore(c, o.Getenv, wire{t.network})
	return t, err
}

func newCore(c Config, getenv func(string) string, w wire) (*minio.Core, error) {
	found, err := findCredentials(getenv)
	if err != nil {
		return nil, err
	}
	endpoint, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, badURL("the endpoint is not of the form https://host:port")
	}
	signed, err := region(c, getenv)
	if err != nil {
		return nil, err
	}
	lookup := minio.BucketLookupAuto
	if c.PathStyle {
		lookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds:        found,
		Secure:       endpoint.Scheme == "https",
		Region:       signed,
		BucketLookup: lookup,
		Transport:    w,
		MaxRetries:   1, // attempts are made here
	})
	if err != nil {
		return nil, &amber.Error{Op: "open target", Kind: amber.KindInvalid, ID: c.String(), Err: err}
	}
	return core, nil
}

// region returns what requests are signed for. It is never left open: to find
// it out takes a permission that few have.
func region(c Config, getenv func(string) string) (string, error) {
	for _, r := range []string{c.Region, getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")} {
		if r != "" {
			c.Region = r
			_, err := c.settled()
			return r, err
		}
	}
	return "us-east-1", nil
}

func newTransport(stall time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: min(stall, 30*time.Second)}).DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   min(stall, 10*time.Second),
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       time.Minute,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // an object is what was stored
	}
}

// Close gives idle connections back. The target works after it, too; calling
// it twice is fine. It returns nil.
func (t *Target) Close() error {
	if c, ok := t.network.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
	return nil
}

// look asks for one name, to see whether the bucket answers.
func (t *Target) look(ctx context.Context) error {
	const op = "open target"
	id := t.config.String()
	_, err := t.try(ctx, expect{root: rootList}, func(ctx context.Context) error {
		for o := range t.core.ListObjectsIter(ctx, t.config.Bucket, t.listOptions("", 1)) {
			return o.Err
		}
		return context.Cause(ctx)
	})
	if isCode(err, noSuchBucket) {
		return &amber.Error{Op: op, Kind: amber.KindNotFound, ID: id, Err: errors.New("no such bucket"), Hint: hintBucket}
	}
	if err != nil {
		return failure(ctx, op, id, err)
	}
	return nil
}

// key returns where in the bucket a name is.
func (t *Target) key(name string) string {
	if t.config.Prefix == "" {
		return name
	}
	return t.config.Prefix + "/" + name
}
