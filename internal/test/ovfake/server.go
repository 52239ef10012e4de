package ovfake

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// Modes of authentication.
const (
	ModeKey     = "api_key" // every request has a key
	ModeTrusted = "trusted" // a gateway tells account and user in headers
	ModeDev     = "dev"     // no key; every user's tree can be written
)

// Options describe a server. The zero Options are valid.
type Options struct {
	Mode    string // one of the modes; "": ModeKey
	RootKey string // "": "root"
	// Embedder makes the vectors.
	Embedder Embedder
	// Workspace is a folder where every file is kept as well, as a real server
	// keeps it: viking/{account}/user/{user}/memories. "": in memory only. The vector
	// store of a real server, vectordb/, is not there; it holds texts as well, and those
	// of deleted files for some time, across restarts.
	Workspace string
	Clock     amber.Clock // nil: the time stands still
}

// Server is a fake OpenViking server. Safe for concurrent use.
type Server struct {
	opts Options
	mux  *http.ServeMux
	kind map[string]string // of call, by pattern
	http *httptest.Server  // nil before Start

	mu       sync.Mutex // guards all below
	accounts map[string]*account
	tasks    map[string]*task
	jobs     []job // vectors that wait for the embedder
	counts   map[string]int
	mood     mood
}

const version = "0.5.2"

// New returns a server that is not listening yet.
func New(o Options) *Server {
	if o.Mode == "" {
		o.Mode = ModeKey
	}
	if o.RootKey == "" {
		o.RootKey = "root"
	}
	if o.Clock == nil {
		o.Clock = func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	}
	s := &Server{
		opts: o, mux: http.NewServeMux(), kind: map[string]string{}, accounts: map[string]*account{},
		tasks: map[string]*task{}, counts: map[string]int{},
	}
	s.routes()
	s.home("default")
	return s
}

// Start listens on loopback and returns the URL. Close stops it.
func (s *Server) Start() string {
	if s.http == nil {
		s.http = httptest.NewServer(s.Handler())
	}
	return s.http.URL
}

// Close stops the server. It may be called twice, and without Start.
func (s *Server) Close() {
	s.Calm()
	if s.http != nil {
		s.http.CloseClientConnections()
		s.http.Close()
		s.http = nil
	}
}

// RootKey returns the key that manages accounts.
func (s *Server) RootKey() string { return s.opts.RootKey }

// Handler returns the server as a handler, moods included.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// routes maps each call to what answers it, under the name it is counted by.
func (s *Server) routes() {
	for _, r := range []struct {
		pattern, kind string
		answer        func(*call) error
	}{
		{"GET /health", "health", s.health},
		{"GET /ready", "ready", s.ready},
		{"GET /api/v1/system/status", "status", s.status},
		{"POST /api/v1/system/wait", "wait", s.wait},
		{"POST /api/v1/system/consistency", "consistency", s.consistency},
		{"GET /api/v1/tasks/{task}", "task", s.task},
		{"POST /api/v1/content/write", "write", s.write},
		{"POST /api/v1/content/batch-write", "batch-write", s.batchWrite},
		{"POST /api/v1/content/set_tags", "set_tags", s.setTags},
		{"POST /api/v1/content/reindex", "reindex", s.reindex},
		{"GET /api/v1/content/read", "read", s.read},
		{"GET /api/v1/content/download", "download", s.download},
		{"POST /api/v1/fs/mkdir", "mkdir", s.mkdir},
		{"GET /api/v1/fs/stat", "stat", s.stat},
		{"GET /api/v1/fs/ls", "ls", s.list},
		{"DELETE /api/v1/fs", "delete", s.remove},
		{"POST /api/v1/search/find", "find", s.find},
		{"GET /api/v1/admin/accounts", "admin", s.listAccounts},
		{"POST /api/v1/admin/accounts", "admin", s.addAccount},
		{"DELETE /api/v1/admin/accounts/{account}", "admin", s.dropAccount},
		{"GET /api/v1/admin/accounts/{account}/users", "admin", s.listUsers},
		{"POST /api/v1/admin/accounts/{account}/users", "admin", s.addUser},
		{"DELETE /api/v1/admin/accounts/{account}/users/{user}", "admin", s.dropUser},
		{"POST /api/v1/admin/accounts/{account}/users/{user}/key", "admin", s.newKey},
	} {
		s.mux.Handle(r.pattern, s.answered(r.answer))
		s.kind[r.pattern] = r.kind
	}
}

// Calls returns how often a kind of call was made: health, ready, status, wait,
// consistency, task, write, batch-write, set_tags, reindex, read, download, mkdir,
// stat, ls, delete, find or admin. Calls that a mood refused count, too.
func (s *Server) Calls(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[kind]
}
