package trace

import (
	"bytes"
	"cmp"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Config sets the behaviour of a Writer. The zero Config suits a recording.
type Config struct {
	// Compress makes chunks of 1 MiB and compresses them with DEFLATE, as well as it can. Compression takes a
	// hundred times as long: use it for traces that are stored, not for a recording.
	Compress bool

	// Limit is the largest size of the trace in bytes, at least 1 KiB. 0 means no limit. If the next chunk does not
	// fit, the Writer drops the chunk and ends the trace, and the error of Err and Close wraps ErrLimit. A chunk has up
	// to 64 KiB of events, or 1 MiB with Compress: a Limit below the size of the first chunk drops all events.
	Limit int64

	clock func() time.Time // nil: time.Now; for tests
}

// ErrLimit means that a trace has reached Config.Limit. The trace is readable, and lacks its last events.
var ErrLimit = errors.New("trace: the limit is reached")

const (
	recordedChunk = 64 << 10 // bytes: of an ordinary game a few hundred ticks
	minLimit      = 1 << 10

	// chunkTime is how long a chunk collects events. After a kill the events of this time and of one tick are lost, which
	// is less than a second.
	chunkTime = time.Second / 2
)

// A Writer writes a trace. Each chunk is one Write of the io.Writer. A failed Write or Config.Limit stops the
// recording: Err and Close return the error. A Write that panics or ends its goroutine stops the recording, too. A
// panic passes through. The Writer drops the events of the failed chunk, all later events, and all events after Close.
// From then on Append and Copy return an error. Alloc, Free and the other methods for one event go on without an error,
// and Alloc still numbers the blocks.
//
// The caller must name only live blocks; the Writer does not check this. A Writer belongs to one goroutine at a time.
// Sizes above 2^62 are recorded as 2^62, and tiers above 15 as 15.
type Writer struct {
	w       io.Writer
	cfg     Config
	packer  *flate.Writer // nil without Compress
	packed  bytes.Buffer
	buf     []byte // the chunk: its header, then events; cap is what a chunk may have
	events  int    // in buf
	chunks  uint32
	blocks  uint64 // allocated so far
	before  uint64 // events of earlier chunks
	written int64
	started time.Time // of the chunk
	err     error
	closed  bool
}

// NewWriter writes the header and returns a Writer. If the header, the limit or w is invalid, the error wraps
// memory.ErrConfig. If w fails, the error wraps that of w, or io.ErrShortWrite.
func NewWriter(w io.Writer, h Header, cfg Config) (*Writer, error) {
	if invariant.Nil(w) {
		return nil, bad("the writer is nil: want one")
	}
	if err := h.check(); err != nil {
		return nil, bad("header: %v", err)
	}
	if cfg.Limit < 0 || cfg.Limit > 0 && cfg.Limit < minLimit {
		return nil, bad("Limit %d: want at least %d, or 0 for none", cfg.Limit, minLimit)
	}
	if cfg.clock == nil {
		cfg.clock = time.Now
	}
	t := &Writer{w: w, cfg: cfg}
	most := recordedChunk
	if cfg.Compress {
		most = maxChunk
		var err error
		if t.packer, err = flate.NewWriter(nil, flate.BestCompression); err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
	}
	t.buf = make([]byte, chunkHeader, chunkHeader+most)
	t.started = cfg.clock()
	t.write(h.append(nil))
	return t, t.err
}

// Err returns the error that has stopped the recording, or nil.
func (t *Writer) Err() error { return t.err }

// Blocks returns the number of blocks allocated so far: the number of the next block.
func (t *Writer) Blocks() uint64 { return t.blocks }

// recorded returns the number of events so far.
func (t *Writer) recorded() uint64 { return t.before + uint64(t.events) }

// Written returns the number of bytes written so far. Events that are collected for the next chunk do not count.
func (t *Writer) Written() int64 { return t.written }

// Alloc records the allocation of a block and returns its number. align must be a power of two up to 2^62; Alloc does
// not check this.
func (t *Writer) Alloc(at Where, size, align uint64) (block uint64) {
	b := t.begin(Alloc, at)
	b = appendNumber(b, min(size, maxSize))
	b = append(b, byte(bits.TrailingZeros64(align|1<<maxShift)))
	t.buf = b
	t.blocks++
	return t.blocks - 1
}

// Free records that a live block was freed.
func (t *Writer) Free(at Where, block uint64) {
	b := t.begin(Free, at)
	t.buf = appendNumber(b, t.blocks-1-block)
}

// Resize records that a live block has a new size, in place or moved.
func (t *Writer) Resize(at Where, block, size uint64) {
	b := t.begin(Resize, at)
	b = appendNumber(b, t.blocks-1-block)
	t.buf = appendNumber(b, min(size, maxSize))
}

// Tick records the end of a tick. The Writer collects events in a chunk, which is written when it is full and in Close.
// If half a second has passed since the last chunk was written, Tick writes the chunk, except with Config.Compress.
// [Writer.Err] returns the error of a failed write.
func (t *Writer) Tick(at Where) {
	t.buf = t.begin(Tick, at)
	if now := t.cfg.clock(); now.Sub(t.started) >= chunkTime && !t.cfg.Compress {
		t.flush()
	}
}

// Level records that a level begins or ends.
func (t *Writer) Level(at Where, begin bool) {
	b := t.begin(Level, at)
	n := uint64(0)
	if begin {
		n = 1
	}
	t.buf = appendNumber(b, n)
}

// Used records how many bytes of an arena were in use when its tick or level ended. For an arena, call Used once a tick
// or level, instead of Alloc, Free and Resize for its blocks.
func (t *Writer) Used(at Where, bytes uint64) {
	b := t.begin(Used, at)
	t.buf = appendNumber(b, min(bytes, maxSize))
}

// Append records an event. For Free and Resize, e.Block must be the number of a block in this Writer. For other kinds
// Append ignores e.Block. A Reader numbers the blocks itself. A block has the same number in the Reader and the Writer
// if you append all events of the Reader, from the first one, to a new Writer. If the Kind is unknown, or if the Writer
// has no block with this number, the error wraps memory.ErrConfig. Nothing is recorded then, and the recording goes on.
// Append does not check Align, nor whether the block is live. If the recording has stopped, Append returns the error of
// [Writer.Err]. After Close the error wraps memory.ErrClosed, unless the recording had stopped before.
func (t *Writer) Append(e Event) error {
	switch {
	case e.Kind >= kinds:
		return bad("append: an event of %v: at most kind %d is allowed", e.Kind, kinds-1)
	case (e.Kind == Free || e.Kind == Resize) && e.Block >= t.blocks:
		return bad("append: %v of block %d: the Writer has %d blocks", e.Kind, e.Block, t.blocks)
	}
	switch e.Kind {
	case Alloc:
		t.Alloc(e.Where, e.Size, e.Align)
	case Free:
		t.Free(e.Where, e.Block)
	case Resize:
		t.Resize(e.Where, e.Block, e.Size)
	case Tick:
		t.Tick(e.Where)
	case Level:
		t.Level(e.Where, e.Begin)
	case Used:
		t.Used(e.Where, e.Size)
	}
	return t.ended()
}

// ended returns the error of events that are dropped, or nil.
func (t *Writer) ended() error {
	if t.err == nil && t.closed {
		return fmt.Errorf("trace: the Writer is closed: %w", memory.ErrClosed)
	}
	return t.err
}

// Close writes the collected events and the end of the trace. If the recording has stopped, Close writes nothing. Close
// does not close the io.Writer. Close returns the error that has stopped the recording, or nil. A further Close returns
// the same value.
func (t *Writer) Close() error {
	if t.closed {
		return t.err
	}
	if t.err == nil {
		t.flush()
	}
	t.closed = true
	if t.err == nil {
		e := end(t.chunks)
		t.write(e[:])
	}
	return t.err
}

// begin begins an event and returns the buffer to append its numbers to. It writes the chunk if that is full. After an
// error, and after Close, events go into a buffer that is never written.
func (t *Writer) begin(kind Kind, at Where) []byte {
	if len(t.buf) > cap(t.buf)-maxEvent {
		t.flush()
	}
	t.events++
	first := byte(kind) | min(at.Tier, maxTier)<<kindBits
	if at.Thread == 0 {
		return append(t.buf, first)
	}
	return appendNumber(append(t.buf, first|hasThread), uint64(at.Thread))
}

// appendNumber is binary.AppendUvarint, inlined for numbers below 128.
func appendNumber(b []byte, n uint64) []byte {
	for n >= 1<<7 {
		b = append(b, byte(n)|1<<7)
		n >>= 7
	}
	return append(b, byte(n))
}

// flush writes the collected events as a chunk.
func (t *Writer) flush() {
	if t.events > 0 && t.err == nil && !t.closed {
		stored, method := t.stored()
		plain := len(t.buf) - chunkHeader
		h := chunkHead(t.chunks, method, stored[chunkHeader:], plain, t.events)
		copy(stored, h[:])
		if limit := t.cfg.Limit; limit > 0 && t.written+int64(len(stored))+chunkHeader > limit {
			e := end(t.chunks)
			if t.write(e[:]); t.err == nil {
				t.err = fmt.Errorf("%w: %d bytes", ErrLimit, limit)
			}
		} else {
			t.write(stored)
			t.chunks++
		}
	}
	t.before += uint64(t.events)
	t.buf, t.events = t.buf[:chunkHeader], 0
	t.started = t.cfg.clock()
}

// stored returns the chunk as it is stored, with space for its header.
func (t *Writer) stored() (chunk []byte, method uint32) {
	if t.packer == nil {
		return t.buf, asIs
	}
	t.packed.Reset()
	t.packed.Write(t.buf[:chunkHeader])
	t.packer.Reset(&t.packed)
	_, err := t.packer.Write(t.buf[chunkHeader:]) // to a bytes.Buffer, which never fails
	if err := cmp.Or(err, t.packer.Close()); err != nil || t.packed.Len() >= len(t.buf) {
		return t.buf, asIs
	}
	return t.packed.Bytes(), deflated
}

// errNoReturn stops a recording whose io.Writer does not return.
var errNoReturn = errors.New("the io.Writer panicked or ended its goroutine")

// write writes to the io.Writer and stops the recording if that fails or panics.
func (t *Writer) write(b []byte) {
	n, err := 0, errNoReturn
	defer func() {
		if t.written += int64(max(n, 0)); err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		if err != nil {
			t.err = fmt.Errorf("trace: write at byte %d: %w", t.written, err)
		}
	}()
	n, err = t.w.Write(b)
}

// Copy appends events of r to t. An event that allocates, frees or resizes a block is an operation. Copy stops after
// `limit` operations; 0 means no limit. It returns the number of operations. At the end of r and at the limit the error
// is nil. If r or [Writer.Append] fails, Copy returns its error. If t is closed or stopped, Copy reads nothing and
// returns the error of Append.
//
// Call Copy only if r and t are new, or if t has recorded exactly the events that r has returned (see [Writer.Append]).
// If the numbers of events or of blocks differ, Copy reads nothing, and the error wraps memory.ErrConfig.
func Copy(t *Writer, r *Reader, limit uint64) (operations uint64, err error) {
	if err := t.ended(); err != nil {
		return 0, err
	}
	if t.blocks != r.blocks || t.recorded() != r.returned() {
		return 0, bad("copy: the Writer has %d blocks after %d events, and the Reader %d after %d: want the same events",
			t.blocks, t.recorded(), r.blocks, r.returned())
	}
	for limit == 0 || operations < limit {
		e, err := r.Next()
		switch {
		case err == io.EOF:
			return operations, nil
		case err != nil:
			return operations, err
		}
		if err := t.Append(e); err != nil {
			return operations, err
		}
		if e.Kind <= Resize {
			operations++
		}
	}
	return operations, nil
}
