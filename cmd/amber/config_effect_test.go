//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/config"
)

// effect is what a key of the configuration changes.
type effect struct {
	prepare func(*setting) string // makes what is needed, and returns the value of the key
	see     func(*setting) string // runs the program and returns what it did
	without string                // what see returns when the key is not set
	with    string                // what see returns when the key is set
}

// value sets a key that needs no preparation.
func value(v string) func(*setting) string { return func(*setting) string { return v } }

// TestEveryKeyHasItsEffect sets every key of the configuration and observes through
// the program that something changes. In another program some keys were documented
// and did nothing.
func TestEveryKeyHasItsEffect(t *testing.T) {
	t.Parallel()
	all := effects()
	for _, k := range config.Keys() {
		e, ok := all[k.Path]
		t.Run(k.Path, func(t *testing.T) {
			t.Parallel()
			if !ok {
				t.Fatal("no effect of this key is observed")
			}
			e.check(t, k)
		})
		delete(all, k.Path)
	}
	for path := range all {
		t.Errorf("the effect of %s is observed, but the key does not exist", path)
	}
}

// check observes the program without the key and with it.
func (e effect) check(t *testing.T, k config.Key) {
	t.Helper()
	if e.without == e.with {
		t.Fatalf("the effect is %q with and without the key", e.with)
	}
	for _, with := range []bool{false, true} {
		s, want := newSetting(t, with), e.without
		v := e.prepare(s)
		if with {
			want = e.with
			k := k
			k.Path = strings.Replace(k.Path, "<name>", "tool", 1)
			s.set(k.Env(), v)
		}
		if got := e.see(s); got != want {
			t.Errorf("set: %v; seen: %q, want %q", with, got, want)
		}
	}
}

// effects returns the effect of every key, by path.
func effects() map[string]effect {
	all := map[string]effect{}
	for _, some := range []map[string]effect{
		memoryEffects(), layerEffects(), queueEffects(), journalEffects(),
		snapshotEffects(), automaticEffects(), trustEffects(), retentionEffects(), sourceEffects(), shareEffects(),
		searchEffects(), vikingEffects(), remoteEffects(), postgresEffects(), contextEffects(), serverEffects(), eventEffects(), vaultEffects(), serverVaultEffects(), digestEffects(),
	} {
		for k, e := range some {
			all[k] = e
		}
	}
	return all
}
