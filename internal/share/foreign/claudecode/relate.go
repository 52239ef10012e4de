package claudecode

import (
	"path"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// relate gives out which memories of the folder link to which, by the names of files, else by titles.
func (m *memories) relate() error {
	byFile, byTitle := map[string]int{}, map[string]int{}
	for i, mem := range m.list {
		whole := strings.ToLower(strings.TrimSuffix(mem.Key[1], path.Ext(mem.Key[1])))
		set(byFile, whole, i)
		set(byFile, path.Base(whole), i)
		set(byTitle, foreign.Slug(mem.Title), i)
	}
	for i, links := range m.links {
		told := map[int]bool{i: true}
		for _, link := range links {
			to, ok := byFile[strings.ToLower(link)]
			if !ok {
				to, ok = byTitle[foreign.Slug(link)]
			}
			if !ok || told[to] {
				continue
			}
			told[to] = true
			if err := m.to.Relation(foreign.Relation{
				Place: m.list[i].Place, From: m.list[i].Key, To: m.list[to].Key, Type: "related", Strength: 1, CreatedAt: m.list[i].UpdatedAt,
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// set sets what is not set. The empty name names nothing.
func set(m map[string]int, name string, i int) {
	if _, ok := m[name]; !ok && name != "" {
		m[name] = i
	}
}
