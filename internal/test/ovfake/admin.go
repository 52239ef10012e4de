package ovfake

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// account is a tenant: its users and its files.
type account struct {
	name    string
	created time.Time
	users   map[string]*user
	tree    map[string]*node  // by path, "user/{user}/memories/…"
	index   map[string]record // by path; may have what the tree lacks, and the other way round
}

type user struct{ role, key string }

var wellFormed = regexp.MustCompile(`^[A-Za-z0-9_.@-]+$`)

// newSecret returns a key of a user.
func newSecret(account, user string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(account)) + "." + enc([]byte(user)) + "." + enc([]byte(hex.EncodeToString(random(32))))
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return b
}

// newUUID returns the id of a task.
func newUUID() string {
	b := random(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func taken(kind, title, name string) error {
	return &refusal{
		status: http.StatusConflict, code: "ALREADY_EXISTS", message: title + " already exists: " + name,
		details: object{"resource": name, "type": kind},
	}
}

// rootOnly refuses every caller but root.
func (s *Server) rootOnly(c *call) error {
	switch {
	case s.opts.Mode == ModeDev:
		return denied("", "Admin API requires api_key mode with root_api_key configured.")
	case c.id.role != roleRoot:
		return denied("", "Requires role: root")
	}
	return nil
}

// managed returns the account of a request that its sender may manage.
func (s *Server) managed(c *call) (*account, error) {
	if s.opts.Mode == ModeDev {
		return nil, s.rootOnly(c)
	}
	name := c.r.PathValue("account")
	switch c.id.role {
	case roleRoot:
	case roleAdmin:
		if name != c.id.account {
			return nil, denied("", "ADMIN can only manage account: %s", c.id.account)
		}
	default:
		return nil, denied("", "Requires role: root, admin")
	}
	a := s.accounts[name]
	if a == nil {
		return nil, missing("account", "Account", name)
	}
	return a, nil
}

func (s *Server) listAccounts(c *call) error {
	if err := s.rootOnly(c); err != nil {
		return err
	}
	all := []object{}
	for _, name := range slices.Sorted(maps.Keys(s.accounts)) {
		a := s.accounts[name]
		all = append(all, object{
			"account_id": name, "created_at": a.created.Format(time.RFC3339Nano), "user_count": len(a.users), "status": "active",
		})
	}
	return c.ok(all)
}

func (s *Server) addAccount(c *call) error {
	if err := s.rootOnly(c); err != nil {
		return err
	}
	var in struct {
		Account string `json:"account_id"`
		Admin   string `json:"admin_user_id"`
	}
	if err := c.body(&in, "account_id", "admin_user_id"); err != nil {
		return err
	}
	if !wellFormed.MatchString(in.Account) {
		return invalid("account_id must be alpha_numeric string.")
	}
	if s.accounts[in.Account] != nil {
		return taken("account", "Account", in.Account)
	}
	u := s.add(s.home(in.Account), in.Admin, roleAdmin)
	return c.ok(s.withKey(u, object{"account_id": in.Account, "admin_user_id": in.Admin}))
}

func (s *Server) dropAccount(c *call) error {
	if err := s.rootOnly(c); err != nil {
		return err
	}
	a, err := s.managed(c)
	if err != nil {
		return err
	}
	delete(s.accounts, a.name)
	s.disk().drop(a.name)
	return c.accepted(object{"account_id": a.name, "status": "deleting", "task_id": newUUID()})
}

// accepted answers that something is being done.
func (c *call) accepted(result any) error {
	reply(c.w, http.StatusAccepted, object{"status": "ok", "result": result, "error": nil, "telemetry": nil, "profile": nil})
	return nil
}

// add makes a user with a key.
func (s *Server) add(a *account, name, role string) *user {
	u := &user{role: role, key: newSecret(a.name, name)}
	a.users[name] = u
	s.settle(a, name)
	return u
}

// withKey adds the key of a user to an answer. In trusted mode no user has a key.
func (s *Server) withKey(u *user, doc object) object {
	if s.opts.Mode != ModeTrusted {
		doc["user_key"] = u.key
	}
	return doc
}

func (s *Server) listUsers(c *call) error {
	a, err := s.managed(c)
	if err != nil {
		return err
	}
	all := []object{}
	for _, name := range slices.Sorted(maps.Keys(a.users)) {
		all = append(all, object{"user_id": name, "role": a.users[name].role, "api_key": a.users[name].key})
	}
	return c.ok(all)
}

func (s *Server) addUser(c *call) error {
	a, err := s.managed(c)
	if err != nil {
		return err
	}
	in := struct {
		User string `json:"user_id"`
		Role string `json:"role"`
	}{Role: roleUser}
	if err := c.body(&in, "user_id"); err != nil {
		return err
	}
	if !wellFormed.MatchString(in.User) {
		return invalid("user_id must be alpha_numeric string.")
	}
	if a.users[in.User] != nil {
		return taken("user", "User", in.User)
	}
	u := s.add(a, in.User, in.Role)
	return c.ok(s.withKey(u, object{"account_id": a.name, "user_id": in.User}))
}

// user returns the user of a request to the account.
func (a *account) user(c *call) (*user, string, error) {
	name := c.r.PathValue("user")
	if a.users[name] == nil {
		return nil, name, missing("user", "User", name)
	}
	return a.users[name], name, nil
}

func (s *Server) dropUser(c *call) error {
	a, err := s.managed(c)
	if err != nil {
		return err
	}
	_, name, err := a.user(c)
	if err != nil {
		return err
	}
	delete(a.users, name)
	s.erase(a, "user/"+name)
	return c.accepted(object{"account_id": a.name, "user_id": name, "status": "deleting", "task_id": newUUID()})
}

func (s *Server) newKey(c *call) error {
	a, err := s.managed(c)
	if err != nil {
		return err
	}
	u, name, err := a.user(c)
	if err != nil {
		return err
	}
	u.key = newSecret(a.name, name)
	return c.ok(object{"user_key": u.key})
}
