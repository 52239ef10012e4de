package colony

import "context"

// List returns the snapshots of the label, the newest first. It reads the manifests
// and no part. A snapshot that cannot be restored, such as an unfinished upload or
// one that is older than a snapshot seen before, is listed with the reason. Errors:
// untrusted when the label is empty and a snapshot was seen before.
func (v *Vault) List(ctx context.Context) ([]Listed, error) {
	all, err := v.listed(ctx)
	return all, v.wrap("list snapshots", err)
}

func (v *Vault) listed(ctx context.Context) ([]Listed, error) {
	seen, err := v.seen(ctx)
	if err != nil {
		return nil, err
	}
	for again := false; ; again = true {
		in, err := v.list(ctx)
		if err != nil {
			return nil, err
		}
		if in.empty() && seen.ID != "" {
			return nil, v.absent(seen)
		}
		w := view{inventory: in}
		if err := v.readPointer(ctx, &w); err != nil {
			return nil, err
		}
		all, gone, err := v.describe(ctx, w, seen)
		if err == nil && gone && !again {
			continue // another client was at work
		}
		return all, err
	}
}

// describe examines every snapshot. gone says that a manifest that was listed is
// not there.
func (v *Vault) describe(ctx context.Context, w view, seen Sighting) (all []Listed, gone bool, err error) {
	all = []Listed{}
	for _, id := range w.ids {
		g := w.groups[id]
		f, err := v.examine(ctx, id, g)
		if err != nil {
			return nil, false, err
		}
		f.g = g
		l, err := v.listing(ctx, f, w)
		if err != nil {
			return nil, false, err
		}
		if l.Latest && l.Damage == "" {
			l.Damage = v.older(l.Info, seen)
		}
		all = append(all, l)
		gone = gone || f.incomplete && g.manifest != nil && f.m.PartFiles == nil
	}
	return all, gone, nil
}

// listing describes a snapshot that was examined.
func (v *Vault) listing(ctx context.Context, f found, w view) (Listed, error) {
	l := Listed{Info: f.info(v.label), Latest: f.g.id == w.named}
	err := f.err
	if err == nil {
		_, err = f.m.Check(ctx, v.reading(f.g.id))
		if err != nil && !told(err) {
			return l, err
		}
	}
	if err != nil {
		l.Damage = err.Error()
	}
	return l, nil
}

// older says why what a restore would take cannot be the newest, given what was
// seen; "" when it may be.
func (v *Vault) older(i Info, seen Sighting) string {
	documents := seen.Documents
	if !i.Encrypted {
		documents = i.PlaintextSHA256
	}
	return rolledBack(i, documents, seen)
}

// Latest describes the newest snapshot: the one that the pointer names, or, if the
// pointer is bad, the newest complete one. Errors: not_found when the label has no
// files; damaged when it has files but no complete snapshot; untrusted when a later
// snapshot was seen before.
func (v *Vault) Latest(ctx context.Context) (Listed, error) {
	l, err := v.latest(ctx)
	return l, v.wrap("find latest", err)
}

func (v *Vault) latest(ctx context.Context) (Listed, error) {
	seen, err := v.seen(ctx)
	if err != nil {
		return Listed{}, err
	}
	w, err := v.look(ctx)
	switch {
	case err != nil:
		return Listed{}, err
	case w.empty():
		return Listed{}, v.absent(seen)
	case w.head.g == nil:
		return Listed{}, w.nothing()
	}
	l, err := v.listing(ctx, w.head, w)
	if err != nil || l.Damage != "" {
		return l, err
	}
	if why := v.older(l.Info, seen); why != "" {
		return Listed{}, putBack(l.ID, why)
	}
	return l, nil
}
