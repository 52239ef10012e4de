package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
)

func seconds(all ...float64) (out []time.Duration) {
	for _, s := range all {
		out = append(out, time.Duration(s*float64(time.Second)))
	}
	return out
}

func TestWaits(t *testing.T) {
	t.Parallel()
	noon := newClock().Now()
	busy := func(after string) fault { return says(429, "", "Retry-After", after) }
	for name, tc := range map[string]struct {
		fault fault
		times int
		wait  bool
		waits []time.Duration
		want  amber.Kind
	}{
		"a second":             {fault: busy("1"), times: 1, waits: seconds(1)},
		"a second twice":       {fault: busy("1"), times: 2, waits: seconds(1, 1)},
		"a second, again":      {fault: busy("1"), times: 4, waits: seconds(1, 1, 2, 4)},
		"a second, for good":   {fault: busy("1"), times: always, waits: append(seconds(1, 1, 2, 4, 8), slices.Repeat(seconds(1), 14)...), want: amber.KindQuota},
		"half a minute":        {fault: busy("30"), times: 1, waits: seconds(30)},
		"too long":             {fault: busy("31"), times: 1, want: amber.KindQuota},
		"an hour":              {fault: busy("3600"), times: 1, want: amber.KindQuota},
		"an hour, and waits":   {fault: busy("3600"), times: 2, wait: true, waits: seconds(3600, 3600)},
		"a day, and waits":     {fault: busy("86400"), times: 1, wait: true, waits: seconds(3600)},
		"for ever, and waits":  {fault: busy("99999999999999999999"), times: 1, wait: true, waits: seconds(0.5)},
		"most, and waits":      {fault: busy("18446744073709551615"), times: 1, wait: true, waits: seconds(3600)},
		"most":                 {fault: busy("18446744073709551615"), times: 1, want: amber.KindQuota},
		"a date":               {fault: busy(noon.Add(7 * time.Second).Format(http.TimeFormat)), times: 1, waits: seconds(7)},
		"a late date":          {fault: busy(noon.Add(time.Hour).Format(http.TimeFormat)), times: 1, want: amber.KindQuota},
		"a past date":          {fault: busy(noon.Add(-time.Hour).Format(http.TimeFormat)), times: 1, waits: seconds(0.5)},
		"nonsense":             {fault: busy("soon"), times: 1, waits: seconds(0.5)},
		"negative":             {fault: busy("-5"), times: 1, waits: seconds(0.5)},
		"nothing":              {fault: busy("0"), times: 2, waits: seconds(0.5, 1)},
		"not said":             {fault: says(429, ""), times: always, waits: seconds(0.5, 1, 2, 4, 8), want: amber.KindQuota},
		"500":                  {fault: says500, times: 3, waits: seconds(0.5, 1, 2)},
		"500 for good":         {fault: says500, times: always, waits: seconds(0.5, 1, 2, 4, 8), want: amber.KindUnreachable},
		"502":                  {fault: says(502, ""), times: 1, waits: seconds(0.5)},
		"503":                  {fault: says503, times: 1, waits: seconds(0.5)},
		"503 with a wait":      {fault: says(503, "", "Retry-After", "12"), times: 1, waits: seconds(12)},
		"503 for an hour":      {fault: says(503, "", "Retry-After", "3600"), times: 1, want: amber.KindUnreachable},
		"504":                  {fault: says(504, ""), times: 1, waits: seconds(0.5)},
		"reset":                {fault: reset, times: 2, waits: seconds(0.5, 1)},
		"half":                 {fault: half, times: 2, waits: seconds(0.5, 1)},
		"outage, and waits":    {fault: says503, times: 12, wait: true, waits: seconds(0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300)},
		"400 is not repeated":  {fault: code(400, "INVALID_INPUT"), times: 1, want: amber.KindInvalid},
		"403 is not repeated":  {fault: says403, times: 1, wait: true, want: amber.KindRefused},
		"page is not repeated": {fault: page, times: 1, wait: true, want: amber.KindUnreachable},
	} {
		for _, call := range []string{"status", "get", "put", "put if absent", "delete"} {
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				var told []time.Duration
				v, c, k := prepared(t, func(o *api.Options) {
					o.Wait = tc.wait
					o.Notify = func(w api.Waiting) { told = append(told, w.For) }
				})
				v.forget(at(1, tc.times, tc.fault))
				err := calls[call](t.Context(), c)
				must.Kind(t, call, err, tc.want)
				must.Equal(t, "waits", k.waited(), tc.waits)
				must.Equal(t, "told", told, tc.waits)
				if tc.want == amber.KindQuota && !strings.Contains(amber.HintOf(err), "--wait") {
					t.Errorf("the hint is %q", amber.HintOf(err))
				}
			})
		}
	}
}

