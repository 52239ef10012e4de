package move

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/rowfile"
	"github.com/amber-memory/amber/internal/store/statedir"
	"github.com/amber-memory/amber/store/home"
)

// Look returns what a move would take along, and changes nothing. If something would keep the move from being made,
// Look returns that as its error. Errors: those of [Run].
func Look(ctx context.Context, o Options, to To) (p Plan, err error) {
	if err := Check(ctx, o, to); err != nil {
		return p, err
	}
	p = Plan{Agent: o.Agent.ID(), To: to, From: o.homePlace(), Place: o.Place}
	if to == SQLite {
		p.From, p.Place = o.Place, o.homePlace()
		err = o.lookThere(ctx, &p)
	} else {
		err = o.lookHere(ctx, &p)
	}
	for _, t := range p.Tables {
		p.Rows += t.Rows
	}
	return p, err
}

// lookHere counts what a home has, in a copy of its files that is examined.
func (o Options) lookHere(ctx context.Context, p *Plan) (err error) {
	var c home.Current
	if c, err = o.Agent.Current(); err != nil {
		return err
	}
	scratch, done, err := o.scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	files, err := o.freeze(ctx, c, o.Agent, scratch)
	if err != nil {
		return err
	}
	for _, path := range []string{files.Memory, files.Control} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		p.Bytes += info.Size()
		if err := countFile(ctx, p, path, filepath.Base(path), scratch); err != nil {
			return err
		}
	}
	d, err := notes.New(notes.Options{Guard: snapshot.NotesGuard(o.Agent), Clock: o.Clock})
	if err != nil {
		return err
	}
	list, err := d.ListNotes(ctx)
	if err != nil {
		return err
	}
	p.Notes = len(list)
	s, err := statedir.New(o.Agent, statedir.Options{})
	if err != nil {
		return err
	}
	documents, err := s.ListDocuments(ctx)
	for _, d := range documents {
		if err == nil {
			_, err = s.ReadDocument(ctx, d.Name)
		}
	}
	p.Documents = len(documents)
	return err
}

func countFile(ctx context.Context, p *Plan, path, file, scratch string) (err error) {
	r, err := rowfile.Open(ctx, path, file, scratch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, t := range r.File().Tables {
		n, err := r.Count(ctx, t)
		if err != nil {
			return err
		}
		p.Tables = append(p.Tables, Table{file, t.Name, n})
	}
	return nil
}

// lookThere counts what a database has.
func (o Options) lookThere(ctx context.Context, p *Plan) (err error) {
	tables, bytes, err := mirror.Count(ctx, o.mirrored())
	if err != nil {
		return err
	}
	p.Bytes = bytes
	for _, t := range tables {
		p.Tables = append(p.Tables, Table{t.File, t.Name, t.Rows})
	}
	s, err := o.Server.Open(ctx, o.Agent.Tenant(), o.Agent.ID(), postgres.Options{Frozen: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	list, err := s.Notes().ListNotes(ctx)
	if err != nil {
		return err
	}
	p.Notes = len(list)
	documents, err := s.Parts().Documents.ListDocuments(ctx)
	p.Documents = len(documents)
	return err
}
