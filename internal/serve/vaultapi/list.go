package vaultapi

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/amber-memory/amber/wire"
)

// listing is how every list is answered.
type listing[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// karma is the answer to callers that ask for their karma. The server counts none: the number is above the bound
// that clients of the service know, and below which they may not write.
const karma = 50

// capability is something a caller may do or not.
type capability struct {
	Name        string `json:"name"`
	Allowed     bool   `json:"allowed"`
	Reason      string `json:"reason,omitempty"`
	Requirement string `json:"requirement,omitempty"`
}

// capabilities answers with what the caller may do.
func (h *Handler) capabilities(_ context.Context, c *call) (answer, error) {
	write := capability{Name: "write_vault", Allowed: c.who.Grant.Has(wire.TokenWrite)}
	if !write.Allowed {
		write.Reason, write.Requirement = "The token lacks the scope write.", "scope write"
	}
	return newAnswer("", struct {
		Capabilities []capability `json:"capabilities"`
		Karma        int          `json:"karma"`
	}{[]capability{write}, karma})
}

// status answers with how much room there is.
func (h *Handler) status(ctx context.Context, c *call) (answer, error) {
	s, err := c.store.Status(ctx)
	if err != nil {
		return answer{}, err
	}
	if s.QuotaBytes == 0 && h.o.Room != nil {
		s.QuotaBytes = h.o.Room(c.who.Grant.Tenant)
		s.AvailableBytes = s.QuotaBytes
	}
	return newAnswer("", s)
}

// list returns the files whose names begin with the prefix.
func (h *Handler) list(ctx context.Context, c *call) (answer, error) {
	prefix, err := c.prefix()
	if err != nil {
		return answer{}, err
	}
	files, err := c.store.List(ctx, prefix)
	if err != nil {
		return answer{}, err
	}
	l := listing[metadata]{Items: make([]metadata, 0, len(files)), Total: len(files)}
	all := make([]string, 0, len(files))
	for _, f := range files {
		l.Items, all = append(l.Items, metadataOf(f)), append(all, f.Name)
	}
	return newAnswer("", struct {
		listing[metadata]
		Names []string `json:"files"` // where colony-memory 0.1.0 looks
		More  bool     `json:"has_more"`
	}{l, all, false})
}

// search returns the files that hold a text.
func (h *Handler) search(ctx context.Context, c *call) (answer, error) {
	const most, usual = 100, 20
	text, err := c.parameter("q", 2, maxText)
	if err != nil {
		return answer{}, err
	}
	limit, err := c.number("limit", usual, 1, most)
	if err != nil {
		return answer{}, err
	}
	offset, err := c.number("offset", 0, 0, 1<<30)
	if err != nil {
		return answer{}, err
	}
	hits, total, err := c.store.Search(ctx, text, limit, offset)
	if err != nil {
		return answer{}, err
	}
	type found struct {
		metadata
		Snippet string `json:"snippet"`
	}
	l := listing[found]{Items: make([]found, 0, len(hits)), Total: total}
	for _, hit := range hits {
		l.Items = append(l.Items, found{metadataOf(hit.FileInfo), hit.Snippet})
	}
	return newAnswer("", l)
}

// folders returns the folders and how many files each has.
func (h *Handler) folders(ctx context.Context, c *call) (answer, error) {
	all, err := c.store.Folders(ctx)
	if err != nil {
		return answer{}, err
	}
	type folder struct {
		Name  string `json:"folder"`
		Files int64  `json:"file_count"`
	}
	l := listing[folder]{Items: make([]folder, 0, len(all)), Total: len(all)}
	for _, f := range all {
		l.Items = append(l.Items, folder(f))
	}
	return newAnswer("", l)
}

// prefix is what names are to begin with; "" for all.
func (c *call) prefix() (string, error) { return c.parameter("prefix", 0, maxPrefix) }

// parameter returns a value of the query.
func (c *call) parameter(name string, least, most int) (string, error) {
	if len(c.URL.RawQuery) > maxQuery {
		return "", unprocessable("too_long", fmt.Sprintf("The query should have at most %d bytes", maxQuery), "query")
	}
	q, err := url.ParseQuery(c.URL.RawQuery)
	if err != nil {
		return "", unprocessable("query_invalid", "The query cannot be read", "query")
	}
	values := q[name]
	if len(values) == 0 {
		if least > 0 {
			return "", unprocessable("missing", "Field required", "query", name)
		}
		return "", nil
	}
	s := values[len(values)-1]
	if !utf8.ValidString(s) {
		return "", unprocessable("string_unicode", "Input should be valid UTF-8", "query", name)
	}
	return s, checkLength(s, least, most, "query", name)
}

// number returns a whole number of the query.
func (c *call) number(name string, usual, least, most int) (int, error) {
	s, err := c.parameter(name, 0, 20)
	if err != nil || s == "" {
		return usual, err
	}
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return 0, unprocessable("int_parsing", "Input should be a valid integer", "query", name)
	case n < least:
		return 0, unprocessable("greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", least), "query", name)
	case n > most:
		return 0, unprocessable("less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", most), "query", name)
	}
	return n, nil
}