func TestNotifySaysWhy(t *testing.T) {
	t.Parallel()
	var told []api.Waiting
	v, c, _ := prepared(t, func(o *api.Options) { o.Notify = func(w api.Waiting) { told = append(told, w) } })
	v.forget(at(1, 1, says(429, `{"detail":{"code":"RATE_LIMITED","message":"slow\ndown"}}`, "Retry-After", "2")))
	must.Get(c.Put(t.Context(), "new", "new"))(t)
	host := strings.TrimSuffix(strings.TrimPrefix(v.url, "http://"), "/api/v1")
	want := []api.Waiting{{Why: "put vault file new: " + host + " answers 429 RATE_LIMITED: slow down", Kind: amber.KindQuota, For: 2 * time.Second, Attempt: 1}}
	must.Equal(t, "told", told, want)
}

// The end of the context ends a wait early, and the error still has the answer that made the client wait.
func TestWaitEndsWithTheContext(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	v, c, _ := prepared(t, func(o *api.Options) {
		o.Wait, o.Sleep = true, nil
		o.Notify = func(api.Waiting) { cancel() }
	})
	v.forget(at(1, always, saysWait))
	_, err := c.Get(ctx, "old")
	must.Kind(t, "get", err, amber.KindQuota)
	must.Is(t, "get", err, context.Canceled)
	must.Equal(t, "requests", len(v.requests()), 1)
}

// A clock that stands still, or goes back, does not make the retries endless.
func TestRetriesEndWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	v, _, k := prepared(t)
	back := newClock()
	c := must.Get(api.New(api.Options{
		URL: v.url, Sleep: k.Sleep, Key: func(context.Context) (string, error) { return secretKey, nil },
		Clock: func() time.Time { _ = back.Sleep(t.Context(), -time.Second); return back.Now() },
		HTTP:  &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}))(t)
	v.forget(on("GET", "/vault/status", always, says500))
	must.Fail(c.Status(t.Context()))(t, "status", amber.KindUnreachable)
	if waited := total(k.waited()); waited > api.DefaultPatience {
		t.Errorf("waited %s", waited)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	status := func(t *testing.T, c *api.Client) {
		t.Helper()
		must.NoError(t, must.Err(c.Status(t.Context())))
	}
	t.Run("is kept for a day", func(t *testing.T) {
		t.Parallel()
		v, c, k := prepared(t)
		for _, step := range []time.Duration{0, 22 * time.Hour, 59 * time.Minute, time.Minute, time.Hour, -3 * time.Hour} {
			_ = k.Sleep(t.Context(), step)
			status(t, c)
		}
		want := []string{
			"GET /vault/status", "GET /vault/status", "GET /vault/status", // the first day
			"POST /auth/token", "GET /vault/status", "GET /vault/status", // the next one
			"POST /auth/token", "GET /vault/status", // a clock that was put back
		}
		must.Equal(t, "requests", v.requests(), want)
	})
	t.Run("is renewed once", func(t *testing.T) {
		t.Parallel()
		for call, do := range calls {
			v, c, k := prepared(t)
			v.mu.Lock()
			v.token = "another" // the vault was started anew
			v.mu.Unlock()
			must.Kind(t, call, do(t.Context(), c), "")
			got := v.requests()
			if len(got) != 3 || got[0] != got[2] || got[1] != "POST /auth/token" || len(k.waited()) > 0 {
				t.Errorf("%s: requests %q, waits %v", call, got, k.waited())
			}
		}
	})
	t.Run("is not renewed for ever", func(t *testing.T) {
		t.Parallel()
		v, c, _ := prepared(t)
		v.forget(on("GET", "/vault/status", always, says401))
		must.Fail(c.Status(t.Context()))(t, "status", amber.KindRefused)
		want := []string{"GET /vault/status", "POST /auth/token", "GET /vault/status"}
		must.Equal(t, "requests", v.requests(), want)
	})
	t.Run("is exchanged once by many", func(t *testing.T) {
		t.Parallel()
		v := newVault(t)
		c, _ := v.open(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { status(t, c) })
		}
		wg.Wait()
		must.Equal(t, "tokens", v.issued, 1)
	})
	t.Run("is waited for no longer than the context", func(t *testing.T) {
		t.Parallel()
		v := newVault(t)
		entered, release := make(chan struct{}), make(chan struct{})
		v.forget(on("POST", "/auth/token", 1, func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
			close(entered)
			<-release
			next(w, r)
		}))
		c, _ := v.open(t)
		var wg sync.WaitGroup
		wg.Go(func() { status(t, c) })
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		must.Fail(c.Status(ctx))(t, "status", amber.KindUnreachable)
		close(release)
		wg.Wait()
		status(t, c)
	})
}

