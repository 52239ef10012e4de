package s3

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/httpcall"
)

// Config says where a target is. It holds no credentials.
type Config struct {
	// Endpoint is the server, "https://host:port"; "" is the one the
	// environment names, AWS if it names none.
	Endpoint string
	Bucket   string
	Prefix   string // parts of [A-Za-z0-9._-] joined by slashes; "" is the whole bucket
	// Region is what requests are signed for; "" is the one the environment
	// names, us-east-1 if it names none.
	Region    string
	PathStyle bool // name the bucket in the path also where the host could carry it
	Insecure  bool // permit plain http to hosts other than this one
}

// amazon is the endpoint where none is named.
const amazon = "https://s3.amazonaws.com"

// maxPrefix leaves room for the longest name below a prefix: keys have 1024
// bytes at most.
const maxPrefix = 512

// ParseURL reads one of
//
//	s3://bucket/prefix
//	s3://host:port/bucket/prefix     plain http on this host, https elsewhere
//	s3+https://host/bucket/prefix    or s3:https://…, and both with http
//
// with the parameters endpoint (first form only), region, path_style and
// insecure. Errors: invalid, also for a URL that carries credentials; refused
// for plain http to another host that is not marked insecure. No error shows
// any part of the URL.
func ParseURL(s string) (Config, error) {
	if strings.Contains(s, "@") {
		return Config{}, badURL("credentials do not belong into a URL: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	scheme, rest, found := cutScheme(s)
	if !found {
		return Config{}, badURL("URL does not begin with s3://, s3+https:// or s3+http://")
	}
	u, err := url.Parse("s3://" + rest)
	if err != nil || u.Fragment != "" || strings.HasSuffix(rest, "#") || u.RawPath != "" {
		return Config{}, badURL("URL is not of the form s3://bucket/prefix")
	}
	path := strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/")
	var c Config
	if scheme == "" && u.Port() == "" {
		c.Bucket, c.Prefix = u.Host, path
	} else {
		c.Endpoint = endpointOf(scheme, u)
		c.Bucket, c.Prefix, _ = strings.Cut(path, "/")
	}
	if err := c.parseQuery(u.RawQuery); err != nil {
		return Config{}, err
	}
	return c.settled()
}

// cutScheme returns the scheme of the endpoint, "" where the URL leaves it
// open, and what follows.
func cutScheme(s string) (scheme, rest string, found bool) {
	for _, form := range []struct{ prefix, scheme string }{
		{"s3://", ""},
		{"s3+https://", "https"},
		{"s3+http://", "http"},
		{"s3:https://", "https"},
		{"s3:http://", "http"},
	} {
		if rest, found = strings.CutPrefix(s, form.prefix); found {
			return form.scheme, rest, true
		}
	}
	return "", "", false
}

func endpointOf(scheme string, u *url.URL) string {
	switch {
	case scheme != "":
	case httpcall.Loopback(u.Hostname()):
		scheme = "http"
	default:
		scheme = "https"
	}
	return scheme + "://" + u.Host
}

func (c *Config) parseQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return badURL("parameters of the URL cannot be read")
	}
	for name, v := range values {
		if len(v) != 1 {
			return badURL("a parameter is given twice")
		}
		switch name {
		case "endpoint":
			if c.Endpoint != "" {
				return badURL("URL names two endpoints")
			}
			if v[0] == "" {
				return badURL("the endpoint is empty")
			}
			c.Endpoint = v[0]
		case "region":
			c.Region = v[0]
		case "path_style":
			c.PathStyle, err = strconv.ParseBool(v[0])
		case "insecure":
			c.Insecure, err = strconv.ParseBool(v[0])
		default:
			return badURL("URL has a parameter other than endpoint, region, path_style and insecure")
		}
		if err != nil {
			return badURL("path_style and insecure are true or false")
		}
	}
	return nil
}

// String returns the canonical URL: [ParseURL] makes the same Config of it, and Configs that differ
// have different URLs. The URL of a Config that is not valid is of no use.
func (c Config) String() string {
	base := "s3://"
	if c.Endpoint != "" {
		base = "s3+" + c.Endpoint + "/"
	}
	base += c.Bucket
	if c.Prefix != "" {
		base += "/" + c.Prefix
	}
	query := url.Values{}
	if c.Region != "" {
		query.Set("region", c.Region)
	}
	if c.PathStyle {
		query.Set("path_style", "true")
	}
	if c.Insecure {
		query.Set("insecure", "true")
	}
	if len(query) > 0 {
		base += "?" + query.Encode() // in the order of the names
	}
	return base
}

// Resolve returns c with its endpoint named, from AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL where c has none: what tells repositories apart. Errors are
// those of [ParseURL].
func (c Config) Resolve(getenv func(string) string) (Config, error) {
	if c.Endpoint == "" {
		c.Endpoint = amazon
		for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
			if v := getenv(name); v != "" {
				c.Endpoint = v
			}
		}
	}
	return c.settled()
}

// settled returns c in the one form it has, or says what is wrong with it.
func (c Config) settled() (Config, error) {
	if c.Endpoint != "" {
		var err error
		if c.Endpoint, err = settleEndpoint(c.Endpoint, c.Insecure); err != nil {
			return Config{}, err
		}
	}
	switch {
	case !isBucket(c.Bucket):
		return Config{}, badURL("the bucket is missing, or its name is not 3 to 63 of a-z, 0-9, dot and dash")
	case !isPrefix(c.Prefix):
		return Config{}, badURL("the prefix is not made of A-Z, a-z, 0-9, dot, underscore and dash, with single slashes between")
	case len(c.Region) > 64 || !consists(c.Region, "_-"):
		return Config{}, badURL("the region is not made of letters, digits, dashes and underscores")
	}
	return c, nil
}

// settleEndpoint returns scheme://host, with the port if it is not the
// scheme's own.
func settleEndpoint(s string, insecure bool) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return "", badURL("the endpoint is not of the form https://host:port")
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if p, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || p == 0 || strconv.FormatUint(p, 10) != port) {
		return "", badURL("the port of the endpoint is not a number from 1 to 65535")
	}
	if !isHost(host) {
		return "", badURL("the host of the endpoint is not a name or an address")
	}
	own := "443"
	switch u.Scheme {
	case "https":
	case "http":
		own = "80"
		if !insecure && !httpcall.Loopback(host) {
			return "", &amber.Error{
				Op: "read S3 URL", Kind: amber.KindRefused, Err: errors.New("plain http to another host shows everything to the network"),
				Hint: "use https, or add the parameter insecure=true",
			}
		}
	default:
		return "", badURL("the endpoint begins neither with https:// nor with http://")
	}
	if port == own {
		port = ""
	}
	switch {
	case port != "":
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host, nil
}

func badURL(why string) error { return amber.Errorf(amber.KindInvalid, "read S3 URL", "", "%s", why) }

func isHost(s string) bool {
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.Zone() == "" && addr.String() == s
	}
	return s != "" && len(s) <= 253 && consists(s, "-.") && !strings.Contains(s, "..") && strings.Trim(s, "-.") == s
}

func isBucket(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return false
	}
	return len(s) >= 3 && len(s) <= 63 && s == strings.ToLower(s) && consists(s, "-.") &&
		strings.Trim(s, "-.") == s && !strings.Contains(s, "..")
}

func isPrefix(s string) bool {
	if s == "" {
		return true
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || part == ".." || !consists(part, "._-") {
			return false
		}
	}
	return len(s) <= maxPrefix
}

// consists reports whether s has nothing but ASCII letters, digits and more.
func consists(s, more string) bool {
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune(more, r) {
			return false
		}
	}
	return true
}
