package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/base/strictjson"
)

// A database that is set back, by pg_restore, by recovery to a point in time or by a failover that lost commits, does not know that it was. So
// each server notes outside of it how far it was: a file of its home, and a row of the database that counts with the file. A row that is behind
// the file is of a database that was set back. [Server.Restored] says that an operator knows.

// Seen is what a home knows of a database.
type Seen struct {
	Database string   `json:"database"` // its identity
	Home     string   `json:"home"`     // names the row that counts with this file
	Restores []string `json:"restores"` // ids of the restores that were accepted, oldest first; "" for none
	Pulse    int64    `json:"pulse"`
	System   int64    `json:"system"` // of the cluster, 0 where it does not tell
	Timeline int64    `json:"timeline"`
	Audit    int64    `json:"audit"`   // entries of the audit log
	Revoked  []string `json:"revoked"` // ids of tokens
	Agents   []Ending `json:"agents"`
}

// Ending is where the change logs of an agent end.
type Ending struct {
	Tenant  amber.TenantID `json:"tenant"`
	Agent   amber.AgentID  `json:"agent"`
	Memory  int64          `json:"memory"`
	Control int64          `json:"control"`
}

// maxSeen bounds the file.
const maxSeen = 64 << 20

var (
	seenRules = strictjson.Rules{MaxDepth: 4, MaxElements: 1 << 20}
	seenShape = sync.OnceValue(func() *strictjson.Shape { return strictjson.Of(reflect.TypeFor[Seen]()) })
)

// readSeen reads the file of a home; nil where there is none. Errors: damaged.
func (o ServerOptions) readSeen() (*Seen, error) {
	path := o.Seen
	if path == "" {
		return nil, nil
	}
	b, err := fsx.ReadFile(fsx.OS(), path, maxSeen)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s := &Seen{}
	if err == nil {
		err = seenRules.Decode(bytes.TrimSpace(b), seenShape(), s)
	}
	if err == nil && (s.Database == "" || s.Home == "" || len(s.Restores) == 0 || s.Pulse < 0) {
		err = errors.New("a field is missing")
	}
	if err != nil {
		return nil, &amber.Error{
			Op: "read what is known of the database", Kind: amber.KindDamaged, ID: path, Err: err,
			Hint: "remove the file if the database was not set back; what it is now is noted anew then",
		}
	}
	return s, nil
}

// accepting is the command that accepts a restore.
func (o ServerOptions) accepting() string {
	if o.Tenant == "" {
		return "amber migrate --restored"
	}
	return "amber migrate --restored --tenant " + string(o.Tenant)
}

func (s *Seen) write(path string) error {
	b, err := json.Marshal(s)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = fsx.Replace(fsx.OS(), path, 0o600, append(b, '\n'))
	}
	return err
}

const (
	workHome = "home " // the beginning of the kind of work that is the row of a home

	selectSeen = `SELECT (SELECT id::text FROM amber_meta.identity), coalesce((SELECT holder FROM amber_meta.work WHERE kind = 'restored' AND tenant = '' AND agent = ''), ''),
 coalesce((SELECT fence FROM amber_meta.work WHERE kind = $1 AND tenant = '' AND agent = ''), 0), (SELECT seq FROM amber_home.heads WHERE name = 'audit'),
 ARRAY(SELECT id FROM amber_home.tokens WHERE revoked_at <> 0 ORDER BY id)`
	// The work is never due. A server of the home that stood still, and whose home was moved to another machine meanwhile, does not count back.
	upsertPulse = `INSERT INTO amber_meta.work AS w (kind, tenant, agent, fence, due_at) VALUES ($1, '', '', $2, 'infinity')
ON CONFLICT (kind, tenant, agent) DO UPDATE SET fence = greatest(w.fence, excluded.fence)`
	upsertRestored = `INSERT INTO amber_meta.work (kind, tenant, agent, fence, holder, due_at) VALUES ('restored', '', '', 1, $1, 'infinity')
ON CONFLICT (kind, tenant, agent) DO UPDATE SET fence = work.fence + 1, holder = excluded.holder`
)

// now asks the database what a home notes of it.
func (s *Server) now(ctx context.Context, c *pgx.Conn, home string) (now Seen, err error) {
	restored := ""
	err = c.QueryRow(ctx, selectSeen, workHome+home).Scan(&now.Database, &restored, &now.Pulse, &now.Audit, &now.Revoked)
	now.Home, now.Restores = home, []string{restored}
	now.System, now.Timeline = s.db.Origin()
	return now, err
}

