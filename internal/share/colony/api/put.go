package api

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/share/colony"
)

// PutIf implements [colony.ConditionalBackend]. A vault that gives no versions may ignore conditions. The client then
// reads the file before and after the write: it notices another writer who comes in between the two reads, but it may
// miss one who writes at the same instant.
func (c *Client) PutIf(ctx context.Context, name, content string, cond colony.Condition) (colony.FileInfo, error) {
	const op = "put vault file"
	if cond.Absent == (cond.Version != "") {
		return colony.FileInfo{}, amber.Errorf(amber.KindInvalid, op, name, "a condition is either Absent or one Version")
	}
	if cond.Version != "" && !known(cond.Version) {
		return colony.FileInfo{}, changed(op, name)
	}
	header, err := c.condition(ctx, op, name, cond)
	if err != nil {
		return colony.FileInfo{}, err
	}
	info, unsure, err := c.put(ctx, name, content, header)
	switch {
	case unsure && amber.KindOf(err) == amber.KindConflict:
		// An earlier request may have done it, and its answer was lost.
		return c.settle(ctx, name, content, err)
	case err == nil && !c.versions.Load():
		return c.settle(ctx, name, content, changed(op, name))
	}
	return info, err
}

// condition returns the header of a condition. As long as the client does not know that the vault keeps conditions, it
// reads the file and checks the condition itself.
func (c *Client) condition(ctx context.Context, op, name string, cond colony.Condition) (http.Header, error) {
	local := strings.HasPrefix(cond.Version, localPrefix)
	if c.versions.Load() && !local {
		return conditionHeader(cond), nil
	}
	f, err := c.Get(ctx, name)
	absent := amber.KindOf(err) == amber.KindNotFound
	switch {
	case err != nil && !absent:
		return nil, err
	case absent != cond.Absent:
		return nil, changed(op, name)
	case absent:
		return conditionHeader(cond), nil
	}
	version := f.Version
	if local {
		version = localVersion(f.Content)
	}
	if version != cond.Version {
		return nil, changed(op, name)
	}
	return conditionHeader(colony.Condition{Version: f.Version}), nil
}

// conditionHeader is a condition as HTTP has it. A version that the vault did
// not give says nothing to it.
func conditionHeader(cond colony.Condition) http.Header {
	switch {
	case cond.Absent:
		return http.Header{"If-None-Match": {"*"}}
	case strings.HasPrefix(cond.Version, localPrefix):
		return nil
	}
	return http.Header{"If-Match": {cond.Version}}
}

// settle looks whether what is there is what was to be put; otherwise the error
// stands.
func (c *Client) settle(ctx context.Context, name, content string, otherwise error) (colony.FileInfo, error) {
	f, err := c.Get(ctx, name)
	switch {
	case err == nil && f.Content == content:
		return f.FileInfo, nil
	case err == nil, amber.KindOf(err) == amber.KindNotFound:
		return colony.FileInfo{}, otherwise
	}
	return colony.FileInfo{}, err
}

// put writes a file. It is unsure when an earlier request of this call may have
// been carried out.
func (c *Client) put(ctx context.Context, name, content string, header http.Header) (info colony.FileInfo, unsure bool, err error) {
	r, err := file("put vault file", http.MethodPut, name)
	if err != nil {
		return info, false, err
	}
	if !utf8.ValidString(content) { // JSON would mend it
		return info, false, amber.Errorf(amber.KindInvalid, r.op, name, "the content is not valid UTF-8")
	}
	r.header = header
	if r.body, err = strictjson.Line(map[string]string{"content": content}); err != nil {
		return info, false, err
	}
	a, err := c.call(ctx, r)
	if err != nil {
		return info, a.unsure, err
	}
	if info, err = parseInfo(name, a); err != nil {
		// Any page could answer with success, so settle checks that the file has the new content.
		info, err = c.settle(ctx, name, content, r.senseless(err))
		return info, true, err
	}
	c.noteVersion(info.Version)
	if info.Version == "" {
		info.Version = localVersion(content)
	}
	info.Size = int64(len(content))
	return info, a.unsure, nil
}

// localPrefix begins a version that was made here. An ETag begins with a quote.
const localPrefix = "sha256:"

// localVersion is a version for a vault that gives none.
func localVersion(content string) string { return localPrefix + amber.ContentDigest(content) }

// known reports whether a version may be one of a vault or of this client: "*",
// or a list of versions, would hold for what the writer does not know.
func known(version string) bool {
	return strings.HasPrefix(version, localPrefix) || strong(version, false) == version
}

// noteVersion learns from an answer whether the vault gives versions.
func (c *Client) noteVersion(v string) {
	if v != "" {
		c.versions.Store(true)
	}
}

// changed is the error of a condition that does not hold.
func changed(op, name string) error {
	return amber.Errorf(amber.KindConflict, op, name, "the file has changed since it was read")
}
