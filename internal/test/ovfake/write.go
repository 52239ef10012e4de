package ovfake

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
)

// writeRequest has every field that a real server knows.
type writeRequest struct {
	URI        string          `json:"uri"`
	Content    string          `json:"content"`
	Mode       string          `json:"mode"`
	Wait       bool            `json:"wait"`
	Telemetry  json.RawMessage `json:"telemetry"`
	Processing string          `json:"processing_mode"`
	Tags       []string        `json:"tags"`
	TagMode    string          `json:"tag_mode"`
	ACL        json.RawMessage `json:"acl"`
	EditSource string          `json:"edit_source"`
}

func (s *Server) write(c *call) error {
	in := writeRequest{Mode: "replace"}
	if err := c.strict(&in, "uri", "content"); err != nil {
		return err
	}
	a, err := s.tenant(c)
	if err != nil {
		return err
	}
	p, err := s.own(c.id, in.URI, "write")
	if err != nil {
		return err
	}
	p = rename(p)
	if err := s.mayWrite(a, p, in.Mode); err != nil {
		return err
	}
	n := s.store(a, p, in.Content, in.Mode)
	if in.Tags != nil {
		n.tags = valid(in.Tags)
	}
	result := written(p, in.Mode, len(n.raw))
	task, err := s.index(c, in.Wait, s.newJob(a, "content_write", p, p))
	if err != nil {
		return err
	}
	if task != "" {
		result["task_id"] = task
		return c.lean(result)
	}
	result["vector_status"], result["overview_status"], result["queue_status"] = "complete", "skipped", queues(1)
	if n.text() == "" {
		result["vector_status"], result["queue_status"] = "skipped", queues(0)
	}
	return c.lean(result)
}

// mayWrite refuses a write that cannot be.
func (s *Server) mayWrite(a *account, p, mode string) error {
	if !slices.Contains([]string{"create", "replace", "append"}, mode) {
		return invalid("unsupported write mode: %s", mode)
	}
	if err := a.writable(p); err != nil {
		return err
	}
	return s.free(a, p)
}

// store keeps a file whatever was there before: create overwrites, and replace
// makes what is missing. The old vector stays until there is a new one.
func (s *Server) store(a *account, p, content, mode string) *node {
	old := a.tree[p]
	if mode == "append" && old != nil {
		content = old.text() + content
	}
	n := &node{raw: encode(content), level: fileLevel, modified: s.opts.Clock()}
	if old != nil {
		n.tags = old.tags
	}
	a.put(p, n)
	s.disk().write(a.name, p, n.raw)
	return n
}

func written(p, mode string, size int) object {
	return object{
		"uri": scheme + p, "root_uri": scheme + path.Dir(p), "context_type": "memory", "mode": mode,
		"written_bytes": size, "content_updated": true, "semantic_status": "skipped",
		"vector_status": "queued", "queue_status": nil, "overview_status": "queued",
	}
}

// queues is what the queues of a server did for one request.
func queues(embedded int) object {
	queue := func(n int) object {
		return object{"processed": n, "requeue_count": 0, "error_count": 0, "errors": []string{}}
	}
	return object{"Semantic": queue(0), "Embedding": queue(embedded)}
}

// free refuses to write what is locked.
func (s *Server) free(a *account, p string) error {
	if s.mood.full {
		return internal()
	}
	if s.mood.busy > 0 {
		s.mood.busy--
		return busy(p)
	}
	if s.locked(a, p) {
		return busy(p)
	}
	return nil
}

func busy(p string) error {
	uri := scheme + p
	return conflict(object{"resource": uri, "uri": uri, "conflict_type": "path_busy", "retryable": true},
		"resource is busy and cannot be written now: %s", uri)
}

func (s *Server) mkdir(c *call) error {
	var in struct {
		URI string `json:"uri"`
	}
	if err := c.body(&in, "uri"); err != nil {
		return err
	}
	a, err := s.tenant(c)
	if err != nil {
		return err
	}
	p, err := s.own(c.id, in.URI, "write")
	if err != nil {
		return err
	}
	if s.mood.full {
		return internal()
	}
	if a.tree[p] != nil {
		return conflict(object{"resource": scheme + p}, "already exists: /%s/%s", a.name, p)
	}
	a.mkdir(p, s.opts.Clock())
	s.disk().mkdir(a.name, p)
	s.summarise(a, p+abstract, "# "+path.Base(p), 0)
	return c.ok(object{"uri": scheme + p})
}

// remove deletes a file or folder. A file that is not there counts as deleted.
func (s *Server) remove(c *call) error {
	uri, err := c.query("uri")
	if err != nil {
		return err
	}
	a, err := s.tenant(c)
	if err != nil {
		return err
	}
	p, err := s.own(c.id, uri, "manage")
	if err != nil {
		return err
	}
	if n := a.tree[p]; n != nil && n.dir && !c.flag("recursive") {
		return &refusal{
			status: http.StatusBadRequest, code: "INVALID_ARGUMENT", message: "Cannot remove directory without --recursive: " + scheme + p,
			details: object{"resource": scheme + p, "expected_flag": "recursive"},
		}
	}
	if s.mood.busy > 0 {
		s.mood.busy--
		return busy(p)
	}
	if s.locked(a, p) {
		return busy(p)
	}
	count := s.erase(a, p)
	return c.ok(object{"uri": scheme + p, "estimated_deleted_count": count, "task_id": newUUID()})
}

// erase removes a path and everything below, and returns how many vectors went. A
// vector that is just being made comes afterwards.
func (s *Server) erase(a *account, p string) (vectors int) {
	for q := range a.tree {
		if below(q, p) {
			delete(a.tree, q)
		}
	}
	for q := range a.index {
		if below(q, p) {
			vectors++
			delete(a.index, q)
		}
	}
	s.disk().erase(a.name, p)
	return vectors
}
