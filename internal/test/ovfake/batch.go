package ovfake

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
)

type batchRequest struct {
	Root       string            `json:"root_uri"`
	Operations []json.RawMessage `json:"operations"`
	Wait       bool              `json:"wait"`
	Telemetry  json.RawMessage   `json:"telemetry"`
	Skip       bool              `json:"skip_conflicts"`
	Defer      bool              `json:"defer_processing"`
	Processing string            `json:"processing_mode"`
	EditSource string            `json:"edit_source"`
}

type operation struct {
	URI      string          `json:"uri"`
	Content  *string         `json:"content"`
	Base64   *string         `json:"content_base64"`
	Mode     string          `json:"mode"`
	Expected *string         `json:"expected_sha256"`
	Tags     []string        `json:"tags"`
	TagMode  string          `json:"tag_mode"`
	ACL      json.RawMessage `json:"acl"`

	path string
}

var digest = regexp.MustCompile(`^[a-f0-9]{64}$`)

// operations reads and checks the operations of a batch by themselves.
func operations(raw []json.RawMessage) ([]operation, error) {
	all := make([]operation, len(raw))
	for i, r := range raw {
		at := []string{"body", "operations", strconv.Itoa(i)}
		op := operation{Mode: "replace"}
		if err := fields(r, &op, true, []string{"uri"}, at...); err != nil {
			return nil, err
		}
		if op.Expected != nil && !digest.MatchString(*op.Expected) {
			return nil, malformed(flaw{append(at, "expected_sha256"), "String should match pattern '^[a-f0-9]{64}$'", "string_pattern_mismatch"})
		}
		if !slices.Contains([]string{"replace", "append", "create", "upsert"}, op.Mode) {
			return nil, malformed(flaw{append(at, "mode"), "Input should be 'replace', 'append', 'create' or 'upsert'", "literal_error"})
		}
		all[i] = op
	}
	return all, nil
}

func (s *Server) batchWrite(c *call) error {
	in := batchRequest{Wait: true}
	if err := c.strict(&in, "root_uri", "operations"); err != nil {
		return err
	}
	ops, err := operations(in.Operations)
	if err != nil {
		return err
	}
	a, err := s.tenant(c)
	if err != nil {
		return err
	}
	root, err := s.root(c, a, in.Root, ops)
	if err != nil {
		return err
	}
	for i := range ops {
		if err := s.check(c.id, a, root, ops[:i], &ops[i]); err != nil {
			return err
		}
	}
	for _, op := range ops {
		if s.locked(a, op.path) {
			return busy(root)
		}
	}
	if err := s.free(a, root); err != nil {
		return err
	}
	return s.carryOut(c, a, root, in, ops)
}

// root returns the folder of a batch, which has to be there.
func (s *Server) root(c *call, a *account, uri string, ops []operation) (string, error) {
	p, err := s.own(c.id, uri, "write")
	if err != nil {
		return "", err
	}
	switch n := a.tree[p]; {
	case len(ops) == 0:
		return "", invalid("batch-write operations must not be empty")
	case kind(p) == "":
		return "", invalid("batch-write root must be inside a memory type directory")
	case n == nil:
		return "", missing("file", "File", scheme+p)
	case !n.dir:
		return "", invalid("batch-write root must be a directory: %s%s", scheme, p)
	}
	return p, nil
}

// check refuses an operation that cannot be done; nothing of the batch is done then.
func (s *Server) check(id identity, a *account, root string, before []operation, op *operation) (err error) {
	if op.path, err = s.own(id, op.URI, "write"); err != nil {
		return err
	}
	uri := scheme + op.path
	switch {
	case !below(op.path, root):
		return invalid("batch-write target is outside root_uri: %s", uri)
	case slices.ContainsFunc(before, func(o operation) bool { return o.path == op.path }):
		return invalid("duplicate batch-write target: %s", uri)
	case op.Base64 != nil:
		return invalid("batch-write binary content is not supported for memories: %s", uri)
	case op.Content == nil:
		return invalid("batch-write operation needs content: %s", uri)
	case op.Mode == "append":
		return invalid("batch-write append is not supported for memories")
	}
	if err := a.writable(op.path); err != nil {
		return err
	}
	return op.compare(a.tree[op.path])
}

// compare refuses an operation that expects another content than there is.
func (op *operation) compare(n *node) error {
	if op.Expected == nil {
		return nil
	}
	if n == nil {
		return conflict(object{}, "Expected content no longer exists: %s%s", scheme, op.path)
	}
	if sum := sha256.Sum256(n.raw); hex.EncodeToString(sum[:]) != *op.Expected {
		return conflict(object{}, "Content revision changed: %s%s", scheme, op.path)
	}
	return nil
}

// carryOut writes the files of a batch that was checked. One with the same content
// as before counts as updated.
func (s *Server) carryOut(c *call, a *account, root string, in batchRequest, ops []operation) error {
	created, updated := []string{}, []string{}
	var changed []string
	slices.SortFunc(ops, func(x, y operation) int { return cmp.Compare(x.path, y.path) })
	for _, op := range ops {
		old := a.tree[op.path]
		s.store(a, op.path, *op.Content, op.Mode)
		changed = append(changed, op.path)
		if old == nil {
			created = append(created, scheme+op.path)
		} else {
			updated = append(updated, scheme+op.path)
		}
	}
	result := object{
		"root_uri": scheme + root, "created": created, "updated": updated, "unchanged": []string{},
		"queue_status": nil, "semantic_status": "queued", "vector_status": "queued",
	}
	if in.Defer {
		result["semantic_status"], result["vector_status"], result["task_id"] = "deferred", "deferred", newUUID()
		return c.lean(result)
	}
	task, err := s.index(c, in.Wait, s.newJob(a, "content_batch_write", root, changed...).locking())
	if err != nil {
		return err
	}
	if task != "" {
		result["task_id"] = task
		return c.lean(result)
	}
	result["semantic_status"], result["vector_status"], result["queue_status"] = "complete", "complete", queues(len(changed))
	return c.lean(result)
}
