package openviking

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

const (
	scheme = "viking://user/"
	// aliasRoot is the tree of the user of the key, for reports about a server that did not say
	// who that is.
	aliasRoot  = "viking://~"
	ownFolder  = "/memories/amber/"
	fileSuffix = ".md"

	// doctorFolder holds the files of probes.
	doctorFolder = "doctor"

	scopeHashBytes = 8
	digestHex      = 12 // characters of the digest in a name
	globalHash     = "0"
)

// layout names the files of one agent on a server:
//
//	viking://user/{user}/memories/amber/{tenant}.{agent}/{scope}-{h}/{kind}/{id}-{d}.md
//
// The h of a scope is made of its identity, d of the bytes of the file. So a name says which memory it is, which
// callers see it, and whether it is the present version.
type layout struct {
	user   string // "" where it is not known
	tenant amber.TenantID
	agent  amber.AgentID
}

// name is a name taken apart.
type name struct {
	scope  amber.Scope
	hash   string // of the scope and its identity
	kind   amber.MemoryKind
	id     amber.MemoryID
	digest string
}

// maxUser bounds the id of a user.
const maxUser = 128

// validUser accepts ids that can be a part of a path.
func validUser(s string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.@", r)
	}
	return s != "" && len(s) <= maxUser && s[0] != '.' && !strings.ContainsFunc(s, other)
}

// root is the folder that everything of the agent lies in.
func (l layout) root() string {
	base := scheme + l.user
	if l.user == "" {
		base = aliasRoot
	}
	return base + ownFolder + string(l.tenant) + "." + string(l.agent)
}

// uri names the file of a memory with a body.
func (l layout) uri(m *amber.Memory, body string) string {
	return l.render(name{m.Scope, scopeHash(m.Scope, m.Identity()), m.Kind, m.ID, digestOf(body)})
}

func (l layout) render(n name) string {
	return l.folder(n.scope, n.hash) + "/" + kindFolder(n.kind) + "/" + string(n.id) + "-" + n.digest + fileSuffix
}

// folder names what a scope and its identity have in common.
func (l layout) folder(s amber.Scope, hash string) string {
	return l.root() + "/" + string(s) + "-" + hash
}

// folderOf returns the folder that a file lies in.
func folderOf(uri string) string { return uri[:max(strings.LastIndexByte(uri, '/'), 0)] }

func kindFolder(k amber.MemoryKind) string { return strings.ReplaceAll(string(k), "_", "") }

// scopeHash tells identities of a scope apart without naming them.
func scopeHash(s amber.Scope, identity string) string {
	if s == amber.ScopeGlobal {
		return globalHash
	}
	sum := sha256.Sum256([]byte(string(s) + "\x1f" + identity))
	return hex.EncodeToString(sum[:scopeHashBytes])
}

func digestOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])[:digestHex]
}

// parse takes the name of a file of this agent apart. Names come from the server: one that render
// would not have written, down to the last byte, is not ours.
func (l layout) parse(uri string) (n name, ok bool) {
	rest, found := strings.CutPrefix(uri, l.root()+"/")
	if !found || l.user == "" {
		return name{}, false
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 3 {
		return name{}, false
	}
	if n.scope, n.hash, ok = parseScope(parts[0]); !ok {
		return name{}, false
	}
	if n.kind, ok = parseKind(parts[1]); !ok {
		return name{}, false
	}
	file, found := strings.CutSuffix(parts[2], fileSuffix)
	if !found || len(file) != 36+1+digestHex || file[36] != '-' || !isHex(file[37:]) {
		return name{}, false
	}
	id, err := amber.ParseMemoryID(file[:36])
	n.id, n.digest = id, file[37:]
	return n, err == nil && l.render(n) == uri
}

func parseScope(s string) (scope amber.Scope, hash string, ok bool) {
	before, hash, found := strings.Cut(s, "-")
	scope = amber.Scope(before)
	if !found || !slices.Contains(amber.Scopes(), scope) {
		return "", "", false
	}
	if scope == amber.ScopeGlobal {
		return scope, hash, hash == globalHash
	}
	return scope, hash, len(hash) == 2*scopeHashBytes && isHex(hash)
}

func parseKind(s string) (amber.MemoryKind, bool) {
	for _, k := range amber.MemoryKinds() {
		if kindFolder(k) == s {
			return k, true
		}
	}
	return "", false
}

func isHex(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

// strange reports whether something below the root is neither a file nor a folder of ours, nor
// what the server keeps for itself, nor of a probe.
func (l layout) strange(uri string) bool {
	rest, inside := strings.CutPrefix(strings.TrimSuffix(uri, "/"), l.root()+"/")
	if !inside {
		return strings.TrimSuffix(uri, "/") != l.root()
	}
	parts := strings.Split(rest, "/")
	if strings.HasPrefix(parts[len(parts)-1], ".") || parts[0] == doctorFolder {
		return false
	}
	if _, _, ok := parseScope(parts[0]); !ok || len(parts) > 3 {
		return true
	}
	if len(parts) > 1 {
		if _, ok := parseKind(parts[1]); !ok {
			return true
		}
	}
	_, ok := l.parse(uri)
	return len(parts) == 3 && !ok
}

// targets are the folders that can hold what a filter lets through: those of the scopes it sees,
// of each kind where it asks for kinds.
func (l layout) targets(f amber.Filter, leaves func(amber.Scope) bool) (folders []string) {
	for _, s := range amber.Scopes() {
		identity := f.For(s)
		if !leaves(s) || f.Scope != "" && f.Scope != s || s != amber.ScopeGlobal && identity == "" {
			continue
		}
		folder := l.folder(s, scopeHash(s, identity))
		kinds := distinctKinds(f.Kinds)
		if len(kinds) == 0 || len(kinds) == len(amber.MemoryKinds()) {
			folders = append(folders, folder)
			continue
		}
		for _, k := range kinds {
			folders = append(folders, folder+"/"+kindFolder(k))
		}
	}
	return folders
}

func distinctKinds(kinds []amber.MemoryKind) []amber.MemoryKind {
	kinds = slices.Clone(kinds)
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// place names the cursor of a server, a user and an agent.
func (l layout) place(o *Options) string {
	sum := sha256.Sum256([]byte(o.URL + "\x00" + l.user))
	return fmt.Sprintf("openviking/%s.%s/%x", l.tenant, l.agent, sum[:8])
}

// Left reports whether a place of a cursor is one that this store does not use. As long as it is not
// known whose files these are, none is.
func (s *Store) Left(place string) bool {
	l := s.known()
	return l.user != "" && place != l.place(&s.o)
}

// settings tells apart what changes the files that are sent. They are not part of the place: who
// changes them and changes them back finds the files of the time between, and has to compare.
func (o *Options) settings() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\x00%s\x00", bodyVersion, o.Rules)
	for _, s := range amber.Scopes() {
		fmt.Fprintf(h, "%s=%t\x00", s, o.leaves(s))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
