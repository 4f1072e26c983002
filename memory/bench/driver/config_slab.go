//go:build slab || remote || cache

package main

import (
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

func slabConfig(n need) slab.Config {
	cfg := slab.Config{Reserve: n.reserve()}
	if n.largest > 4096 {
		cfg.MaxSize = 64 << 10
	}
	if n.largest > 64<<10 {
		above, err := tlsf.New(nil, tlsf.Config{Reserve: n.reserve()})
		fail(err)
		cfg.Large = above
	}
	return cfg
}
