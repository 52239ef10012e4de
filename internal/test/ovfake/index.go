package ovfake

import (
	"context"
	"net/http"
	"path"
	"time"
)

// record is a vector with the text it was made of.
type record struct {
	vector quantised
	text   string
	level  int
}

// job is vectors that have to be made.
type job struct {
	account *account
	task    *task
	items   []item
	lock    bool // the files cannot be written or deleted meanwhile
}

// item is one vector: the text that it is made of, and the one that is shown.
type item struct {
	path, text, shown string
	level             int
}

// task is work that a request began.
type task struct {
	id, account, kind, uri, status, err string
	began                               time.Time
}

const (
	statusRunning   = "running"
	statusCompleted = "completed"
	statusFailed    = "failed"
	kindReindex     = "reindex"
)

const noEmbedding = "Failed to generate embedding: embedder is down"

// newJob returns the job of making vectors for files.
func (s *Server) newJob(a *account, kind, resource string, paths ...string) job {
	j := job{account: a, task: &task{
		id: newUUID(), account: a.name, kind: kind, uri: scheme + resource, status: statusRunning, began: s.opts.Clock(),
	}}
	for _, p := range paths {
		n := a.tree[p]
		it := item{p, n.text(), n.text(), n.level}
		switch {
		case n.level != fileLevel:
			it.text = "---\ndirectory: " + scheme + path.Dir(p) + "/\n---\n\n" + it.shown
		case kind == kindReindex:
			it.text = string(n.raw) // a real server takes the trailer for text here
		case it.text == "":
			continue // an empty file has no vector
		}
		j.items = append(j.items, it)
	}
	return j
}

// locking returns the job with its files locked.
func (j job) locking() job {
	j.lock = true
	return j
}

// locked reports whether something at, below or above a path is locked.
func (s *Server) locked(a *account, p string) bool {
	for _, j := range s.jobs {
		for _, it := range j.items {
			if j.account == a && j.lock && (below(p, it.path) || below(it.path, p)) {
				return true
			}
		}
	}
	return false
}

// begin does a job, or has it wait for the embedder.
func (s *Server) begin(j job) {
	s.tasks[j.task.id] = j.task
	if s.mood.held != nil {
		s.jobs = append(s.jobs, j)
		return
	}
	s.run(j)
}

// run makes vectors, also of files that were deleted meanwhile.
func (s *Server) run(j job) {
	if s.mood.embedderDown && len(j.items) > 0 {
		j.task.status, j.task.err = statusFailed, noEmbedding
		return
	}
	for _, it := range j.items {
		j.account.index[it.path] = record{quantise(s.opts.Embedder.Vector(it.text)), it.shown, it.level}
	}
	j.task.status = statusCompleted
}

// index has vectors made. It waits for them, or returns the id of a task.
func (s *Server) index(c *call, wait bool, j job) (id string, err error) {
	s.begin(j)
	if !wait {
		return j.task.id, nil
	}
	if err := s.await(c); err != nil {
		return "", err
	}
	if j.task.status == statusFailed && j.task.kind != kindReindex {
		return "", &refusal{
			status: http.StatusInternalServerError, code: "PROCESSING_ERROR",
			message: j.task.err + " (uri=" + j.task.uri + ")", details: object{"task_id": j.task.id},
		}
	}
	return "", nil
}

// await waits until the embedder is not held. The lock is free meanwhile.
func (s *Server) await(c *call) error {
	for s.mood.held != nil {
		held := s.mood.held
		s.mu.Unlock()
		select {
		case <-held:
		case <-c.r.Context().Done():
		}
		s.mu.Lock()
		if err := c.r.Context().Err(); err != nil {
			return &refusal{status: http.StatusGatewayTimeout, code: "DEADLINE_EXCEEDED", message: err.Error(), details: object{}}
		}
	}
	return nil
}

// wait waits for all vectors, at most timeout seconds.
func (s *Server) wait(c *call) error {
	var in struct {
		Timeout float64 `json:"timeout"`
	}
	if err := c.body(&in); err != nil {
		return err
	}
	ctx := c.r.Context()
	if in.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(in.Timeout*float64(time.Second)))
		defer cancel()
	}
	if err := s.await(&call{w: c.w, r: c.r.WithContext(ctx)}); err != nil {
		return err
	}
	return c.ok(queues(len(s.tasks)))
}

func (s *Server) task(c *call) error {
	if _, err := s.tenant(c); err != nil {
		return err
	}
	id := c.r.PathValue("task")
	t := s.tasks[id]
	if t == nil || t.account != c.id.account {
		return &refusal{
			status: http.StatusNotFound, code: "NOT_FOUND", message: "Task not found or expired",
			details: object{"resource": id, "type": "task"},
		}
	}
	seconds := float64(t.began.UnixNano()) / 1e9
	doc := object{
		"task_id": id, "task_type": t.kind, "status": t.status, "created_at": seconds, "updated_at": seconds,
		"processing_seconds": nil, "resource_id": t.uri, "meta": object{}, "stage": nil, "result": nil, "error": nil,
		"created_at_iso": t.began.Format(time.RFC3339Nano), "updated_at_iso": t.began.Format(time.RFC3339Nano),
	}
	if t.err != "" {
		doc["error"] = t.err
	}
	return c.ok(doc)
}
