package trace

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Reader reads a trace, on one goroutine at a time. It checks the checksum of each chunk before it returns the
// chunk's events, and that each Free and Resize names a live block.
type Reader struct {
	r      io.Reader
	header Header
	at     int64 // bytes read
	chunks uint32
	chunk  bytes.Buffer // as it is stored
	plain  bytes.Buffer
	packed io.ReadCloser // the decompressor; nil before the first compressed chunk
	events []byte        // of the chunk, those that are not decoded yet
	left   uint32        // how many these must be
	known  uint64        // events of the chunks read so far
	blocks uint64
	freed  []uint64 // a bit for each block
	err    error
}

// NewReader reads the header. The error wraps ErrFormat, ErrVersion, ErrTruncated or the error of r. An input of less
// than 8 bytes is ErrFormat. If r is nil, the error wraps memory.ErrConfig. The Reader does not close r.
func NewReader(r io.Reader) (*Reader, error) {
	if invariant.Nil(r) {
		return nil, bad("the reader is nil: want one")
	}
	t := &Reader{r: r}
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	return t, nil
}

// Header returns the description of the recording.
func (t *Reader) Header() Header { return t.header }

// Blocks returns how many blocks are allocated by the events that Next has returned.
func (t *Reader) Blocks() uint64 { return t.blocks }

// returned returns the number of events that Next has returned.
func (t *Reader) returned() uint64 { return t.known - uint64(t.left) }

func (t *Reader) readHeader() error {
	b, err := t.read(nil, headerBytes, "the header")
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		if err != nil && !errors.Is(err, ErrTruncated) {
			return err
		}
		return fmt.Errorf("%w: it does not begin with %q", ErrFormat, magic)
	}
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	if v := le.Uint32(b[8:]); v != version {
		return fmt.Errorf("%w: it is %d, this package reads %d", ErrVersion, v, version)
	}
	name, unit := le.Uint32(b[12:]), le.Uint32(b[16:])
	if name > maxTexts || unit > maxTexts {
		return fmt.Errorf("%w: the texts of the header have %d and %d bytes: at most %d are allowed", ErrFormat, name, unit, maxTexts)
	}
	if b, err = t.read(b, int(name+unit+sumBytes), "the header"); err != nil {
		return err
	}
	body := b[:len(b)-sumBytes]
	if got, want := crc32.Checksum(body, castagnoli), le.Uint32(b[len(body):]); got != want {
		return fmt.Errorf("%w: the sum of the header is %#x, not %#x", ErrFormat, got, want)
	}
	texts := string(body[headerBytes:])
	t.header = Header{Program: texts[:name], Unit: texts[name:]}
	if err := t.header.check(); err != nil {
		return fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	return nil
}

// read appends n bytes of the input to b. If there are fewer, the error wraps ErrTruncated. N is small.
func (t *Reader) read(b []byte, n int, what string) ([]byte, error) {
	from := len(b)
	b = append(b, make([]byte, n)...)
	got, err := io.ReadFull(t.r, b[from:])
	t.at += int64(got)
	return b[:from+got], t.short(err, what)
}

// short turns an early end into an error that wraps ErrTruncated.
func (t *Reader) short(err error, what string) error {
	switch {
	case err == nil:
		return nil
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return fmt.Errorf("%w: it ends at byte %d, in %s", ErrTruncated, t.at, what)
	}
	return fmt.Errorf("trace: read at byte %d: %w", t.at, err)
}

// Next returns the next event. After the last event of a complete trace the error is io.EOF. Any other error wraps
// ErrFormat, ErrTruncated or the error of the input. All later calls return the same error.
func (t *Reader) Next() (Event, error) {
	for t.err == nil && t.left == 0 {
		t.err = t.nextChunk()
	}
	if t.err != nil {
		return Event{}, t.err
	}
	e, err := t.decode()
	if err != nil {
		t.err = fmt.Errorf("%w: chunk %d, %d events before its end: %w", ErrFormat, t.chunks-1, t.left, err)
		return Event{}, t.err
	}
	if t.left--; t.left == 0 && len(t.events) > 0 {
		t.err = fmt.Errorf("%w: chunk %d has %d bytes after its last event: none are allowed", ErrFormat, t.chunks-1, len(t.events))
		return Event{}, t.err
	}
	return e, nil
}

// nextChunk reads a chunk. At the end of the trace the error is io.EOF.
func (t *Reader) nextChunk() error {
	var h [chunkHeader]byte
	what := fmt.Sprintf("chunk %d", t.chunks)
	b, err := t.read(h[:0], chunkHeader, what)
	if err != nil {
		return err
	}
	copy(h[:], b)
	le := binary.LittleEndian
	number, method, stored, plain, events := le.Uint32(h[0:]), le.Uint32(h[4:]), le.Uint32(h[8:]), le.Uint32(h[12:]), le.Uint32(h[16:])
	badChunk := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s before byte %d: "+format, append([]any{ErrFormat, what, t.at}, args...)...)
	}
	switch {
	case number != t.chunks:
		return badChunk("its number is %d, want %d", number, t.chunks)
	case stored > maxChunk || plain > maxChunk:
		return badChunk("it has %d bytes of events, stored in %d: at most %d are allowed", plain, stored, maxChunk)
	case method > deflated:
		return badChunk("its method is %d: 0 and 1 are allowed", method)
	case method == asIs && plain != stored:
		return badChunk("it has %d bytes of events, stored in %d: without compression both must be equal", plain, stored)
	case uint64(plain) > maxRatio*uint64(stored):
		return badChunk("it has %d bytes of events, stored in %d: DEFLATE needs at least one byte in %d", plain, stored, maxRatio)
	case events > plain:
		return badChunk("it has %d events in %d bytes: an event has at least one byte", events, plain)
	}
	t.chunk.Reset()
	n, err := io.CopyN(&t.chunk, t.r, int64(stored))
	t.at += n
	if err := t.short(err, what); err != nil {
		return err
	}
	if got, want := chunkSum(&h, t.chunk.Bytes()), le.Uint32(h[summedBytes:]); got != want {
		return badChunk("its sum is %#x, not %#x", got, want)
	}
	t.chunks++
	if events == 0 {
		if method != asIs || stored != 0 {
			return badChunk("it has no events, and %d bytes with method %d: the end has 0 and 0", stored, method)
		}
		return t.atEnd()
	}
	t.events, t.left = t.chunk.Bytes(), events
	t.known += uint64(events)
	if method == deflated {
		if err := t.inflate(int(plain)); err != nil {
			return badChunk("%w", err)
		}
	}
	return nil
}

