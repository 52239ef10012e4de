package shelf_test

import (
	"testing"

	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/colony/colonytest"
)

// TestSuite holds the vault on disk to what every vault promises.
func TestSuite(t *testing.T) {
	t.Parallel()
	colonytest.Run(t, func(t *testing.T) colony.Backend { return fresh(t).Shelf })
}
