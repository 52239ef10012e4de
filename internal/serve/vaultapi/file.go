package vaultapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/share/colony"
)

// metadata is a file as it is listed.
type metadata struct {
	Name      string     `json:"filename"`
	Size      int64      `json:"content_size"`
	CreatedAt amber.Time `json:"created_at"`
	UpdatedAt amber.Time `json:"updated_at"`
}

func metadataOf(f colony.FileInfo) metadata {
	return metadata{f.Name, f.Size, f.CreatedAt, f.UpdatedAt}
}

// subject is the name of a file in the audit log: its digest where the name is
// too long for that, or cannot be shown on a line.
func subject(name string) string {
	if name == "" || amber.CheckID("name", name) == nil {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// get returns a file.
func (h *Handler) get(ctx context.Context, c *call) (answer, error) {
	f, err := c.store.Get(ctx, c.name)
	if err != nil {
		return answer{}, err
	}
	if f.Version != "" && hasTag(c.Header.Values("If-None-Match"), f.Version) {
		return answer{Status: http.StatusNotModified, Tag: f.Version}, nil
	}
	return newAnswer(f.Version, struct {
		metadata
		Content string `json:"content"`
		Tag     string `json:"etag"`
	}{metadataOf(f.FileInfo), f.Content, quote(f.Version)})
}

// hasTag reports whether headers of entity tags name a tag.
func hasTag(headers []string, tag string) bool {
	for _, header := range headers {
		for t := range strings.SplitSeq(header, ",") {
			t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
			if t == "*" || t == quote(tag) {
				return true
			}
		}
	}
	return false
}

// put writes a file, under the condition of the request.
func (h *Handler) put(ctx context.Context, c *call) (answer, error) {
	content, err := h.content(c)
	if err != nil {
		return answer{}, err
	}
	w, err := c.op.wants(c.Header)
	if err != nil {
		return answer{}, err
	}
	return c.changed(w.put(ctx, c.store, c.name, content))
}

// content is the text of a request.
func (h *Handler) content(c *call) (string, error) {
	return c.body.text("content", 0, cmp.Or(h.ratesOf(c.who.Grant.Tenant).MaxChars, DefaultMaxChars))
}

// changed answers with what a file is now. A caller that may not read gets its name alone, unless the text of the
// file is the one of the request: by the size and the tag, which is a digest, the caller could guess what was there
// before.
func (c *call) changed(f colony.FileInfo, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	if !c.who.MayRead() && c.op.method != http.MethodPut {
		return newAnswer("", struct {
			Name string `json:"filename"`
		}{f.Name})
	}
	return newAnswer(f.Version, metadataOf(f))
}

// remove deletes a file.
func (h *Handler) remove(ctx context.Context, c *call) (answer, error) {
	_, err := c.op.wants(c.Header)
	if err == nil {
		err = c.store.Delete(ctx, c.name)
	}
	return answer{Status: http.StatusNoContent}, err
}

// appendTo adds to the end of a file.
func (h *Handler) appendTo(ctx context.Context, c *call) (answer, error) {
	content, err := h.content(c)
	if err == nil {
		_, err = c.op.wants(c.Header)
	}
	if err != nil {
		return answer{}, err
	}
	return c.changed(c.store.Append(ctx, c.name, content))
}

func (h *Handler) move(ctx context.Context, c *call) (answer, error) {
	to, overwrite, err := destination(c)
	if err != nil {
		return answer{}, err
	}
	a, err := c.changed(c.store.Move(audited.About(ctx, subject(c.name), subject(to)), c.name, to, overwrite))
	if err == nil {
		a.each = []string{subject(c.name), subject(to)}
	}
	return a, err
}

func (h *Handler) copyTo(ctx context.Context, c *call) (answer, error) {
	to, overwrite, err := destination(c)
	if err != nil {
		return answer{}, err
	}
	a, err := c.changed(c.store.Copy(audited.About(ctx, subject(to)), c.name, to, overwrite))
	if err == nil {
		a.each = []string{subject(to)}
	}
	return a, err
}

// destination reads where a file is to go.
func destination(c *call) (to string, overwrite bool, err error) {
	if _, err = c.op.wants(c.Header); err != nil {
		return "", false, err
	}
	if to, err = c.body.text("destination", 1, colony.MaxNameBytes); err != nil {
		return "", false, err
	}
	overwrite, err = c.body.flag("overwrite")
	return to, overwrite, err
}
