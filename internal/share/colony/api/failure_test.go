package api_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/test/must"
)

// calls are the things a vault is asked for. There is a file "old".
var calls = map[string]func(ctx context.Context, c *api.Client) error{
	"status": func(ctx context.Context, c *api.Client) error { return must.Err(c.Status(ctx)) },
	"list":   func(ctx context.Context, c *api.Client) error { return must.Err(c.List(ctx, "o")) },
	"get":    func(ctx context.Context, c *api.Client) error { return must.Err(c.Get(ctx, "old")) },
	"put":    func(ctx context.Context, c *api.Client) error { return must.Err(c.Put(ctx, "new", "new")) },
	"put if absent": func(ctx context.Context, c *api.Client) error {
		return must.Err(c.PutIf(ctx, "new", "new", colony.Condition{Absent: true}))
	},
	"put if version": func(ctx context.Context, c *api.Client) error {
		return must.Err(c.PutIf(ctx, "old", "newer", colony.Condition{Version: etag("old")}))
	},
	"delete":    func(ctx context.Context, c *api.Client) error { return c.Delete(ctx, "old") },
	"may write": func(ctx context.Context, c *api.Client) error { return c.MayWrite(ctx) },
}

// prepared returns a vault with a file and a client that has a token and knows
// that there are versions.
func prepared(t *testing.T, change ...func(*api.Options)) (*vault, *api.Client, *clock) {
	t.Helper()
	v := newVault(t)
	c, k := v.open(t, change...)
	must.Get(c.Put(t.Context(), "old", "old"))(t)
	v.forget(nil)
	return v, c, k
}

// code is a refusal as the service writes it.
func code(status int, code string) fault {
	return says(status, `{"detail":{"code":"`+code+`","message":"no"}}`)
}

