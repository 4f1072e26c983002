//go:build armbe || arm64be || m68k || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || shbe || sparc || sparc64

package ecs

// Where the halves of a record lie in its word, see record.word.
const (
	genShift = 32
	locShift = 0
)
