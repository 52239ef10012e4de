package s3_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestURLs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url       string
		want      s3.Config
		canonical string
	}{
		{"s3://bucket", s3.Config{Bucket: "bucket"}, "s3://bucket"},
		{"s3://bucket/", s3.Config{Bucket: "bucket"}, "s3://bucket"},
		{"s3://bucket/a/b/", s3.Config{Bucket: "bucket", Prefix: "a/b"}, "s3://bucket/a/b"},
		{
			"s3://bucket/a?region=eu-west-1&path_style=1",
			s3.Config{Bucket: "bucket", Prefix: "a", Region: "eu-west-1", PathStyle: true},
			"s3://bucket/a?path_style=true&region=eu-west-1",
		},
		{
			"s3://bucket/a?endpoint=https://Minio.example.com:443/",
			s3.Config{Endpoint: "https://minio.example.com", Bucket: "bucket", Prefix: "a"},
			"s3+https://minio.example.com/bucket/a",
		},
		{"s3://localhost:9000/bucket/a", s3.Config{Endpoint: "http://localhost:9000", Bucket: "bucket", Prefix: "a"}, "s3+http://localhost:9000/bucket/a"},
		{"s3://127.0.0.1:9000/bucket", s3.Config{Endpoint: "http://127.0.0.1:9000", Bucket: "bucket"}, "s3+http://127.0.0.1:9000/bucket"},
		{"s3://[::1]:9000/bucket", s3.Config{Endpoint: "http://[::1]:9000", Bucket: "bucket"}, "s3+http://[::1]:9000/bucket"},
		{"s3://nas:9000/bucket", s3.Config{Endpoint: "https://nas:9000", Bucket: "bucket"}, "s3+https://nas:9000/bucket"},
		{"s3:https://nas/bucket/a", s3.Config{Endpoint: "https://nas", Bucket: "bucket", Prefix: "a"}, "s3+https://nas/bucket/a"},
		{"s3+https://nas/bucket/a", s3.Config{Endpoint: "https://nas", Bucket: "bucket", Prefix: "a"}, "s3+https://nas/bucket/a"},
		{"s3:http://127.0.0.1/bucket", s3.Config{Endpoint: "http://127.0.0.1", Bucket: "bucket"}, "s3+http://127.0.0.1/bucket"},
		{
			"s3+http://nas/bucket?insecure=true",
			s3.Config{Endpoint: "http://nas", Bucket: "bucket", Insecure: true},
			"s3+http://nas/bucket?insecure=true",
		},
	}
	for _, tt := range tests {
		got, err := s3.ParseURL(tt.url)
		must.Hold(t, err == nil, "%s: %v", tt.url, err)
		must.Equal(t, tt.url, got, tt.want)
		must.Equal(t, tt.url+": the canonical URL", got.String(), tt.canonical)
	}
}

