package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"unsafe"
)

// A Program is a trace in a form that a replay can run without decoding or bookkeeping: a flat list of operations on
// slots. A slot is a place in a table of live blocks. Slots are reused: their number is the largest number of blocks
// that are live at one time.
//
// The file of a program is little endian. [ParseProgram] checks the file. A replay may map the file and use it as it
// is. The numbers in the file are the fields of Program and [Op].
//
//	0    magic "strprog" 0x1A
//	8    version uint32          1
//	12   Slots uint32
//	16   length of the list Ops, uint64
//	24   Timed uint64
//	32   Operations uint64
//	40   PeakAt uint64
//	48   Peak uint64
//	56   Largest uint32
//	60   checksum of bytes 0 to 59 and of the list, uint32
//	64   the list, 16 bytes each:
//	     Kind uint8, Shift uint8, Tier uint8, 0; Slot uint32; Size uint32; Old uint32
//
// The kinds are 0 alloc, 1 free, 2 resize, 3 tick and 4 alloc with an alignment above 16.
//
// A program differs from its trace in these points. Blocks below 8 bytes have 8, so that a replay can write a word.
// Alignments above 4096 are 4096. Levels and used bytes are left out. Threads are left out too: a replay runs all
// operations on one.
type Program struct {
	Slots      int    // the length of the table of live blocks
	Ops        []Op   // the list: first the operations of the trace, then frees of all blocks that are still live
	Timed      int    // the number of operations of the trace, with ticks
	Operations int    // the number of operations of the trace, without ticks
	PeakAt     int    // index in Ops of the operation after which most bytes are live
	Peak       uint64 // bytes that are live after operation PeakAt
	Largest    uint32 // bytes of the largest block
}

// An Op is an operation of a [Program].
type Op struct {
	Kind  OpKind
	Shift uint8 // log2 of the alignment
	Tier  uint8 // as in the trace; 0 in the frees that follow the trace
	_     uint8
	Slot  uint32 // index in the table of live blocks
	Size  uint32 // of an alloc and a free: the size of the block; of a resize: the new size
	Old   uint32 // of a resize: the old size
}

// An OpKind says what an [Op] does.
type OpKind uint8

// The kinds of operations.
const (
	OpAlloc   OpKind = iota // with an alignment up to 16
	OpFree                  // a free
	OpResize                // a resize, in place or moved
	OpTick                  // the end of a tick; Slot, Size and Old are 0
	OpAligned               // an alloc with an alignment above 16
	opKinds
)

const (
	programMagic   = "strprog\x1A"
	programVersion = 1
	programHeader  = 64
	opBytes        = 16
	leastSize      = 8
	plainShift     = 4  // what malloc guarantees
	mostShift      = 12 // memory.MaxAlign
)

// Compile reads a trace to its end and makes its program. The Reader r must be new: Compile needs every event. If Next
// has read a chunk of r already, the error wraps memory.ErrConfig. If the trace is truncated, Compile returns the
// program of its whole chunks, and an error that wraps ErrTruncated. If r has another error, Compile returns this error
// and no program. If a block has 4 GiB or more, Compile returns an error and no program. The memory is proportional to
// the trace.
func Compile(r *Reader) (*Program, error) {
	if r.chunks > 0 {
		return nil, bad("compile: chunks that were read from the Reader: %d, with %d blocks: want a new Reader", r.chunks, r.blocks)
	}
	c := compiler{p: new(Program)}
	for {
		e, err := r.Next()
		if err == io.EOF {
			return c.end(), nil
		}
		if err != nil {
			if errors.Is(err, ErrTruncated) {
				return c.end(), err
			}
			return nil, err
		}
		if err := c.add(e); err != nil {
			return nil, err
		}
	}
}

// A compiler makes a program of events.
type compiler struct {
	p     *Program
	slots []uint32 // by block
	sizes []uint32 // by slot; 0 if it is vacant
	free  []uint32 // vacant slots, the next one last
	live  uint64
}

