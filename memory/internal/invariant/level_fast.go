//go:build memfast && !memdebug && !race

package invariant

// Level is the number of checks: 0 in memfast builds, 1 by default, 2 in memdebug and race builds.
const Level = 0