const selectRestored = `SELECT holder FROM amber_meta.work WHERE kind = 'restored' AND tenant = '' AND agent = ''`

// isAccepted reports whether an operator has accepted a restore of the database that this home does not know yet.
func (s *Seen) isAccepted(ctx context.Context, c *pgconn.PgConn) bool {
	results, err := c.Exec(ctx, selectRestored).ReadAll()
	return err == nil && len(results[0].Rows) == 1 && !slices.Contains(s.Restores, string(results[0].Rows[0][0]))
}

// restored is the id of the restore that was accepted last.
func (s *Seen) restored() string { return s.Restores[len(s.Restores)-1] }

// errSetBack is in the error about a database that was set back.
var errSetBack = errors.New("the database was set back to an earlier state")

// compare says whether a database is the one that was noted, as far or further. Accepting is the command that accepts a restore. Accepted says that an operator has accepted a restore since.
func (s *Seen) compare(now Seen, accepting string) (accepted bool, err error) {
	switch known := slices.Contains(s.Restores, now.restored()); {
	case s.Database != now.Database: // another one is configured
		return true, nil
	case !known:
		return true, nil
	case now.restored() == s.restored() && now.Pulse >= s.Pulse:
		return false, nil
	}
	return false, (&amber.Error{Op: "open database", Kind: amber.KindDamaged, Err: fmt.Errorf(
		"%w: this home has counted to %d in it, and it knows of %d; the audit log had %d entries and has %d", errSetBack, s.Pulse, now.Pulse, s.Audit, now.Audit)}).
		WithHint("stop the servers, run " + accepting + ", and start them again")
}

// emptied is the error about a database without tables. Path is that of the file, accepting the command that accepts a restore.
func (s *Seen) emptied(path, accepting string) error {
	return (&amber.Error{Op: "open database", Kind: amber.KindDamaged, Err: fmt.Errorf("%w: it has no tables, and this home has counted to %d in one that had", errSetBack, s.Pulse)}).
		WithHint("restore it and run " + accepting + "; remove " + path + " to begin with an empty database")
}

// IsSetBack reports whether an error says that a database was set back.
func IsSetBack(err error) bool { return errors.Is(err, errSetBack) }

// Compare says whether the database was set back since a server of this home has noted how far it was. Known is false where none has. Errors:
// damaged for one that was, and for a file that cannot be read; those of the database.
func (s *Server) Compare(ctx context.Context) (known bool, err error) {
	seen, err := s.o.readSeen()
	if err != nil || seen == nil {
		return false, err
	}
	err = s.db.Conn(ctx, func(c *pgx.Conn) error { return s.compareTo(ctx, c, seen) })
	return true, pgerr.Wrap("compare database", "", err)
}

func (s *Server) compareTo(ctx context.Context, c *pgx.Conn, seen *Seen) error {
	now, err := s.now(ctx, c, seen.Home)
	if err == nil {
		_, err = seen.compare(now, s.o.accepting())
	}
	return err
}

// Watch notes how far a database is, for one home. It is safe for concurrent use.
type Watch struct {
	server *Server

	mu    sync.Mutex // held while it is noted
	seen  Seen
	state atomic.Pointer[State]
}

// State is how a database was when it was noted last.
type State struct {
	SetBack  bool
	Oldest   float64        // seconds since the oldest view began; -1: not known
	Lag      int64          // bytes of the log that the slowest standby has not replayed; -1: none follows, or it is not told
	Live     int64          // servers
	Agents   map[string]int // by class: how many changes their logs hold
	Counts   pgdb.Counts
	NotKnown bool // nothing was noted yet
}

// State returns how the database was, and how it is used now.
func (w *Watch) State() State {
	state := State{NotKnown: true, Oldest: -1, Lag: -1}
	if last := w.state.Load(); last != nil {
		state = *last
	}
	state.Counts = w.server.db.Counts()
	return state
}

// PostgreSQL shows the transactions of other users, and the standbys, only to a role that may see them.
const selectUse = `SELECT coalesce((SELECT extract(epoch FROM max(clock_timestamp() - xact_start)) FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()), 0)::float8,
 coalesce((SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) FROM pg_stat_replication), -1)::int8,
 (SELECT count(*) FROM amber_meta.servers WHERE seen_at > clock_timestamp() - greatest(lease, 1000) * interval '1 millisecond')`

