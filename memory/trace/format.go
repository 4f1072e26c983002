package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/strata-go/strata/memory"
)

const (
	magic       = "strtrac\x1A"
	version     = 1
	headerBytes = 20 // before the texts
	chunkHeader = 24
	summedBytes = 20 // of a chunk's header
	sumBytes    = 4

	maxChunk  = 1 << 20 // bytes of events: a Reader keeps one chunk
	maxSize   = 1 << 62 // of a block, so that sums of two sizes do not overflow
	maxShift  = 62      // log2 of an alignment
	maxEvent  = 32      // bytes: 1 + 5 of the thread, and at most two numbers of 10
	maxTier   = 15      // four bits
	maxTexts  = 255     // bytes of a text in the header
	kindBits  = 3
	tierBits  = 4
	hasThread = 1 << 7

	asIs     = 0 // methods of a chunk
	deflated = 1
	// DEFLATE never compresses to less than one byte in 1032, plus a few bytes for a block.
	maxRatio = 1032
)

// The errors of a [Reader] and of [ParseProgram], besides those of the io.Reader. Test with errors.Is.
var (
	// ErrFormat means that the input is no trace or program, or is damaged.
	ErrFormat = errors.New("trace: not a trace, or damaged")

	// ErrVersion means that this package does not read this version of the format.
	ErrVersion = errors.New("trace: unknown version of the format")

	// ErrTruncated means that the trace has no end. The recording program was killed or did not close the Writer, the
	// Writer had an error other than ErrLimit, or the file was cut. A Reader returns all events of the complete chunks
	// before this error.
	ErrTruncated = errors.New("trace: truncated")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Header describes a recording. Both texts have at most 255 bytes of UTF-8 without control characters.
type Header struct {
	Program string // what was recorded, for tables
	Unit    string // what a tick is, such as "frame"; empty if there are no ticks
}

// MaxText is the largest length of a text of a Header in bytes.
const MaxText = maxTexts

// check returns an error that says which text is wrong.
func (h Header) check() error {
	for _, t := range []struct{ name, text string }{{"Program", h.Program}, {"Unit", h.Unit}} {
		switch {
		case len(t.text) > maxTexts:
			return fmt.Errorf("%s has %d bytes: at most %d are allowed", t.name, len(t.text), maxTexts)
		case !utf8.ValidString(t.text):
			return fmt.Errorf("%s is not UTF-8", t.name)
		case strings.ContainsFunc(t.text, unicode.IsControl):
			return fmt.Errorf("%s has a control character: %.60q", t.name, t.text)
		}
	}
	return nil
}

// append appends the header as it stands in a file.
func (h Header) append(b []byte) []byte {
	le := binary.LittleEndian
	from := len(b)
	b = append(b, magic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, uint32(len(h.Program)))
	b = le.AppendUint32(b, uint32(len(h.Unit)))
	b = append(b, h.Program...)
	b = append(b, h.Unit...)
	return le.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// A Kind says what an [Event] records.
type Kind uint8

// The kinds of events.
const (
	Alloc  Kind = iota // a block was allocated
	Free               // a block was freed
	Resize             // a block has a new size
	Tick               // a unit of the program's work has ended, see Header.Unit
	Level              // a level begins or ends
	Used               // an arena has so many bytes in use at the end of a tick or level, and frees them
	kinds  = iota
)

var kindNames = [...]string{"alloc", "free", "resize", "tick", "level", "used"}

// String returns the name of the kind, such as "alloc". For an unknown kind it returns the number, as "kind(9)".
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// A Where says which tier and which thread an event belongs to.
type Where struct {
	Tier   uint8  // 0: none; at most 15
	Thread uint32 // 0: the main one
}

// An Event is one event of a trace.
type Event struct {
	Where
	Kind  Kind
	Block uint64 // of Alloc, Free and Resize: the block's number in the order of allocation, from 0
	Size  uint64 // of Alloc and Resize: the block's new size in bytes; of Used: the bytes
	Align uint64 // of Alloc: a power of two
	Begin bool   // of Level: true if it begins
}

// end returns the end of a trace after n chunks.
func end(n uint32) [chunkHeader]byte {
	return chunkHead(n, asIs, nil, 0, 0)
}

// chunkHead returns the header of a chunk.
func chunkHead(number, method uint32, stored []byte, plain, events int) (h [chunkHeader]byte) {
	le := binary.LittleEndian
	le.PutUint32(h[0:], number)
	le.PutUint32(h[4:], method)
	le.PutUint32(h[8:], uint32(len(stored)))
	le.PutUint32(h[12:], uint32(plain))
	le.PutUint32(h[16:], uint32(events))
	le.PutUint32(h[20:], chunkSum(&h, stored))
	return h
}

func chunkSum(h *[chunkHeader]byte, stored []byte) uint32 {
	return crc32.Update(crc32.Checksum(h[:summedBytes], castagnoli), castagnoli, stored)
}

// bad returns an error of a wrong argument.
func bad(format string, args ...any) error {
	return fmt.Errorf("trace: "+format+": %w", append(args, memory.ErrConfig)...)
}