func TestEachRefusalIsOfItsKind(t *testing.T) {
	t.Parallel()
	const (
		file = "get, put, put if absent, put if version, delete"
		look = file + ", status, list"
		all  = look + ", may write"
	)
	for name, tc := range map[string]struct {
		fault fault
		calls string
		want  amber.Kind
	}{
		"401 for good":           {says401, all, amber.KindRefused},
		"401 page":               {says(401, "<html>"), all, amber.KindRefused},
		"403 karma":              {says403, all, amber.KindRefused},
		"403 agents only":        {code(403, "AUTH_AGENT_ONLY"), all, amber.KindRefused},
		"403 pending":            {code(403, "AUTH_PENDING_ACTIVATION"), all, amber.KindRefused},
		"403 page":               {says(403, "<html>"), all, amber.KindRefused},
		"402":                    {code(402, "PAYMENT"), all, amber.KindRefused},
		"429 for an hour":        {saysWait, all, amber.KindQuota},
		"429":                    {says(429, ""), all, amber.KindQuota},
		"500":                    {says500, all, amber.KindUnreachable},
		"502":                    {says(502, "<html>bad gateway"), all, amber.KindUnreachable},
		"503":                    {says503, all, amber.KindUnreachable},
		"504":                    {says(504, ""), all, amber.KindUnreachable},
		"503 for an hour":        {says(503, "", "Retry-After", "3600"), all, amber.KindUnreachable},
		"408":                    {says(408, ""), all, amber.KindUnreachable},
		"507":                    {says(507, ""), all, amber.KindQuota},
		"400 quota":              {code(400, "QUOTA_EXCEEDED"), all, amber.KindQuota},
		"400 files":              {code(400, "LIMIT_EXCEEDED"), all, amber.KindQuota},
		"413":                    {says(413, ""), file, amber.KindQuota},
		"400 input":              {code(400, "INVALID_INPUT"), all, amber.KindInvalid},
		"422":                    {says(422, `{"detail":[{"loc":["body","content"],"msg":"too long","type":"x"}]}`), all, amber.KindInvalid},
		"400 text":               {says(400, `{"detail":"bad name"}`), all, amber.KindInvalid},
		"400 page":               {says(400, "<html>plain HTTP request sent to HTTPS port"), all, amber.KindUnreachable},
		"404 of the vault":       {code(404, "NOT_FOUND"), "get, delete", amber.KindNotFound},
		"404 old":                {says(404, `{"detail":"File not found"}`), "get, delete", amber.KindNotFound},
		"404 of another thing":   {code(404, "AGENT_UNKNOWN"), "get, delete, put", amber.KindUnreachable},
		"404 page":               {says(404, "<html>not here"), look, amber.KindUnreachable},
		"404 empty":              {says(404, ""), look, amber.KindUnreachable},
		"404 other JSON":         {says(404, `{"error":"no such host"}`), look, amber.KindUnreachable},
		"404 null":               {says(404, `{"detail":null}`), look, amber.KindUnreachable},
		"404 where none can be":  {code(404, "NOT_FOUND"), "status, list, put, put if absent", amber.KindUnreachable},
		"404 of what must exist": {code(404, "NOT_FOUND"), "put if version", amber.KindConflict},
		"409":                    {code(409, "CONFLICT"), file, amber.KindConflict},
		"412":                    {code(412, "PRECONDITION_FAILED"), file, amber.KindConflict},
		"412 bare":               {says(412, ""), file, amber.KindConflict},
		"405":                    {says(405, `{"detail":"Method Not Allowed"}`), look, amber.KindUnreachable},
		"418":                    {says(418, "teapot"), all, amber.KindUnreachable},
		"501":                    {says(501, ""), look, amber.KindUnreachable},
		"300":                    {says(300, ""), all, amber.KindUnreachable},
		"202":                    {says(202, "{}"), all, amber.KindUnreachable},
		"206":                    {says(206, `{"items":[]}`), all, amber.KindUnreachable},
		"304":                    {says(304, ""), all, amber.KindUnreachable},
		"page":                   {page, all, amber.KindUnreachable},
		"wrong JSON":             {wrong, all, amber.KindUnreachable},
		"half":                   {half, all, amber.KindUnreachable},
		"reset":                  {reset, all, amber.KindUnreachable},
		"no content":             {says(204, ""), "status, list, get, put, put if absent, put if version, may write", amber.KindUnreachable},
		"empty":                  {says(200, ""), all, amber.KindUnreachable},
		"half JSON":              {says(200, `{"items": [`), all, amber.KindUnreachable},
		"two values":             {says(200, `{"items": []} {}`), all, amber.KindUnreachable},
		"a number":               {says(200, `7`), all, amber.KindUnreachable},
		"null":                   {says(200, `null`), all, amber.KindUnreachable},
		"no UTF-8":               {says(200, "{\"items\":[\"o\xff\"],\"content\":\"\xff\"}"), all, amber.KindUnreachable},
		"huge":                   {says(200, `{"items":[],"content":"`+strings.Repeat("x", 9<<20)+`"}`), "list, get, put", amber.KindUnreachable},
		"another file":           {says(200, `{"filename":"other","content":"x"}`), "get, put, put if absent, put if version", amber.KindUnreachable},
	} {
		for call, do := range calls {
			if !strings.Contains(", "+tc.calls+",", ", "+call+",") {
				continue
			}
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				v, c, k := prepared(t)
				v.forget(at(1, always, tc.fault))
				err := do(t.Context(), c)
				must.Kind(t, call, err, tc.want)
				checkSecrets(t, err)
				if waited := total(k.waited()); waited > api.DefaultPatience {
					t.Errorf("waited %s", waited)
				}
				v.forget(nil)
				must.Equal(t, "content afterwards", must.Get(c.Get(t.Context(), "old"))(t).Content, "old")
			})
		}
	}
}

// A login that fails says the same as any other request, but that a request is
// wrong says that the key is.
func TestLoginFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault fault
		want  amber.Kind
	}{
		"401":        {says401, amber.KindRefused},
		"2FA":        {code(401, "AUTH_2FA_REQUIRED"), amber.KindRefused},
		"403":        {says403, amber.KindRefused},
		"422":        {says(422, `{"detail":[{"msg":"bad key"}]}`), amber.KindRefused},
		"400":        {code(400, "INVALID_INPUT"), amber.KindRefused},
		"404":        {says(404, `{"detail":"Not Found"}`), amber.KindUnreachable},
		"429":        {saysWait, amber.KindQuota},
		"500":        {says500, amber.KindUnreachable},
		"page":       {page, amber.KindUnreachable},
		"no token":   {says(200, `{"token_type":"bearer"}`), amber.KindUnreachable},
		"bad token":  {says(200, `{"access_token":"a b"}`), amber.KindUnreachable},
		"odd token":  {says(200, `{"access_token":7}`), amber.KindUnreachable},
		"line token": {says(200, `{"access_token":"a\r\nX-Evil: 1"}`), amber.KindUnreachable},
		"long token": {says(200, `{"access_token":"`+strings.Repeat("x", 17<<10)+`"}`), amber.KindUnreachable},
		"reset":      {reset, amber.KindUnreachable},
		"half":       {half, amber.KindUnreachable},
	} {
		for call, do := range calls {
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				v := newVault(t)
				c, _ := v.open(t)
				v.forget(on("POST", "/auth/token", always, tc.fault))
				err := do(t.Context(), c)
				must.Kind(t, call, err, tc.want)
				checkSecrets(t, err)
				for _, r := range v.requests() {
					must.Equal(t, "asked without a token", r, "POST /auth/token")
				}
			})
		}
	}
}

