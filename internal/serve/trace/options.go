package trace

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/amber-memory/amber"
)

// Options say where spans go. The zero value sends them nowhere.
type Options struct {
	// Endpoint is the URL of a collector that spans are posted to as OTLP over
	// HTTP, "http://localhost:4318/v1/traces". "": spans are not even made.
	Endpoint string
	Headers  map[string]string // of the requests, as for a key; they are secrets
	Gzip     bool              // requests are compressed
	Service  string            // "": amber
	Version  string            // of this build
	// Failed is called when spans could not be sent, and must not block. It may be
	// nil.
	Failed func(error)
}

// FromEnvironment returns the options that the standard variables ask for:
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT, the same
// for HEADERS and COMPRESSION, OTEL_SERVICE_NAME, and OTEL_SDK_DISABLED. Get returns a
// variable, "" for one that is not set.
func FromEnvironment(get func(string) string) Options {
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") {
		return Options{}
	}
	o := Options{Endpoint: get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), Service: get("OTEL_SERVICE_NAME")}
	if base := get("OTEL_EXPORTER_OTLP_ENDPOINT"); o.Endpoint == "" && base != "" {
		o.Endpoint = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	o.Headers = parseHeaders(cmp.Or(get("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), get("OTEL_EXPORTER_OTLP_HEADERS")))
	o.Gzip = cmp.Or(get("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION"), get("OTEL_EXPORTER_OTLP_COMPRESSION")) == "gzip"
	return o
}

// parseHeaders reads "key=value,key=value", both percent-encoded. A pair that is no header is left
// out.
func parseHeaders(s string) map[string]string {
	headers := map[string]string{}
	for pair := range strings.SplitSeq(s, ",") {
		key, value, ok := strings.Cut(pair, "=")
		k, err := url.PathUnescape(strings.TrimSpace(key))
		v, err2 := url.PathUnescape(strings.TrimSpace(value))
		if ok && err == nil && err2 == nil && k != "" {
			headers[k] = v
		}
	}
	return headers
}

// normalize fills defaults in and checks. The error is of kind invalid.
func (o Options) normalize() (Options, error) {
	const op = "open trace"
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil:
		return o, amber.Errorf(amber.KindInvalid, op, "", "the endpoint is not a URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return o, amber.Errorf(amber.KindInvalid, op, "", "the endpoint does not begin with http:// or https:// and a host")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return o, amber.Errorf(amber.KindInvalid, op, "", "the endpoint has a user, a query or a fragment; use headers")
	}
	o.Service = cmp.Or(o.Service, "amber")
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	return o, nil
}
