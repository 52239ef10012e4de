package ovfake

import (
	"crypto/md5"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"time"
)

// at returns the account and the path that a request with the parameter uri is
// about.
func (s *Server) at(c *call) (*account, string, error) {
	uri, err := c.query("uri")
	if err != nil {
		return nil, "", err
	}
	a, err := s.tenant(c)
	if err != nil {
		return nil, "", err
	}
	p, err := s.own(c.id, uri, "read")
	return a, p, err
}

// file is at for files.
func (s *Server) file(c *call) (*node, string, error) {
	a, p, err := s.at(c)
	if err != nil {
		return nil, "", err
	}
	switch n := a.tree[p]; {
	case n == nil:
		return nil, "", missing("file", "File", scheme+p)
	case n.dir:
		return nil, "", &refusal{
			status: http.StatusBadRequest, code: "INVALID_ARGUMENT",
			message: "Directory URI is not readable as a file: " + scheme + p + ". List it first, then read a file URI.",
			details: object{"resource": scheme + p, "expected": "file", "actual": "directory"},
		}
	default:
		return n, p, nil
	}
}

func (s *Server) read(c *call) error {
	n, _, err := s.file(c)
	if err != nil {
		return err
	}
	if c.flag("raw") {
		return c.ok(string(n.raw))
	}
	return c.ok(n.text())
}

func (s *Server) download(c *call) error {
	n, p, err := s.file(c)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/octet-stream")
	c.w.Header().Set("Content-Disposition", "attachment; filename*=UTF-8''"+path.Base(p))
	_, _ = c.w.Write(n.raw)
	return nil
}

const folderSize = 4096

func (s *Server) stat(c *call) error {
	a, p, err := s.at(c)
	if err != nil {
		return err
	}
	n := a.tree[p]
	if n == nil {
		return missing("file", "File", scheme+p)
	}
	doc := object{
		"name": path.Base(p), "size": len(n.raw), "mode": 0o644, "modTime": n.modified.UTC().Format(time.RFC3339),
		"isDir": n.dir, "uri": scheme + p, "isLocked": s.locked(a, p),
	}
	if n.dir {
		doc["size"], doc["mode"], doc["count"] = folderSize, 0o755, len(a.walk(p, 1))
	} else {
		sum := md5.Sum([]byte(a.name + "/" + p))
		doc["id"] = hex.EncodeToString(sum[:])
	}
	return c.ok(doc)
}

const (
	defaultPage = 1000
	maxDepth    = 3 // levels that a recursive listing goes down
)

// list lists a folder. The order is that of a walk, folders before files.
func (s *Server) list(c *call) error {
	a, p, err := s.at(c)
	if err != nil {
		return err
	}
	from, err := c.number("offset", 0, 0)
	if err != nil {
		return err
	}
	most, err := c.number("node_limit", defaultPage, 1)
	if err != nil {
		return err
	}
	if most, err = c.number("limit", most, 1); err != nil {
		return err
	}
	switch n := a.tree[p]; {
	case n == nil:
		return missing("directory", "Directory", scheme+p)
	case !n.dir:
		return &refusal{
			status: http.StatusBadRequest, code: "INVALID_ARGUMENT", message: "not a directory: /" + a.name + "/" + p,
			details: object{"resource": scheme + p},
		}
	}
	depth := 1
	if c.flag("recursive") {
		depth = maxDepth
	}
	all := a.walk(p, depth)
	page := all[min(from, len(all)):min(from+most, len(all))]
	return c.reply(object{
		"status": "ok", "result": c.shown(p, page), "error": nil, "telemetry": nil, "profile": nil,
		"has_more": from+most < len(all),
	})
}

// walk returns what is at most depth levels below a folder, without names that
// begin with a dot.
func (a *account) walk(dir string, depth int) (all []entry) {
	if depth == 0 {
		return nil
	}
	for _, e := range a.children(dir) {
		if strings.HasPrefix(path.Base(e.path), ".") {
			continue
		}
		all = append(all, e)
		if e.dir {
			all = append(all, a.walk(e.path, depth-1)...)
		}
	}
	return all
}

// shown returns entries as the request wants them.
func (c *call) shown(dir string, page []entry) any {
	if c.flag("simple") {
		uris := make([]string, len(page))
		for i, e := range page {
			uris[i] = scheme + e.path
		}
		return uris
	}
	docs := make([]object, len(page))
	for i, e := range page {
		docs[i] = object{
			"uri": scheme + e.path, "size": len(e.raw), "isDir": e.dir, "abstract": "",
			"modTime": e.modified.UTC().Format("2006-01-02T15:04:05.000Z"),
		}
		if e.dir {
			docs[i]["abstract"] = "# " + scheme + e.path + " [Directory abstract is not ready]"
		}
		if c.flag("recursive") {
			docs[i]["rel_path"] = strings.TrimPrefix(e.path, dir+"/")
		}
	}
	return docs
}