func TestWhatOnlyTheVaultSaysAboutPermission(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault fault
		want  amber.Kind
	}{
		"as the service": {nil, ""},
		"no such call":   {says(404, `{"detail":"Not Found"}`), ""},
		"old server":     {says(405, ""), ""},
		"not listed":     {says(200, `{"capabilities":[{"name":"post","allowed":false}]}`), ""},
		"not told":       {says(200, `{"capabilities":[{"name":"write_vault"}]}`), ""},
		"bare list":      {says(200, `[{"name":"write_vault","allowed":false}]`), amber.KindRefused},
		"wrapped":        {says(200, `{"result":{"capabilities":[{"name":"write_vault","allowed":false,"reason":{"karma":1}}]}}`), amber.KindRefused},
		"odd":            {says(200, `{"capabilities":{"write_vault":false}}`), amber.KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, c, _ := prepared(t)
			if tc.fault != nil {
				v.forget(at(1, always, tc.fault))
			}
			must.Kind(t, "may write", c.MayWrite(t.Context()), tc.want)
		})
	}
	v := newVault(t, func(v *vault) { v.karma = true })
	c, _ := v.open(t)
	must.Kind(t, "", c.MayWrite(t.Context()), amber.KindRefused, "karma 2 of 10")
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	other := newVault(t)
	for name, tc := range map[string]struct {
		status int
		to     func(v *vault, r *http.Request) string
		call   string
		want   amber.Kind
	}{
		"to another host": {307, func(_ *vault, r *http.Request) string { return strings.TrimSuffix(other.url, "/api/v1") + r.URL.Path }, "get", amber.KindUnreachable},
		"of a put":        {308, func(_ *vault, r *http.Request) string { return strings.TrimSuffix(other.url, "/api/v1") + r.URL.Path }, "put", amber.KindUnreachable},
		"put becomes get": {302, func(*vault, *http.Request) string { return "/api/v1/vault/files/old" }, "put", amber.KindUnreachable},
		"delete to get":   {303, func(*vault, *http.Request) string { return "/api/v1/vault/files/old" }, "delete", amber.KindUnreachable},
		"to itself":       {307, func(_ *vault, r *http.Request) string { return r.URL.Path }, "status", amber.KindUnreachable},
		"on this host":    {307, func(*vault, *http.Request) string { return "/api/v1/vault/files/old?moved" }, "get", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, c, _ := prepared(t)
			v.forget(func(_ int, w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) bool {
				if r.URL.RawQuery == "moved" {
					return false
				}
				w.Header().Set("Location", tc.to(v, r))
				w.WriteHeader(tc.status)
				return true
			})
			must.Kind(t, tc.call, calls[tc.call](t.Context(), c), tc.want)
			must.Equal(t, "requests to the other host", len(other.requests()), 0)
		})
	}
}

// A vault that says nothing for too long is given up, by any bound.
func TestSlowVault(t *testing.T) {
	t.Parallel()
	// It ends with the connection, which the client gives up, and which the
	// server looks at once it has read the body.
	slow := at(1, always, func(_ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})

	v := newVault(t)
	v.forget(slow)
	c, k := v.open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.Get(ctx, "old")
	must.Kind(t, "get", err, amber.KindUnreachable)
	must.Is(t, "get", err, context.DeadlineExceeded)
	if len(v.requests()) > 1 || len(k.waited()) > 0 {
		t.Errorf("waited %v for %q", k.waited(), v.requests())
	}

	c, k = v.open(t, func(o *api.Options) { o.Timeout = 20 * time.Millisecond; o.Patience = 2 * time.Second })
	must.Fail(c.Get(t.Context(), "old"))(t, "get", amber.KindUnreachable)
	must.Equal(t, "waits", k.waited(), seconds(0.5, 1))
}

func total(all []time.Duration) (sum time.Duration) {
	for _, d := range all {
		sum += d
	}
	return sum
}
