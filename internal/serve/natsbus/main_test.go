package natsbus_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var eventCount = flag.Int("nats.events", 400, "how many changes the campaigns publish; 10000 at full size")

// childVariable says what a copy of the test binary is to do instead of
// testing: brokers and publishers that are killed are real processes.
const childVariable = "AMBER_NATS_TEST_CHILD"

func TestMain(m *testing.M) {
	job := os.Getenv(childVariable)
	if job == "" {
		goleak.VerifyTestMain(m)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // the test that started this process may be gone
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	if err := child(ctx, strings.Fields(job)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
