package ovfake

import (
	"net/http"
	"strings"
)

// identity is who sends a request.
type identity struct{ account, user, role string }

const (
	roleRoot  = "root"
	roleAdmin = "admin"
	roleUser  = "user"
)

func unauthenticated(message string) error {
	return &refusal{status: http.StatusUnauthorized, code: "UNAUTHENTICATED", message: message, details: object{}}
}

// key returns the key of a request, "" for none.
func key(r *http.Request) string {
	if k := r.Header.Get("X-API-Key"); k != "" {
		return k
	}
	k, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return k
}

// identify says who sends a request.
func (s *Server) identify(r *http.Request) (identity, error) {
	switch k := key(r); {
	case s.opts.Mode == ModeDev:
		return told(r, roleRoot), nil
	case s.opts.Mode == ModeTrusted:
		return s.vouched(r, k)
	case k == "":
		return identity{}, unauthenticated("Missing API Key when resolving identity.")
	case s.mood.revoked[k]:
		return identity{}, unauthenticated("Invalid API key")
	case k == s.opts.RootKey:
		return identity{"default", "default", roleRoot}, nil
	default:
		return s.holder(k)
	}
}

// told takes account and user from the headers.
func told(r *http.Request, role string) identity {
	id := identity{r.Header.Get("X-OpenViking-Account"), r.Header.Get("X-OpenViking-User"), role}
	if id.account == "" {
		id.account = "default"
	}
	if id.user == "" {
		id.user = "default"
	}
	return id
}

// vouched is who a gateway, which has the root key, says that it is.
func (s *Server) vouched(r *http.Request, key string) (identity, error) {
	switch {
	case key == "":
		return identity{}, unauthenticated("Missing API Key in trusted mode.")
	case key != s.opts.RootKey || s.mood.revoked[key]:
		return identity{}, unauthenticated("Invalid API Key in trusted mode.")
	case strings.HasPrefix(r.URL.Path, "/api/v1/admin/"):
		return identity{"default", "default", roleRoot}, nil
	case !named(r):
		return identity{}, invalid("Trusted mode requests must include X-OpenViking-Account and X-OpenViking-User.")
	}
	return told(r, roleUser), nil
}

// named reports whether the headers name account and user.
func named(r *http.Request) bool {
	return r.Header.Get("X-OpenViking-Account") != "" && r.Header.Get("X-OpenViking-User") != ""
}

// holder finds the user that a key belongs to.
func (s *Server) holder(key string) (identity, error) {
	for name, a := range s.accounts {
		for user, u := range a.users {
			if u.key == key {
				return identity{name, user, u.role}, nil
			}
		}
	}
	return identity{}, unauthenticated("Invalid API key")
}

// tenant returns the account whose data a request is about.
func (s *Server) tenant(c *call) (*account, error) {
	if c.id.role == roleRoot && s.opts.Mode == ModeKey {
		return nil, denied("", "ROOT API keys cannot access tenant-scoped data APIs in api_key mode. "+
			"Use a user/admin API key for data access, or trusted mode for upstream identity assertion.")
	}
	a := s.home(c.id.account)
	s.settle(a, c.id.user)
	return a, nil
}

// home returns an account, which is made where it is missing: modes without
// keys know no list of accounts.
func (s *Server) home(name string) *account {
	a := s.accounts[name]
	if a == nil {
		a = &account{
			name: name, created: s.opts.Clock(), users: map[string]*user{},
			tree: map[string]*node{}, index: map[string]record{},
		}
		s.accounts[name] = a
	}
	return a
}

// health answers callers with a key in more detail.
func (s *Server) health(c *call) error {
	doc := object{"status": "ok", "healthy": true, "version": s.version(), "auth_mode": s.opts.Mode}
	asked := key(c.r) != ""
	if s.opts.Mode == ModeTrusted {
		doc["root_api_key_required"], asked = true, named(c.r)
	}
	if asked {
		id, err := s.identify(c.r)
		if err != nil {
			return err
		}
		doc["account_id"], doc["user_id"], doc["role"] = id.account, id.user, id.role
	}
	return c.reply(doc)
}

// ready does not notice that the embedder is away: a real server remembers for a
// while that it was there.
func (s *Server) ready(c *call) error {
	return c.reply(object{"status": "ready", "checks": object{
		"agfs":     object{"status": "ok", "checks": object{"filesystem": "ok"}},
		"vectordb": "ok", "api_key_manager": "ok", "embedding": "ok", "ollama": "not_configured",
	}})
}

func (s *Server) status(c *call) error {
	return c.ok(object{"initialized": true, "user": c.id.user})
}
