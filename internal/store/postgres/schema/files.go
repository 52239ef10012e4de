package schema

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/amber-memory/amber/internal/base/pattern"
)

//go:embed migrations/*.sql
var files embed.FS

// Phase says what a migration does to programs that are running.
type Phase string

// The phases, in the order in which a change goes through them.
const (
	Expand   Phase = "expand"   // adds what older programs do not notice
	Backfill Phase = "backfill" // fills what was added
	Validate Phase = "validate" // checks what was filled
	Contract Phase = "contract" // takes away what only older programs use
)

// migration is one file.
type migration struct {
	number int64
	name   string // of the file, without .sql
	phase  Phase
	sha256 string
	steps  []part
}

// part is what one transaction of a migration does.
type part struct {
	sql    string
	way    way
	schema string // of the index, where it is built beside writers
	table  string
	index  string
}

// way is how a step runs. Two programs write meanwhile, so a step
//
//   - changes one table that is there, at most: it waits for one lock,
//   - repeats what ends though older programs write on: the step in front of it gave the column a default, or a trigger, for what they
//     write from then on.
type way string

const (
	once         way = ""             // in a transaction
	repeat       way = "repeat"       // in one transaction after the other, until its last statement changes no row
	concurrently way = "concurrently" // outside of transactions: CREATE INDEX CONCURRENTLY
)

// set is all migrations in the order of their numbers, which begin at 1 and have no gap.
type set []migration

func (s set) newest() int64 { return int64(len(s)) }

// known are the migrations of this program.
var known = sync.OnceValues(func() (set, error) { return parse(files, "migrations") })

var (
	fileName  = pattern.Of(`^([0-9]{4})-(expand|backfill|validate|contract)-[a-z0-9-]+\.sql$`)
	stepMark  = pattern.Of(`(?m)^-- step(?: (repeat|concurrently))?[ \t]*$`)
	remark    = pattern.Of(`(?m)--.*$`)
	makeIndex = pattern.Of(`^CREATE (?:UNIQUE )?INDEX CONCURRENTLY ([a-z0-9_]+) ON ([a-z_]+)\.([a-z0-9_]+) [^;]*;$`)
)

// parse reads the migrations of a folder. A line "-- step" begins a step, with the word
// repeat or concurrently behind it where that is how it runs.
func parse(files fs.FS, folder string) (set, error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return nil, err
	}
	var all set
	for _, e := range entries {
		text, err := fs.ReadFile(files, path.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		name := fileName().FindStringSubmatch(e.Name())
		if name == nil {
			return nil, fmt.Errorf("migration %s: the name has to be a number, a phase and words", e.Name())
		}
		number, err := strconv.ParseInt(name[1], 10, 64)
		if err != nil || number != all.newest()+1 {
			return nil, fmt.Errorf("migration %s: the number has to be %d", e.Name(), all.newest()+1)
		}
		digest := sha256.Sum256(text)
		m := migration{number: number, name: strings.TrimSuffix(e.Name(), ".sql"), phase: Phase(name[2]), sha256: hex.EncodeToString(digest[:])}
		if m.steps, err = split(string(text)); err != nil {
			return nil, fmt.Errorf("migration %s: %w", e.Name(), err)
		}
		all = append(all, m)
	}
	return all, nil
}

// split cuts a file into steps.
func split(text string) (steps []part, err error) {
	var begins, ends []int
	ways := []way{once}
	begins = append(begins, 0)
	for _, at := range stepMark().FindAllStringSubmatchIndex(text, -1) {
		ends, begins = append(ends, at[0]), append(begins, at[1])
		w := once
		if at[2] >= 0 {
			w = way(text[at[2]:at[3]])
		}
		ways = append(ways, w)
	}
	ends = append(ends, len(text))
	for i := range begins {
		p := part{sql: strings.TrimSpace(text[begins[i]:ends[i]]), way: ways[i]}
		bare := strings.TrimSpace(remark().ReplaceAllString(p.sql, ""))
		if bare == "" {
			if i == 0 {
				continue // what is said in front of the first step
			}
			return nil, fmt.Errorf("step %d is empty", len(steps)+1)
		}
		if p.way == concurrently {
			index := makeIndex().FindStringSubmatch(bare)
			if index == nil {
				return nil, fmt.Errorf("step %d: a step that runs concurrently is one CREATE INDEX CONCURRENTLY name ON schema.table", len(steps)+1)
			}
			p.sql, p.index, p.schema, p.table = bare, index[1], index[2], index[3]
		}
		steps = append(steps, p)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("the file is empty")
	}
	return steps, nil
}