// add appends the operation of an event.
func (c *compiler) add(e Event) error {
	size := uint32(max(e.Size, leastSize))
	if e.Size > math.MaxUint32 && (e.Kind == Alloc || e.Kind == Resize) {
		return fmt.Errorf("trace: compile: block %d has %d bytes: at most %d are allowed", e.Block, e.Size, uint32(math.MaxUint32))
	}
	op := Op{Tier: e.Tier, Size: size}
	switch e.Kind {
	case Alloc:
		op.Shift = uint8(min(bits.TrailingZeros64(e.Align), mostShift))
		if op.Shift > plainShift {
			op.Kind = OpAligned
		}
		op.Slot = c.take(size)
		c.slots = append(c.slots, op.Slot)
		c.live += uint64(size)
	case Free:
		op.Kind, op.Slot = OpFree, c.slots[e.Block]
		op.Size = c.sizes[op.Slot]
		c.drop(op.Slot)
	case Resize:
		op.Kind, op.Slot = OpResize, c.slots[e.Block]
		op.Old, c.sizes[op.Slot] = c.sizes[op.Slot], size
		c.live += uint64(size) - uint64(op.Old)
	case Tick:
		op = Op{Kind: OpTick, Tier: e.Tier}
	default:
		return nil
	}
	if c.p.Ops = append(c.p.Ops, op); e.Kind != Tick {
		c.p.Operations++
	}
	c.p.Largest = max(c.p.Largest, op.Size)
	if c.live > c.p.Peak {
		c.p.Peak, c.p.PeakAt = c.live, len(c.p.Ops)-1
	}
	return nil
}

// take returns a vacant slot.
func (c *compiler) take(size uint32) uint32 {
	n := len(c.free)
	if n == 0 {
		c.sizes = append(c.sizes, size)
		return uint32(len(c.sizes) - 1)
	}
	slot := c.free[n-1]
	c.free, c.sizes[slot] = c.free[:n-1], size
	return slot
}

func (c *compiler) drop(slot uint32) {
	c.live -= uint64(c.sizes[slot])
	c.sizes[slot] = 0
	c.free = append(c.free, slot)
}

// end appends the frees of what is live.
func (c *compiler) end() *Program {
	p := c.p
	p.Slots, p.Timed = len(c.sizes), len(p.Ops)
	for slot, size := range c.sizes {
		if size > 0 {
			p.Ops = append(p.Ops, Op{Kind: OpFree, Slot: uint32(slot), Size: size})
		}
	}
	return p
}

// WriteTo writes the program as the content of a file and returns the number of bytes written. It builds the whole file
// in memory and calls w once. It does not verify the program. The error wraps that of w, or io.ErrShortWrite.
func (p *Program) WriteTo(w io.Writer) (int64, error) {
	le := binary.LittleEndian
	b := make([]byte, 0, programHeader+len(p.Ops)*opBytes)
	b = append(b, programMagic...)
	b = le.AppendUint32(b, programVersion)
	b = le.AppendUint32(b, uint32(p.Slots))
	for _, n := range []uint64{uint64(len(p.Ops)), uint64(p.Timed), uint64(p.Operations), uint64(p.PeakAt), p.Peak} {
		b = le.AppendUint64(b, n)
	}
	b = le.AppendUint32(b, p.Largest)
	b = le.AppendUint32(b, 0)
	for _, op := range p.Ops {
		b = append(b, byte(op.Kind), op.Shift, op.Tier, 0)
		b = le.AppendUint32(b, op.Slot)
		b = le.AppendUint32(b, op.Size)
		b = le.AppendUint32(b, op.Old)
	}
	le.PutUint32(b[programHeader-sumBytes:], programSum(b))
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		err = fmt.Errorf("trace: write program: %w", err)
	}
	return int64(n), err
}

func programSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:programHeader-sumBytes], castagnoli), castagnoli, b[programHeader:])
}

// ParseProgram reads the content of a program file. It verifies the checksum, the header and every operation. An alloc
// must name a vacant slot, a free or resize a live slot with its size. Shift must be in the range of its [OpKind], and
// 0 for kinds that do not allocate. Old must be 0 except in a resize. Slot and Size of a tick must be 0. Only frees may
// follow the operations of the trace, and they must free all blocks. The Ops of the result may share the memory of b:
// the caller must not change b. The error wraps ErrVersion or ErrFormat. For a truncated file it wraps ErrFormat.
func ParseProgram(b []byte) (*Program, error) {
	le := binary.LittleEndian
	if len(b) < len(programMagic) || string(b[:len(programMagic)]) != programMagic {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrFormat, programMagic)
	}
	if len(b) < programHeader {
		return nil, fmt.Errorf("%w: %d bytes are less than a header of %d", ErrFormat, len(b), programHeader)
	}
	if v := le.Uint32(b[8:]); v != programVersion {
		return nil, fmt.Errorf("%w: it is %d, this package reads %d", ErrVersion, v, programVersion)
	}
	n, timed, operations, peakAt := le.Uint64(b[16:]), le.Uint64(b[24:]), le.Uint64(b[32:]), le.Uint64(b[40:])
	slots := le.Uint32(b[12:])
	if rest := uint64(len(b) - programHeader); rest%opBytes != 0 || n != rest/opBytes {
		return nil, fmt.Errorf("%w: %d bytes follow the header, and %d operations need %d each", ErrFormat, rest, n, opBytes)
	}
	if got, want := programSum(b), le.Uint32(b[programHeader-sumBytes:]); got != want {
		return nil, fmt.Errorf("%w: its sum is %#x, not %#x", ErrFormat, got, want)
	}
	if timed > n || operations > timed || peakAt >= n && n > 0 || uint64(slots) > n {
		return nil, fmt.Errorf("%w: %d operations, %d of the trace, %d not ticks, %d slots, the peak at %d", ErrFormat, n, timed, operations, slots, peakAt)
	}
	p := &Program{
		Slots: int(slots), Ops: opsOf(b[programHeader:]), Timed: int(timed), Operations: int(operations),
		PeakAt: int(peakAt), Peak: le.Uint64(b[48:]), Largest: le.Uint32(b[56:]),
	}
	if err := p.verify(); err != nil {
		return nil, err
	}
	return p, nil
}

