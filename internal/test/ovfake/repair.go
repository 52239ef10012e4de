package ovfake

import (
	"net/http"
	"path"
	"strconv"
	"strings"
)

// consistency lists the files below a folder that have no vector.
func (s *Server) consistency(c *call) error {
	var in struct {
		URI string `json:"uri"`
	}
	if err := c.body(&in, "uri"); err != nil {
		return err
	}
	a, p, n, err := s.existing(c, in.URI)
	if err != nil {
		return err
	}
	if !n.dir {
		return invalid("Consistency check only supports directory URIs.")
	}
	files, lacking := a.files(p), []object{}
	for _, e := range files {
		if _, ok := a.index[e.path]; !ok {
			lacking = append(lacking, e.missing(p))
		}
	}
	return c.ok(object{
		"ok": len(lacking) == 0, "expected_count": len(files), "missing_record_count": len(lacking),
		"missing_records": lacking[:min(len(lacking), maxRecords)], "missing_records_truncated": len(lacking) > maxRecords,
	})
}

// maxRecords is how many files without a vector are listed.
const maxRecords = 20

// missing describes a file below dir that has no vector. Summaries go by the name
// of their folder.
func (e entry) missing(dir string) object {
	p := e.path
	if e.level != fileLevel {
		p = path.Dir(p)
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(p, dir), "/")
	key := rel
	if key == "" {
		key = "."
	}
	return object{"uri": scheme + p, "path": rel, "level": e.level, "key": key + "#level=" + strconv.Itoa(e.level)}
}

// existing returns the file or folder of a request.
func (s *Server) existing(c *call, uri string) (*account, string, *node, error) {
	a, err := s.tenant(c)
	if err != nil {
		return nil, "", nil, err
	}
	p, err := s.own(c.id, uri, "read")
	if err != nil {
		return nil, "", nil, err
	}
	n := a.tree[p]
	if n == nil {
		return nil, "", nil, missing("file", "File", scheme+p)
	}
	return a, p, n, nil
}

// reindex makes the vectors of a file, or of everything below a folder, again.
func (s *Server) reindex(c *call) error {
	in := struct {
		URI  string `json:"uri"`
		Mode string `json:"mode"`
		Wait bool   `json:"wait"`
	}{Mode: "vectors_only", Wait: true}
	if err := c.body(&in, "uri"); err != nil {
		return err
	}
	a, p, _, err := s.existing(c, in.URI)
	if err != nil {
		return err
	}
	if modes := []string{"semantic_and_vectors", "vectors_only"}; in.Mode != modes[0] && in.Mode != modes[1] {
		return &refusal{
			status: http.StatusBadRequest, code: "UNSUPPORTED_MODE", message: "Mode " + in.Mode + " is not supported for memory",
			details: object{"mode": in.Mode, "object_type": "memory", "supported_modes": modes},
		}
	}
	if s.locked(a, p) {
		return conflict(object{"uri": scheme + p}, "URI %s%s already has a reindex in progress", scheme, p)
	}
	var paths []string
	for _, e := range a.files(p) {
		paths = append(paths, e.path)
	}
	j := s.newJob(a, kindReindex, p, paths...).locking()
	id, err := s.index(c, in.Wait, j)
	if err != nil {
		return err
	}
	return c.ok(rebuilt(j, in.Mode, id))
}

// rebuilt is the answer of reindex.
func rebuilt(j job, mode, id string) object {
	doc := object{"uri": j.task.uri, "object_type": "memory", "mode": mode, "status": statusCompleted}
	if id != "" {
		doc["status"], doc["task_id"] = "accepted", id
		return doc
	}
	made, failed, warnings := len(j.items), 0, []string{}
	if j.task.status == statusFailed {
		made, failed, warnings = 0, len(j.items), []string{"Embedding queue failed during reindex: " + j.task.err}
	}
	doc["rebuilt_records"], doc["failed_records"], doc["scanned_records"] = made, failed, len(j.items)
	doc["deleted_records"], doc["unsupported_records"], doc["duration_ms"] = 0, 0, 0
	doc["warnings"], doc["queue_status"] = warnings, queues(made)
	return doc
}