// look asks how the database is, for [Watch.State].
func look(ctx context.Context, c *pgx.Conn) (s State, err error) {
	err = c.QueryRow(ctx, selectUse).Scan(&s.Oldest, &s.Lag, &s.Live)
	return s, err
}

// Classes are those of [State.Agents], with the most changes that an agent of each has.
var Classes = []struct {
	Name string
	Most int64
}{{"thousand", 1_000}, {"ten_thousand", 10_000}, {"hundred_thousand", 100_000}, {"million", 1_000_000}, {"more", math.MaxInt64}}

// classes counts agents by class.
func classes(agents []Ending) map[string]int {
	counted := map[string]int{}
	for _, c := range Classes {
		counted[c.Name] = 0
	}
	for _, e := range agents {
		for _, c := range Classes {
			if e.Memory <= c.Most {
				counted[c.Name]++
				break
			}
		}
	}
	return counted
}

// Watch begins to note how far the database is, and returns the tokens of which this home knows that they were revoked: a database that was set
// back does not. Errors: damaged for a database that was set back and that no operator has accepted.
func (s *Server) Watch(ctx context.Context) (w *Watch, revoked []string, err error) {
	before, err := s.o.readSeen()
	if err != nil {
		return nil, nil, err
	}
	w = &Watch{server: s}
	if before == nil {
		id, err := s.NewID()
		if err != nil {
			return nil, nil, err
		}
		before = &Seen{Home: id}
	}
	err = s.life.Conn(ctx, func(c *pgx.Conn) (err error) {
		now, err := s.now(ctx, c, before.Home)
		if err != nil {
			return err
		}
		if before.Database == "" {
			before.Database, before.Restores, before.Pulse = now.Database, now.Restores, now.Pulse
		}
		accepted, err := before.compare(now, s.o.accepting())
		if err != nil {
			return err
		}
		w.seen = *before
		if before.Database != now.Database {
			w.seen = now
		} else if accepted {
			w.seen.Restores, w.seen.Pulse = append(w.seen.Restores, now.restored()), now.Pulse
		}
		return nil
	})
	if err != nil {
		if IsSetBack(err) && !s.db.Awaited() {
			s.db.Refuse(err)
		}
		return nil, nil, pgerr.Wrap("compare database", "", err)
	}
	return w, slices.Clone(w.seen.Revoked), w.Note(ctx, true)
}

// Note counts on, and notes how far the database is; with ends, also the ends of the change logs. Errors: damaged for a database that was set
// back, which is not used from then on; those of the database and of the file.
func (w *Watch) Note(ctx context.Context, ends bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, seen, state := w.server, w.seen, State{}
	err := s.life.Conn(ctx, func(c *pgx.Conn) error {
		now, err := s.now(ctx, c, seen.Home)
		if err != nil {
			return err
		}
		accepted, err := seen.compare(now, s.o.accepting())
		if err == nil && accepted {
			err = amber.Errorf(amber.KindDamaged, "compare database", "", "the database was set back while this server ran").WithHint("start this server again")
		}
		if err != nil {
			s.db.Refuse(err)
			w.state.Store(&State{SetBack: true, Oldest: -1, Lag: -1})
			return err
		}
		if state, err = look(ctx, c); err != nil {
			return err
		}
		seen.Pulse, seen.System, seen.Timeline, seen.Audit, seen.Revoked = max(seen.Pulse, now.Pulse)+1, now.System, now.Timeline, now.Audit, merged(seen.Revoked, now.Revoked)
		_, err = c.Exec(ctx, upsertPulse, workHome+seen.Home, seen.Pulse)
		return err
	})
	if err == nil && ends {
		seen.Agents, err = s.endings(ctx)
	}
	if err == nil {
		err = seen.write(s.o.Seen)
	}
	if err == nil {
		w.seen, state.Agents = seen, classes(seen.Agents)
		w.state.Store(&state)
	}
	return pgerr.Wrap("note how far the database is", "", err)
}