// A client that did something and lost the answer does not take its own work for the work of another client.
func TestLostAnswers(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	for name, f := range map[string]fault{"reset": resetAfter, "half": halfAfter, "wrong": wrongAfter, "502": func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		next(nowhere{}, r)
		w.WriteHeader(502)
	}} {
		for _, call := range []string{"put", "put if absent", "put if version", "delete"} {
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				v, c, _ := prepared(t)
				v.forget(at(1, 1, f))
				must.NoError(t, calls[call](t.Context(), c))
				v.forget(nil)
				if call == "delete" {
					return
				}
				name, content := "new", "new"
				if call == "put if version" {
					name, content = "old", "newer"
				}
				must.Equal(t, name, must.Get(c.Get(t.Context(), name))(t).Content, content)
			})
		}
	}
}

// The work of another stays a conflict, also when an answer was lost.
func TestLostAnswerAndAnotherWriter(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	for _, cond := range []colony.Condition{{Absent: true}, {Version: etag("old")}} {
		v, c, _ := prepared(t)
		name := "old"
		if cond.Absent {
			name = "new"
		}
		v.forget(at(1, 1, func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
			v.mu.Lock()
			v.files[name] = "theirs"
			v.mu.Unlock()
			cut(w)
		}))
		must.Fail(c.PutIf(t.Context(), name, "ours", cond))(t, name, amber.KindConflict)
	}
}

// nowhere takes an answer that never reaches the client.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}

// A vault without versions is looked at before and after a write.
func TestVaultWithoutConditions(t *testing.T) {
	t.Parallel()
	theirs := func(v *vault, method string, times int) {
		v.forget(on(method, "/vault/files/", times, func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
			next(w, r)
			v.mu.Lock()
			v.files["a"] = "theirs"
			v.mu.Unlock()
		}))
	}
	v := newVault(t, func(v *vault) { v.bare = true })
	c, _ := v.open(t)
	must.Get(c.PutIf(t.Context(), "a", "1", colony.Condition{Absent: true}))(t)
	want := []string{"POST /auth/token", "GET /vault/files/a", "PUT /vault/files/a", "GET /vault/files/a"}
	must.Equal(t, "requests", v.requests(), want)
	f := must.Get(c.Get(t.Context(), "a"))(t)
	theirs(v, "PUT", 1) // right after ours
	must.Fail(c.PutIf(t.Context(), "a", "2", colony.Condition{Version: f.Version}))(t, "put if version", amber.KindConflict)
	v.forget(nil)
	must.Fail(c.PutIf(t.Context(), "a", "3", colony.Condition{Version: f.Version}))(t, "put if version", amber.KindConflict)
}

// A vault that gives versions is asked once for each write.
func TestVersionsAreTrusted(t *testing.T) {
	t.Parallel()
	v, c, _ := prepared(t)
	info := must.Get(c.PutIf(t.Context(), "a", "1", colony.Condition{Absent: true}))(t)
	must.Get(c.PutIf(t.Context(), "a", "2", colony.Condition{Version: info.Version}))(t)
	must.Equal(t, "requests", v.requests(), []string{"PUT /vault/files/a", "PUT /vault/files/a"})
}
