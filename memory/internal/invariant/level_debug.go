//go:build memdebug || race

package invariant

// Level is the position of the dial.
const Level = 2
