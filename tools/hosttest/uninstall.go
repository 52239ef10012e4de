package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// uninstall takes Amber out. A file that the host did not touch since setup is as it was before, to
// the byte. A file that the host has written to meanwhile names Amber no more, and setting up and
// uninstalling once again does not change it.
func (r *run) uninstall(ctx context.Context, before, installed map[string]string) error {
	ran := r.settings()
	if _, err := r.amber(ctx, "setup", r.host.name, "--uninstall"); err != nil {
		return err
	}
	after := r.settings()
	var errs []error
	touched := changed(before, installed, r.o.amber)
	if len(touched) == 0 {
		return errors.New("setup has changed no file")
	}
	for _, path := range touched {
		was, there := before[path]
		now, remains := after[path]
		switch {
		case ran[path] == installed[path] && (was != now || there != remains):
			errs = append(errs, fmt.Errorf("%s is not what it was before", path))
		case strings.Contains(now, r.o.amber):
			errs = append(errs, fmt.Errorf("%s still names Amber", path))
		}
	}
	return errors.Join(append(errs, r.again(ctx, touched, after))...)
}

// again sets up and uninstalls with no host between.
func (r *run) again(ctx context.Context, touched []string, want map[string]string) error {
	for _, args := range [][]string{{"setup", r.host.name}, {"setup", r.host.name, "--uninstall"}} {
		if _, err := r.amber(ctx, args...); err != nil {
			return err
		}
	}
	got := r.settings()
	var errs []error
	for _, path := range touched {
		was, there := want[path]
		now, remains := got[path]
		if was != now || there != remains {
			errs = append(errs, fmt.Errorf("%s is not what it was before the second time", path))
		}
	}
	return errors.Join(errs...)
}

// changed returns the files that setup wrote a command of Amber to.
func changed(before, after map[string]string, program string) (paths []string) {
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if after[path] != before[path] && strings.Contains(after[path], program) && !strings.Contains(path, "/setup/") {
			paths = append(paths, path)
		}
	}
	return paths
}
