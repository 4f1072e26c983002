//go:build manager || frame

package main

import "github.com/strata-go/strata/memory/tiers"

// openManager returns a manager in its first frame, with the defaults unless the workload needs more addresses.
func openManager(n need) *tiers.Manager {
	var cfg tiers.Config
	cfg.Reserve[tiers.Slab], cfg.Reserve[tiers.Large] = n.reserve(), n.reserve()
	if n.option == "huge" {
		cfg.HugePages, cfg.Prefault = true, true
	}
	m, err := tiers.New(cfg)
	fail(err)
	fail(m.BeginLevel())
	fail(m.NextFrame())
	return m
}
