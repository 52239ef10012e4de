//go:build race

package repo_test

// raceEnabled makes the longest campaigns smaller: they run one goroutine.
const raceEnabled = true