func merged(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// endings are where the change logs of all agents end.
func (s *Server) endings(ctx context.Context) (list []Ending, err error) {
	names, err := s.Everybody(ctx)
	if err != nil {
		return nil, err
	}
	ends, err := s.Ends(ctx, names)
	for _, n := range slices.SortedFunc(maps.Keys(ends), compareNames) {
		list = append(list, Ending{n.Tenant, n.Agent, ends[n].Memory, ends[n].Control})
	}
	return list, err
}

func compareNames(a, b AgentName) int {
	return bytes.Compare([]byte(a.Tenant+"/"+amber.TenantID(a.Agent)), []byte(b.Tenant+"/"+amber.TenantID(b.Agent)))
}

// Restoration is what a database that was set back lacks, as far as a home knows.
type Restoration struct {
	ID      string     // of the restore
	Known   bool       // a server of this home has noted how far the database was
	Audit   [2]int64   // entries of the audit log: noted, and now
	Revoked []string   // ids of tokens that were revoked
	Agents  []Restored // all agents
}

// Restored is an agent of such a database, with a history of its own from here on.
type Restored struct {
	Was, Is Ending
	Back    bool // it was deleted or moved away after the state that is there again
}

const (
	setIncarnation          = `UPDATE amber_meta.generations SET incarnation = $2 WHERE gen = $1`
	setHeads                = `UPDATE amber.heads SET incarnation = $1, rev = rev + 1`
	insertMemoryIncarnation = `INSERT INTO amber.incarnations (id, first_seq) SELECT $1::text, coalesce(max(seq), 0) + 1 FROM amber.changes`
	insertControlHistory    = `INSERT INTO amber_control.incarnations (id, first_seq) SELECT $1::text, coalesce(max(seq), 0) + 1 FROM amber_control.changes`
	isIncarnation           = `SELECT EXISTS (SELECT 1 FROM amber_meta.generations WHERE gen = $1 AND incarnation = $2)`
)

// Restored gives each agent of a database that was set back a new history, so that its listeners hear of it, and
// returns what went back. Call Accept when everything is as it should be: servers start again after that.
func (s *Server) Restored(ctx context.Context) (r Restoration, err error) {
	seen, err := s.o.readSeen()
	if err != nil {
		return r, err
	}
	was := map[AgentName]Ending{}
	home := ""
	if seen != nil {
		r.Known, r.Revoked, r.Audit[0], home = true, seen.Revoked, seen.Audit, seen.Home
		for _, e := range seen.Agents {
			was[AgentName{e.Tenant, e.Agent}] = e
		}
	}
	err = s.db.Conn(ctx, func(c *pgx.Conn) error {
		now, err := s.now(ctx, c, home)
		r.Audit[1] = now.Audit
		if err == nil && seen != nil && seen.Database != now.Database {
			err = amber.Errorf(amber.KindConflict, "accept restore", "", "the database is another one than the servers of this home have used: %s, want %s", now.Database, seen.Database)
		}
		return err
	})
	if err != nil {
		return r, pgerr.Wrap("accept restore", "", err)
	}
	ends, err := s.endings(ctx)
	if err != nil {
		return r, err
	}
	for _, is := range ends {
		n := AgentName{is.Tenant, is.Agent}
		if err := s.newHistory(ctx, n); err != nil {
			return r, err
		}
		before, noted := was[n]
		r.Agents = append(r.Agents, Restored{before, is, r.Known && !noted})
		delete(was, n)
	}
	for _, n := range slices.SortedFunc(maps.Keys(was), compareNames) { // they were made after the state that is there again
		r.Agents = append(r.Agents, Restored{Was: was[n]})
	}
	r.ID, err = s.NewID()
	return r, err
}

// Accept lets servers use a database that was set back. Errors: those of the database.
func (s *Server) Accept(ctx context.Context, r Restoration) error {
	return pgerr.Wrap("accept restore", "", s.db.Conn(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, upsertRestored, r.ID)
		return err
	}))
}

// newHistory begins a new incarnation of an agent: a position behind the end of its logs is none of it.
func (s *Server) newHistory(ctx context.Context, n AgentName) error {
	gen, _, err := s.Live(ctx, n.Tenant, n.Agent)
	if err != nil {
		return err
	}
	id, err := s.NewID()
	if err != nil {
		return err
	}
	return pgerr.Wrap("accept restore", string(n.Agent), s.db.Update(ctx, pgdb.Work{
		Setup: Enter(gen) + "; " + lockHeads,
		Do: func(conn *pgdb.Conn, _ []string) error {
			c := conn.PG()
			for _, sql := range []string{setHeads, insertMemoryIncarnation, insertControlHistory} {
				if _, err := c.Exec(ctx, sql, id); err != nil {
					return err
				}
			}
			return one(ctx, c, setIncarnation, gen, id)
		},
		Committed: func(ctx context.Context, conn *pgdb.Conn) (done bool, err error) {
			err = conn.PG().QueryRow(ctx, isIncarnation, gen, id).Scan(&done)
			return done, err
		},
	}))
}