// inflate decompresses the chunk.
func (t *Reader) inflate(plain int) error {
	t.plain.Reset()
	in := bytes.NewReader(t.chunk.Bytes())
	if t.packed == nil {
		t.packed = flate.NewReader(in)
	} else if err := t.packed.(flate.Resetter).Reset(in, nil); err != nil {
		return fmt.Errorf("decompression: %w", err)
	}
	if _, err := io.Copy(&t.plain, io.LimitReader(t.packed, int64(plain)+1)); err != nil {
		return fmt.Errorf("decompression: %w", err)
	}
	if t.plain.Len() != plain {
		return fmt.Errorf("decompression: want %d bytes, and there are %d or more", plain, t.plain.Len())
	}
	if in.Len() > 0 {
		return fmt.Errorf("decompression: %d bytes follow: none are allowed", in.Len())
	}
	t.events = t.plain.Bytes()
	return nil
}

// atEnd checks that nothing follows the end of the trace.
func (t *Reader) atEnd() error {
	switch n, err := io.CopyN(io.Discard, t.r, 1); {
	case n > 0:
		return fmt.Errorf("%w: bytes follow its end at byte %d: none are allowed", ErrFormat, t.at)
	case err != io.EOF:
		return fmt.Errorf("trace: read at byte %d: %w", t.at, err)
	}
	return io.EOF
}

// number decodes a varint.
func (t *Reader) number(what string) (uint64, error) {
	v, n := binary.Uvarint(t.events)
	if n <= 0 {
		return 0, fmt.Errorf("%s is no varint of 64 bits", what)
	}
	t.events = t.events[n:]
	return v, nil
}

// bytes decodes a number of bytes.
func (t *Reader) bytes(what string) (uint64, error) {
	v, err := t.number(what)
	if err == nil && v > maxSize {
		err = fmt.Errorf("%s is %d: at most %d is allowed", what, v, uint64(maxSize))
	}
	return v, err
}

// live decodes a distance and returns the number of the live block.
func (t *Reader) live() (uint64, error) {
	d, err := t.number("the distance")
	switch {
	case err != nil:
		return 0, err
	case d >= t.blocks:
		return 0, fmt.Errorf("the distance is %d, and there are %d blocks", d, t.blocks)
	}
	block := t.blocks - 1 - d
	if t.freed[block/64]>>(block%64)&1 != 0 {
		return 0, fmt.Errorf("block %d is named, and was freed", block)
	}
	return block, nil
}

// decode decodes an event.
func (t *Reader) decode() (e Event, err error) {
	if len(t.events) == 0 {
		return e, errors.New("there are no bytes left")
	}
	first := t.events[0]
	t.events = t.events[1:]
	e.Kind = Kind(first & (1<<kindBits - 1))
	e.Tier = first >> kindBits & (1<<tierBits - 1)
	if e.Kind >= kinds {
		return e, fmt.Errorf("its kind is %d: at most %d is allowed", e.Kind, kinds-1)
	}
	if first&hasThread != 0 {
		v, err := t.number("the thread")
		if err == nil && (v == 0 || v > math.MaxUint32) {
			err = fmt.Errorf("the thread is %d: want 1 to %d", v, uint32(math.MaxUint32))
		}
		if err != nil {
			return e, err
		}
		e.Thread = uint32(v)
	}
	return e, t.decodeRest(&e)
}

// decodeRest decodes what follows the thread.
func (t *Reader) decodeRest(e *Event) (err error) {
	switch e.Kind {
	case Alloc:
		if e.Size, err = t.bytes("the size"); err != nil {
			return err
		}
		if len(t.events) == 0 || t.events[0] > maxShift {
			return fmt.Errorf("the alignment is missing or above 1<<%d", maxShift)
		}
		e.Align = 1 << t.events[0]
		t.events = t.events[1:]
		e.Block = t.blocks
		if t.blocks++; t.blocks > uint64(len(t.freed))*64 {
			t.freed = append(t.freed, 0)
		}
	case Free:
		if e.Block, err = t.live(); err == nil {
			t.freed[e.Block/64] |= 1 << (e.Block % 64)
		}
	case Resize:
		if e.Block, err = t.live(); err == nil {
			e.Size, err = t.bytes("the new size")
		}
	case Level:
		v, err := t.number("the level")
		if err != nil || v > 1 {
			return errors.New("the level neither begins (1) nor ends (0)")
		}
		e.Begin = v == 1
	case Used:
		e.Size, err = t.bytes("the bytes in use")
	}
	return err
}
