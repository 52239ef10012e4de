package openviking

import (
	"context"
	"time"

	"github.com/amber-memory/amber"
)

const removePause = 200 * time.Millisecond

// Remove deletes the files of this agent on the server. It goes on while the server is busy with the files, or
// lists some: a request that was called off may be at work there yet. A store that has not asked the server does nothing. Errors, which name the folder: those of the server; busy
// when ctx ends before everything is gone.
func (s *Store) Remove(ctx context.Context) error {
	l := s.known()
	if l.user == "" {
		return nil
	}
	err := s.removeOnce(ctx, l.root())
	for amber.KindOf(err) == amber.KindBusy && s.o.Wait(ctx, removePause) == nil {
		err = s.removeOnce(ctx, l.root())
	}
	if err == nil {
		return nil
	}
	return &amber.Error{Op: "remove files of openviking", Kind: amber.KindOf(err), ID: l.root(), Err: err}
}

// removeOnce deletes a folder. Errors: busy where something is listed below it afterwards; those of
// the server.
func (s *Store) removeOnce(ctx context.Context, root string) error {
	if err := s.o.Server.Delete(ctx, root, true); err != nil && amber.KindOf(err) != amber.KindNotFound {
		return err
	}
	listed := 0
	err := s.o.Server.List(ctx, root, func(string) error {
		listed++
		return nil
	})
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		return nil
	case err == nil && listed > 0:
		return amber.Errorf(amber.KindBusy, "delete", root, "%d files are listed after they were deleted", listed)
	}
	return err
}
