package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/test/must"
)

// checkSecrets looks for the key and the tokens in an error and its hint.
func checkSecrets(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, err), amber.HintOf(err)} {
		must.Hides(t, "the error", text, secretKey, tokenPrefix)
	}
}

// A server that repeats what it was shown does not get it into an error.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	echo := func(status int) fault {
		return func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
			refuse(w, status, "CODE "+secretKey, strings.Repeat(r.Header.Get("Authorization")+" "+secretKey+"\n", 9))
		}
	}
	for _, status := range []int{400, 401, 403, 404, 409, 412, 422, 429, 500, 503} {
		v, c, _ := prepared(t)
		v.forget(at(1, always, echo(status)))
		for name, do := range calls {
			err := do(t.Context(), c)
			if err == nil && name != "may write" {
				t.Errorf("%s at %d succeeded", name, status)
			}
			checkSecrets(t, err)
		}
		for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c)} {
			must.Hides(t, "the text", text, secretKey, tokenPrefix)
		}
	}
	v, c, _ := prepared(t)
	v.forget(at(1, always, func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Fprintf(conn, "%s\r\n\r\n", r.Header.Get("Authorization")) // no status line
		_ = conn.Close()
	}))
	err := c.Delete(t.Context(), "old")
	must.Kind(t, "delete", err, amber.KindUnreachable)
	checkSecrets(t, err)
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
		"empty":          {key: "", want: amber.KindInvalid},
		"blank":          {key: " \n", want: amber.KindInvalid},
		"two lines":      {key: secretKey + "\n" + secretKey, want: amber.KindInvalid},
		"space inside":   {key: "col_ secret", want: amber.KindInvalid},
		"not ASCII":      {key: "col_ä", want: amber.KindInvalid},
		"huge":           {key: strings.Repeat("k", 1<<20), want: amber.KindInvalid},
		"another":        {key: "col_other", want: amber.KindRefused},
		"own error":      {err: own, want: amber.KindNotFound},
		"ended context":  {err: context.Canceled, want: amber.KindUnreachable},
		"other error":    {err: errors.New("?"), want: amber.KindInternal},
		"wrapped errors": {err: fmt.Errorf("ask: %w", own), want: amber.KindNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			c, _ := v.open(t, func(o *api.Options) { o.Key = func(context.Context) (string, error) { return tc.key, tc.err } })
			_, err := c.Status(t.Context())
			must.Kind(t, "status", err, tc.want)
			if asked := len(v.requests()); (tc.want == "" || tc.want == amber.KindRefused) != (asked > 0) {
				t.Errorf("the vault was asked %d times", asked)
			}
			checkSecrets(t, err)
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for u, want := range map[string]amber.Kind{
		"https://thecolony.ai/api/v1":        "",
		"https://thecolony.ai/api/v1/":       "",
		"http://127.0.0.1:7411/api/v1":       "",
		"http://localhost:7411/api/v1":       "",
		"http://[::1]:7411/api/v1":           "",
		"http://[::ffff:127.0.0.1]/api/v1":   "",
		" https://thecolony.ai/api/v1\n":     "",
		"http://thecolony.ai/api/v1":         amber.KindRefused,
		"http://10.0.0.1/api/v1":             amber.KindRefused,
		"http://localhost.example.org/":      amber.KindRefused,
		"http://127.0.0.1.example.org/":      amber.KindRefused,
		"http://0.0.0.0/":                    amber.KindRefused,
		"":                                   amber.KindInvalid,
		"thecolony.ai":                       amber.KindInvalid,
		"ftp://thecolony.ai":                 amber.KindInvalid,
		"https://":                           amber.KindInvalid,
		"https://:443/":                      amber.KindInvalid,
		"https://user:pw@thecolony.ai/":      amber.KindInvalid,
		"https://thecolony.ai/?api_key=x":    amber.KindInvalid,
		"https://thecolony.ai/api/v1#x":      amber.KindInvalid,
		"https://thecolony.ai/\x7f":          amber.KindInvalid,
		secretKey:                            amber.KindInvalid,
		"https://thecolony.ai:port/api/v1":   amber.KindInvalid,
		"HTTP://127.0.0.1:7411/api/v1":       "",
		"http://LOCALHOST:7411/api/v1":       "",
		"https://xn--bcher-kva.example/vlt/": "",
	} {
		_, err := api.New(api.Options{URL: u, Key: func(context.Context) (string, error) { return secretKey, nil }, Clock: newClock().Now})
		must.Kind(t, fmt.Sprintf("%q", u), err, want)
		checkSecrets(t, err)
	}
	for _, o := range []api.Options{
		{URL: "https://thecolony.ai", Clock: newClock().Now},
		{URL: "https://thecolony.ai", Key: func(context.Context) (string, error) { return "", nil }},
	} {
		must.Fail(api.New(o))(t, "options that miss something", amber.KindInvalid)
	}
}
