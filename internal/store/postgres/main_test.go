package postgres_test

import (
	"os"
	"testing"

	"github.com/amber-memory/amber/internal/test/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
