package s3_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

const sharedFile = `[default]
aws_access_key_id = DEFAULTKEY
aws_secret_access_key = default secret
[work]
aws_access_key_id = WORKKEY
aws_secret_access_key = work secret
aws_session_token = work token
[half]
aws_access_key_id = HALFKEY
`

func TestCredentialsComeFromWhereEverybodyLooks(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, ".aws", "credentials")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	elsewhere := filepath.Join(home, "elsewhere")
	for path, text := range map[string]string{file: sharedFile, elsewhere: strings.ReplaceAll(sharedFile, "DEFAULTKEY", "OTHERKEY")} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	tests := []struct {
		name       string
		getenv     func(string) string
		key, token string
		region     string
	}{
		{"environment", env("AWS_ACCESS_KEY_ID", "ENVKEY", "AWS_SECRET_ACCESS_KEY", "x", "HOME", home), "ENVKEY", "", "us-east-1"},
		{"session", env("AWS_ACCESS_KEY_ID", "ENVKEY", "AWS_SECRET_ACCESS_KEY", "x", "AWS_SESSION_TOKEN", "token"), "ENVKEY", "token", "us-east-1"},
		{"home", env("HOME", home), "DEFAULTKEY", "", "us-east-1"},
		{"home of Windows", env("USERPROFILE", home), "DEFAULTKEY", "", "us-east-1"},
		{"profile", env("HOME", home, "AWS_PROFILE", "work"), "WORKKEY", "work token", "us-east-1"},
		{"file", env("HOME", home, "AWS_SHARED_CREDENTIALS_FILE", elsewhere), "OTHERKEY", "", "us-east-1"},
		{"region", env("HOME", home, "AWS_REGION", "eu-west-1", "AWS_DEFAULT_REGION", "eu-west-2"), "DEFAULTKEY", "", "eu-west-1"},
		{"default region", env("HOME", home, "AWS_DEFAULT_REGION", "eu-west-2"), "DEFAULTKEY", "", "eu-west-2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				want := "Credential=" + tt.key + "/"
				if got := r.Header.Get("Authorization"); !strings.Contains(got, want) || !strings.Contains(got, "/"+tt.region+"/s3/") {
					t.Errorf("the request is signed by %q", got)
				}
				must.Equal(t, "token", r.Header.Get("X-Amz-Security-Token"), tt.token)
				next.ServeHTTP(w, r)
			})
			s.open(t, func(o *s3.Options) { o.Getenv = tt.getenv })
		})
	}
}

func TestWithoutCredentialsNothingIsAsked(t *testing.T) {
	t.Parallel()
	const secret = "a-line-that-no-error-shows"
	home := t.TempDir()
	broken := filepath.Join(home, "broken")
	must.Do(t, os.WriteFile(broken, []byte("[default]\n"+secret+"\n"), 0o600))
	half := filepath.Join(home, "half")
	must.Do(t, os.WriteFile(half, []byte(sharedFile), 0o600))
	for name, getenv := range map[string]func(string) string{
		"nothing":             env(),
		"no file":             env("HOME", home),
		"no such profile":     env("AWS_SHARED_CREDENTIALS_FILE", half, "AWS_PROFILE", "none"),
		"half a profile":      env("AWS_SHARED_CREDENTIALS_FILE", half, "AWS_PROFILE", "half"),
		"broken file":         env("AWS_SHARED_CREDENTIALS_FILE", broken),
		"half of a pair":      env("AWS_ACCESS_KEY_ID", "x", "AWS_SHARED_CREDENTIALS_FILE", half),
		"other half of a one": env("AWS_SECRET_ACCESS_KEY", "x", "AWS_SHARED_CREDENTIALS_FILE", half),
	} {
		s := newServer(t)
		o := options()
		o.Getenv = getenv
		_, err := s3.Open(t.Context(), s.config(t), o)
		wantKind(t, name, err, amber.KindRefused)
		must.Hold(t, amber.HintOf(err) != "" && !strings.Contains(err.Error(), secret), "%s: %v", name, err)
		must.Equal(t, name+": requests", s.asked(""), 0)
	}
}
