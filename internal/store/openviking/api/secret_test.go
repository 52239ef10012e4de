package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
)

// checkSecrets looks for the key in an error and its hint.
func checkSecrets(t *testing.T, err error) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		must.Hides(t, "the error", fmt.Sprintf("%v %+v %#v %s", e, e, e, amber.HintOf(e)), secretKey[:7]) // a part is too much
	}
}

// A server that repeats the key does not get it into an error, nor into the printed client.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 400, 401, 403, 404, 409, 418, 422, 429, 500, 501, 503} {
		for name, tc := range calls {
			if status == 200 && (name == "download" || name == "health" || name == "user") {
				continue // no envelope
			}
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				key := r.Header.Get("X-API-Key")
				body := fmt.Sprintf(`{"status":"error","error":{"code":"C %s","message":"%s"}}`, key, strings.Repeat("m "+key+" ", 20))
				says(status, body, "Retry-After", key)(w, r)
			})
			c := s.open(t)
			_, err := tc.do(t.Context(), c)
			must.Error(t, name, err)
			checkSecrets(t, err)
			must.Says(t, name, err.Error(), "m *** m ***")
			for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
				must.Hides(t, "the client", fmt.Sprintf(format, c), secretKey)
				must.Hides(t, "the client", fmt.Sprintf(format, *c), secretKey)
			}
			must.Hides(t, "the URL", s.requests()[0].Line, secretKey)
			must.Hides(t, "the body", s.requests()[0].Body, secretKey)
		}
	}
	broken := serve(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Fprintf(conn, "%s\r\n\r\n", r.Header.Get("X-API-Key")) // no status line
		_ = conn.Close()
	})
	_, err := broken.open(t).Health(t.Context())
	must.Kind(t, "no status line", err, amber.KindUnreachable, "***")
	checkSecrets(t, err)
}

// A key that the server made is a secret as well.
func TestNewKeysStayInside(t *testing.T) {
	t.Parallel()
	s := serve(t, result(`{"user_key":"made-key-1"}`), says(403, `{"status":"error","error":{"code":"NO","message":"made-key-1 is refused"}}`))
	c := s.open(t)
	must.Equal(t, "key", must.Get(c.CreateUser(t.Context(), "acme", "alice"))(t), "made-key-1")
	_, err := c.Download(t.Context(), file)
	must.Kind(t, "", err, amber.KindRefused, "*** is refused")
	must.Hides(t, "the error", err.Error(), "made-key-1")
	must.Hides(t, "the client", fmt.Sprintf("%+v %#v", c, c), "made-key-1")
}

// The key is never sent to another server.
func TestRedirectGetsNoKey(t *testing.T) {
	t.Parallel()
	other := serve(t, says(200, healthy))
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.url+"/health", http.StatusTemporaryRedirect)
	})
	for name, tc := range calls {
		_, err := tc.do(t.Context(), s.open(t))
		must.Kind(t, name, err, amber.KindDamaged, "redirect")
	}
	must.Equal(t, "requests of the other", len(other.requests()), 0)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	own := &amber.Error{Op: "read key", Kind: amber.KindNotFound, Err: errors.New("no file")}
	for name, tc := range map[string]struct {
		key  string
		err  error
		want amber.Kind
	}{
		"plain":          {key: secretKey},
		"from a file":    {key: "  " + secretKey + "\r\n"},
		"empty":          {key: "", want: amber.KindRefused},
		"blank":          {key: " \n", want: amber.KindRefused},
		"two lines":      {key: secretKey + "\n" + secretKey, want: amber.KindRefused},
		"space inside":   {key: secretKey + " x", want: amber.KindRefused},
		"not ASCII":      {key: secretKey + "ä", want: amber.KindRefused},
		"huge":           {key: strings.Repeat("k", 1<<20), want: amber.KindRefused},
		"own error":      {err: own, want: amber.KindNotFound},
		"ended context":  {err: context.Canceled, want: amber.KindUnreachable},
		"other error":    {err: errors.New("?"), want: amber.KindInternal},
		"wrapped errors": {err: fmt.Errorf("ask: %w", own), want: amber.KindNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, says(200, healthy))
			_, err := s.open(t, func(o *api.Options) { o.Key = func() (string, error) { return tc.key, tc.err } }).Health(t.Context())
			must.Kind(t, "", err, tc.want)
			checkSecrets(t, err)
			must.Equal(t, "sent", len(s.requests()) == 1, tc.want == "")
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for u, want := range map[string]amber.Kind{
		"http://127.0.0.1:1933": "", "http://127.0.0.1:1933/": "", "http://localhost:1933/prefix": "", "http://[::1]:1933": "", "HTTP://LOCALHOST:1": "",
		"http://[::ffff:127.0.0.1]": "", "https://viking.example/a/b/": "", " https://viking.example\n": "", "https://10.0.0.1:1933": "",
		"http://viking.example": amber.KindInvalid, "http://10.0.0.1": amber.KindInvalid, "http://0.0.0.0:1933": amber.KindInvalid,
		"http://localhost.example.org": amber.KindInvalid, "http://127.0.0.1.example.org": amber.KindInvalid,
		"": amber.KindInvalid, "127.0.0.1:1933": amber.KindInvalid, "ftp://127.0.0.1": amber.KindInvalid, "https://": amber.KindInvalid, "https://:443": amber.KindInvalid,
		"https://u:" + secretKey + "@viking.example": amber.KindInvalid, "https://viking.example/?key=" + secretKey: amber.KindInvalid, "https://viking.example/#x": amber.KindInvalid,
		"https://viking.example/\x7f": amber.KindInvalid, secretKey: amber.KindInvalid, "https://viking.example:port": amber.KindInvalid,
		"https://viking.example/" + strings.Repeat("x", 3000): amber.KindInvalid,
	} {
		_, err := api.New(api.Options{URL: u})
		must.Kind(t, fmt.Sprintf("%.80q", u), err, want)
		checkSecrets(t, err)
	}
	const fine = "http://127.0.0.1:1933"
	for name, o := range map[string]api.Options{
		"account": {URL: fine, Account: "a\r\nX-API-Key: x"}, "user": {URL: fine, User: "a b"},
		"connect": {URL: fine, Connect: -time.Second}, "request": {URL: fine, Request: 1 << 62},
	} {
		must.Fail(api.New(o))(t, name, amber.KindInvalid)
	}
}

// A client is used by many at once.
func TestConcurrentUse(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	s := serve(t, says(200, healthy))
	c := s.open(t, func(o *api.Options) { o.Random = strings.NewReader(strings.Repeat("0123456789abcdef", 16)) })
	errs := make(chan error)
	for range 16 {
		go func() { errs <- must.Err(c.Health(t.Context())) }()
	}
	for range 16 {
		must.NoError(t, <-errs)
	}
	must.Do(t, c.Close())
	must.Do(t, c.Close())
}
