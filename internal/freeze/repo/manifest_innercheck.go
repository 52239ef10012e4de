package repo

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire"
)

// Bounds of inner manifests.
const (
	maxInnerBytes   = 16 << 20
	maxDatabases    = 1000 // of Amber, and of each source
	maxRefs         = 100_000
	maxMarks        = 100_000
	maxSources      = 100
	maxSkipped      = 10_000
	maxSkippedBytes = 1 << 20 // of all that are listed
	maxChecks       = 10_000
	maxTextBytes    = 1000
	maxPathBytes    = 4096
	saltBytes       = 16
)

// check looks at everything an inner manifest says that can be wrong on its
// own.
func (in *Inner) check() error {
	switch {
	case len(in.Databases) > maxDatabases, len(in.Marks) > maxMarks, len(in.Sources) > maxSources,
		len(in.Skipped) > maxSkipped, len(in.Checks) > maxChecks:
		return errors.New("a list is too long")
	case in.SkippedMore < 0:
		return errors.New("a number is negative")
	}
	err := cmp.Or(envelope.CheckLine("label", in.Label, wire.MaxLabelBytes), checkSalt(in.Salt),
		checkDatabases(in.Databases), in.Notes.check(), in.Git.check(), in.State.check(), in.Journal.check())
	for i := 0; err == nil && i < len(in.Marks); i++ {
		err = in.Marks[i].check()
	}
	names := map[string]bool{}
	for i := range in.Sources {
		s := &in.Sources[i]
		err = cmp.Or(err, unique(names, "source", s.Name, amber.MaxIDBytes),
			s.Files.check(), checkDatabases(s.Databases), s.Git.check())
	}
	for _, s := range in.Skipped {
		err = cmp.Or(err, envelope.CheckText("part", s.Part, maxTextBytes), envelope.CheckText("path", s.Path, maxPathBytes),
			envelope.CheckText("reason", s.Reason, maxTextBytes), envelope.CheckText("detail", s.Detail, maxTextBytes))
	}
	for _, c := range in.Checks {
		err = cmp.Or(err, checkName("check", c.Name, maxTextBytes), envelope.CheckLine("part", c.Part, maxTextBytes),
			envelope.CheckLine("digest", c.Digest, maxTextBytes), envelope.CheckText("detail", c.Detail, maxTextBytes), envelope.CheckTime("at", c.At))
	}
	return err
}

// checkSalt checks a salt, which may be empty.
func checkSalt(s string) error {
	if s != "" && len(s) != 2*saltBytes || strings.Trim(s, "0123456789abcdef") != "" {
		return fmt.Errorf("the salt is not %d lower-case hexadecimal digits", 2*saltBytes)
	}
	return nil
}

func checkDatabases(l []DatabaseEntry) error {
	if len(l) > maxDatabases {
		return fmt.Errorf("%d databases are too many", len(l))
	}
	names := map[string]bool{}
	var err error
	for i := range l {
		err = cmp.Or(err, unique(names, "database", l[i].Name, maxPathBytes), l[i].Ref.check(),
			envelope.CheckText("damage", l[i].Damage, maxTextBytes))
	}
	return err
}

// unique checks a name that must not be there twice.
func unique(names map[string]bool, what, name string, most int) error {
	if names[name] {
		return fmt.Errorf("a %s occurs twice", what)
	}
	names[name] = true
	return checkName(what, name, most)
}

func (f *FilesEntry) check() error {
	if f != nil && (f.Tree.IsZero() || f.Files < 0 || f.Bytes < 0) {
		return errors.New("a folder has no tree, or a negative number")
	}
	return nil
}

func (g *GitEntry) check() error {
	if g == nil {
		return nil
	}
	if g.Set.IsZero() || g.Objects < 0 || g.Bytes < 0 || len(g.Refs) > maxRefs {
		return errors.New("a history has no objects, or too many refs")
	}
	err := cmp.Or(checkName("head", g.Head, maxTextBytes), envelope.CheckOID("head_oid", g.HeadOID))
	if c := g.Commit; c != nil {
		err = cmp.Or(err, envelope.CheckLine("subject", c.Subject, maxTextBytes), envelope.CheckLine("author", c.Author, maxTextBytes))
	}
	for i, r := range g.Refs {
		if i > 0 && g.Refs[i-1].Name >= r.Name {
			return errors.New("the refs are not sorted")
		}
		err = cmp.Or(err, checkName("ref", r.Name, maxTextBytes), checkName("oid", r.OID, maxTextBytes), envelope.CheckOID("oid", r.OID))
	}
	return err
}

func (m *JournalMark) check() error {
	if m.Drained < 0 || m.Last < 0 || m.Frames < 0 {
		return errors.New("a journal mark has a negative number")
	}
	return cmp.Or(checkName("key", m.Key, maxTextBytes), envelope.CheckLine("host", m.Host, maxTextBytes),
		envelope.CheckText("session_id", string(m.SessionID), maxTextBytes), envelope.CheckText("cursor", m.Cursor, maxTextBytes))
}
