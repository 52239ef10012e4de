package ovfake

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// node is a file or a folder.
type node struct {
	dir      bool
	raw      []byte // of a file: with its trailer
	level    int    // of a file: 2, or less for the summary of a folder
	tags     []string
	modified time.Time
}

const (
	scheme    = "viking://"
	abstract  = "/.abstract.md" // summary of a folder, level 0
	overview  = "/.overview.md" // the longer one, level 1
	fileLevel = 2
)

// folders are what every user has from the beginning, each with two summaries.
var folders = map[string]string{
	"":           "The root of one user",
	"/memories":  "What is remembered of and for the user, in folders by type",
	"/peers":     "What is known of others that the user works with",
	"/privacy":   "Settings about what may be kept",
	"/resources": "Documents of the user",
	"/sessions":  "Conversations",
	"/skills":    "What agents of the user can do",
}

// settle makes the folders of a user.
func (s *Server) settle(a *account, user string) {
	if user == "" || a.tree["user/"+user] != nil {
		return
	}
	for name, summary := range folders {
		dir := "user/" + user + name
		a.mkdir(dir, a.created)
		s.summarise(a, dir+abstract, summary, 0)
		s.summarise(a, dir+overview, summary, 1)
	}
}

// summarise keeps the summary of a folder.
func (s *Server) summarise(a *account, p, summary string, level int) {
	a.tree[p] = &node{raw: []byte(summary), level: level, modified: a.created}
	s.begin(s.newJob(a, "mkdir", p, p))
}

// reserved are folders of a user; an old form of URIs had no user in front.
var reserved = []string{"memories", "peers", "privacy", "resources", "sessions", "skills"}

var drive = regexp.MustCompile(`^[A-Za-z]:`)

// parse returns the path of a URI: "user/{user}/…", without a slash at the end.
func (s *Server) parse(id identity, uri string) (string, error) {
	if uri == "" {
		return "", invalidURI(uri, "uri must not be empty")
	}
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return "", invalidURI(uri, "URI must start with 'viking://'")
	}
	rest, _, _ = strings.Cut(rest, "?")
	if rest == "~" || strings.HasPrefix(rest, "~/") {
		rest = "user/" + id.user + rest[1:]
	}
	var parts []string
	for _, p := range strings.Split(rest, "/") {
		if err := safe(uri, p); err != nil {
			return "", err
		}
		if p != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) > 1 && parts[0] == "user" && slices.Contains(reserved, parts[1]) {
		return "", invalidURI(uri, "'"+uri+"' no longer expands to the current user's space: '"+parts[1]+"' is a reserved name, not a user id")
	}
	return strings.Join(parts, "/"), nil
}

// safe refuses parts of a path that lead elsewhere.
func safe(uri, part string) error {
	switch {
	case part == "..":
		return invalid("invalid uri: Unsafe relative path rejected: %s", strings.TrimPrefix(uri, scheme))
	case strings.Contains(part, `\`):
		return invalid("invalid uri: Unsafe Viking URI path rejected: %s", uri)
	case part == ".":
		return denied(uri, "Unsafe URI traversal segment '.' in %s", uri)
	case drive.MatchString(part):
		return denied(uri, "Unsafe URI drive-prefixed component '%s' in %s", part, uri)
	}
	return nil
}

// own is parse for a path that the sender may read, write or manage.
func (s *Server) own(id identity, uri, permission string) (string, error) {
	p, err := s.parse(id, uri)
	if err != nil {
		return "", err
	}
	mine := p == "user/"+id.user || strings.HasPrefix(p, "user/"+id.user+"/")
	if !mine && s.opts.Mode != ModeDev {
		return "", denied(scheme+p, "Access denied for %s: %s permission required", scheme+p, permission)
	}
	return p, nil
}

// rename is what becomes of a path that is written: white space is replaced.
func rename(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = strings.Join(strings.Fields(part), "_")
	}
	return strings.Join(parts, "/")
}

// kind returns the folder of a memory's type, "" for a path that is not below
// the memories of a user.
func kind(p string) string {
	parts := strings.SplitN(p, "/", 5)
	if len(parts) < 4 || parts[0] != "user" || parts[2] != "memories" {
		return ""
	}
	return strings.Join(parts[:4], "/")
}

// below reports whether p is dir or inside of it.
func below(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// put keeps a file, and makes the folders above it.
func (a *account) put(p string, n *node) {
	a.mkdir(path.Dir(p), n.modified)
	a.tree[p] = n
}

func (a *account) mkdir(p string, now time.Time) {
	for ; p != "." && a.tree[p] == nil; p = path.Dir(p) {
		a.tree[p] = &node{dir: true, modified: now}
	}
}

// entry is a node and its path.
type entry struct {
	path string
	*node
}

// children returns what is in a folder: folders first, each sorted by name.
func (a *account) children(dir string) (all []entry) {
	for p, n := range a.tree {
		if path.Dir(p) == dir {
			all = append(all, entry{p, n})
		}
	}
	slices.SortFunc(all, func(x, y entry) int {
		if x.dir != y.dir {
			if x.dir {
				return -1
			}
			return 1
		}
		return cmp.Compare(x.path, y.path)
	})
	return all
}

// files returns the files at or below a path, sorted, with summaries of folders.
func (a *account) files(dir string) (all []entry) {
	for _, p := range slices.Sorted(maps.Keys(a.tree)) {
		if n := a.tree[p]; !n.dir && below(p, dir) {
			all = append(all, entry{p, n})
		}
	}
	return all
}