// opsOf returns the operations in b: the bytes themselves if the machine would have them so in memory, otherwise a copy.
func opsOf(b []byte) []Op {
	n, first := len(b)/opBytes, unsafe.SliceData(b)
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 && uintptr(unsafe.Pointer(first))%unsafe.Alignof(Op{}) == 0 {
		return unsafe.Slice((*Op)(unsafe.Pointer(first)), n)
	}
	ops := make([]Op, n)
	le := binary.LittleEndian
	for i := range ops {
		o := b[i*opBytes:]
		ops[i] = Op{Kind: OpKind(o[0]), Shift: o[1], Tier: o[2], Slot: le.Uint32(o[4:]), Size: le.Uint32(o[8:]), Old: le.Uint32(o[12:])}
	}
	return ops
}

// shiftsOf returns the allowed range of Shift.
func shiftsOf(k OpKind) (least, most uint8) {
	switch k {
	case OpAlloc:
		return 0, plainShift
	case OpAligned:
		return plainShift + 1, mostShift
	}
	return 0, 0
}

// verify runs the program without memory.
func (p *Program) verify() error {
	sizes := make([]uint32, p.Slots)
	operations, live, peak, peakAt, largest := 0, uint64(0), uint64(0), 0, uint32(0)
	for i, op := range p.Ops {
		bad := func(format string, args ...any) error {
			return fmt.Errorf("%w: operation %d: "+format, append([]any{ErrFormat, i}, args...)...)
		}
		if op.Kind >= opKinds {
			return bad("its kind is %d: at most %d is allowed", op.Kind, opKinds-1)
		}
		if least, most := shiftsOf(op.Kind); op.Shift < least || op.Shift > most || op.Tier > maxTier {
			return bad("kind %d has the alignment 1<<%d and tier %d: 1<<%d to 1<<%d and at most %d are allowed", op.Kind, op.Shift, op.Tier, least, most, maxTier)
		}
		if i >= p.Timed && op.Kind != OpFree {
			return bad("it is not a free, after the end of the trace")
		}
		if op.Kind != OpResize && op.Old != 0 {
			return bad("it is no resize and has the old size %d: only 0 is allowed", op.Old)
		}
		if op.Kind == OpTick {
			if op.Slot != 0 || op.Size != 0 {
				return bad("a tick has slot %d and size %d: only 0 is allowed", op.Slot, op.Size)
			}
			continue
		}
		if i < p.Timed {
			operations++
		}
		if op.Slot >= uint32(p.Slots) || op.Size < leastSize {
			return bad("slot %d of %d, %d bytes: at least %d bytes are allowed", op.Slot, p.Slots, op.Size, leastSize)
		}
		want := op.Old // that the slot must have
		switch op.Kind {
		case OpAlloc, OpAligned:
			want = 0
		case OpFree:
			want = op.Size
		}
		if was := sizes[op.Slot]; was != want || was == 0 && op.Kind == OpResize {
			return bad("slot %d has a block of %d bytes, and the operation needs one of %d", op.Slot, was, want)
		}
		sizes[op.Slot] = op.Size
		if live += uint64(op.Size) - uint64(want); op.Kind == OpFree {
			live -= uint64(op.Size)
			sizes[op.Slot] = 0
		}
		if largest = max(largest, op.Size); live > peak {
			peak, peakAt = live, i
		}
	}
	if live != 0 || operations != p.Operations || peak != p.Peak || peakAt != p.PeakAt || largest != p.Largest {
		return fmt.Errorf("%w: %d bytes stay live; %d operations, %d; peak %d at %d, %d at %d; largest %d, %d (found, in the header)", ErrFormat,
			live, operations, p.Operations, peak, peakAt, p.Peak, p.PeakAt, largest, p.Largest)
	}
	return nil
}