func TestWrongURLs(t *testing.T) {
	t.Parallel()
	const secret = "verysecret"
	tests := []struct {
		url  string
		want amber.Kind
	}{
		{"", amber.KindInvalid},
		{"/folder", amber.KindInvalid},
		{"https://host/bucket", amber.KindInvalid},
		{"s3:bucket/prefix", amber.KindInvalid},
		{"s3:host/bucket", amber.KindInvalid},
		{"s3://", amber.KindInvalid},
		{"s3:///a", amber.KindInvalid},
		{"s3://Bucket", amber.KindInvalid},
		{"s3://bu", amber.KindInvalid},
		{"s3://bucket_1", amber.KindInvalid},
		{"s3://192.168.0.1", amber.KindInvalid},
		{"s3://-bucket", amber.KindInvalid},
		{"s3://bucket/a//b", amber.KindInvalid},
		{"s3://bucket/../b", amber.KindInvalid},
		{"s3://bucket/a/./b", amber.KindInvalid},
		{"s3://bucket/a b", amber.KindInvalid},
		{"s3://bucket/a%2fb", amber.KindInvalid},
		{"s3://bucket/ä", amber.KindInvalid},
		{"s3://bucket/" + strings.Repeat("a", 513), amber.KindInvalid},
		{"s3://bucket#part", amber.KindInvalid},
		{"s3://bucket?unknown=1", amber.KindInvalid},
		{"s3://bucket?region=a&region=b", amber.KindInvalid},
		{"s3://bucket?region=a%0ab", amber.KindInvalid},
		{"s3://bucket?path_style=perhaps", amber.KindInvalid},
		{"s3://bucket?endpoint=", amber.KindInvalid},
		{"s3://bucket?endpoint=ftp://host", amber.KindInvalid},
		{"s3://bucket?endpoint=https://host/path", amber.KindInvalid},
		{"s3://bucket?endpoint=host:9000", amber.KindInvalid},
		{"s3://nas:9000/bucket?endpoint=https://other", amber.KindInvalid},
		{"s3://nas:0/bucket", amber.KindInvalid},
		{"s3://nas:99999/bucket", amber.KindInvalid},
		{"s3://nas:9000", amber.KindInvalid},
		{"s3+https:///bucket", amber.KindInvalid},
		{"s3+https://ho_st/bucket", amber.KindInvalid},
		{"s3+http://nas/bucket", amber.KindRefused},
		{"s3:http://192.168.0.1:9000/bucket", amber.KindRefused},
		{"s3://bucket?endpoint=http://nas", amber.KindRefused},
		{"s3://key:" + secret + "@host:9000/bucket", amber.KindInvalid},
		{"s3+https://" + secret + "@host/bucket", amber.KindInvalid},
		{"s3:http://key:" + secret + "/more@host/bucket", amber.KindInvalid},
		{"s3://bucket?endpoint=https://key:" + secret + "%40host", amber.KindInvalid},
		{"s3://bucket?secret=" + secret, amber.KindInvalid},
		{"s3://bucket:" + secret + "/a", amber.KindInvalid},
	}
	for _, tt := range tests {
		_, err := s3.ParseURL(tt.url)
		wantKind(t, tt.url, err, tt.want)
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func TestEndpointComesFromTheEnvironment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url    string
		getenv func(string) string
		want   string
		kind   amber.Kind
	}{
		{"s3://bucket", env(), "s3+https://s3.amazonaws.com/bucket", ""},
		{"s3://bucket", env("AWS_ENDPOINT_URL", "https://nas"), "s3+https://nas/bucket", ""},
		{"s3://bucket", env("AWS_ENDPOINT_URL", "https://nas", "AWS_ENDPOINT_URL_S3", "https://s3.nas"), "s3+https://s3.nas/bucket", ""},
		{"s3+https://own/bucket", env("AWS_ENDPOINT_URL", "https://nas"), "s3+https://own/bucket", ""},
		{"s3://bucket", env("AWS_ENDPOINT_URL", "http://nas"), "", amber.KindRefused},
		{"s3://bucket?insecure=true", env("AWS_ENDPOINT_URL", "http://nas"), "s3+http://nas/bucket?insecure=true", ""},
		{"s3://bucket", env("AWS_ENDPOINT_URL", "nonsense"), "", amber.KindInvalid},
	}
	for _, tt := range tests {
		c := must.Get(s3.ParseURL(tt.url))(t)
		got, err := c.Resolve(tt.getenv)
		wantKind(t, tt.url, err, tt.kind)
		if err == nil && got.String() != tt.want {
			t.Errorf("%s is %s, want %s", tt.url, got, tt.want)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, url := range []string{
		"s3://bucket/a/b?region=x&path_style=true", "s3://[::1]:9000/bucket", "s3:http://127.0.0.1/bucket",
		"s3+https://host/bucket?insecure=true", "s3://bucket?endpoint=https://host:443", "s3://a:b@c/d",
	} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		c, err := s3.ParseURL(url)
		if err != nil {
			if k := amber.KindOf(err); k != amber.KindInvalid && k != amber.KindRefused {
				t.Errorf("%q: kind %q", url, k)
			}
			return
		}
		if again := must.Get(s3.ParseURL(c.String()))(t); again != c || again.String() != c.String() {
			t.Errorf("%q is %q, which is %+v instead of %+v", url, c, again, c)
		}
		must.Kind(t, fmt.Sprintf("%q", url), must.Err(c.Resolve(func(string) string { return "" })), "")
	})
}
