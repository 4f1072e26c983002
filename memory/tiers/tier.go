package tiers

import (
	"fmt"
	"strings"
)

// A Tier is one of the manager's kinds of memory, told apart by when it dies.
type Tier uint8

// The tiers, in the order in which tables and overlays show them.
const (
	Static Tier   = iota // declared lifetimes, placed once per level; dies with it
	Frame                // dies N frames later
	Level                // dies with the level
	Pools                // dies object by object, and with the level where it is reset
	Slab                 // dies block by block, up to 4 KiB
	Large                // dies block by block, above 4 KiB
	Inbox                // belongs to worker goroutines; comes home through their inboxes
	Count  = iota        // how many tiers there are
)

var names = [Count]string{Static: "static", Frame: "frame", Level: "level", Pools: "pools", Slab: "slab", Large: "large", Inbox: "inbox"}

// String returns the name used in tables and files.
func (t Tier) String() string {
	if int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("tier(%d)", uint8(t))
}

// ParseTier is the inverse of String.
func ParseTier(name string) (Tier, error) {
	for t, n := range names {
		if n == name {
			return Tier(t), nil
		}
	}
	return 0, fmt.Errorf("tiers: unknown tier %.40q; allowed: %s", name, strings.Join(names[:], ", "))
}
