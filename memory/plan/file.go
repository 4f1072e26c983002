package plan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"

	"github.com/strata-go/strata/memory"
)

// A plan file, little endian, of headerBytes + n * recordBytes + 4 bytes:
//
//	0   magic "strplan" 0x1A
//	8   version uint32           2
//	12  n       uint32           buffers
//	16  total   uint64           bytes
//	24  bound   uint64           bytes
//	32  n records in order of ID:
//	    size, offset uint64; birth, death int64; align uint32; id uint32
//	    CRC-32C of everything above, uint32
//
// Version 1, which is still read, has no id in its records: they count from 0.
const (
	magic       = "strplan\x1A"
	version     = 2
	headerBytes = 32
	recordBytes = 40
	recordOfV1  = 36
	sumBytes    = 4
)

// The errors of Read and Load, besides the errors of the reader. Test with errors.Is.
var (
	// ErrFormat means that the file is no plan, is damaged, has more than [Count] buffers, or has bytes
	// after its end.
	ErrFormat = errors.New("plan: not a plan file, or damaged")

	// ErrVersion means that the file has a version of the format that this package does not read.
	ErrVersion = errors.New("plan: unknown version of the plan file")

	// ErrInvalid means that the file is complete, but its plan does not pass Verify or is too large for this machine.
	ErrInvalid = errors.New("plan: the plan in the file does not verify")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary returns the plan as the content of a file. Every machine returns the same bytes for a plan. The error
// is always nil.
func (p *Plan) MarshalBinary() ([]byte, error) {
	le := binary.LittleEndian
	b := make([]byte, 0, headerBytes+p.Len()*recordBytes+sumBytes)
	b = append(b, magic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, uint32(p.Len()))
	b = le.AppendUint64(b, uint64(p.total))
	b = le.AppendUint64(b, uint64(p.bound))
	for i, r := range p.buffers {
		b = le.AppendUint64(b, uint64(r.Size))
		b = le.AppendUint64(b, uint64(p.offsets[i]))
		b = le.AppendUint64(b, uint64(r.Birth))
		b = le.AppendUint64(b, uint64(r.Death))
		b = le.AppendUint32(b, uint32(r.Align))
		b = le.AppendUint32(b, r.ID)
	}
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// WriteTo writes the plan as the content of a file and returns the number of bytes written. It calls w once. The error
// wraps the error of w, or io.ErrShortWrite.
func (p *Plan) WriteTo(w io.Writer) (int64, error) {
	b, err := p.MarshalBinary()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		err = fmt.Errorf("plan: write: %w", err)
	}
	return int64(n), err
}

// Load opens the named file of fsys and reads a plan from it, as [Read] does. The error wraps the error of Open, of
// Read or of Close.
func Load(fsys fs.FS, name string) (*Plan, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("plan: load: %w", err)
	}
	p, err := Read(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("plan: load %s: %w", name, err)
	}
	return p, nil
}

// patient returns io.ErrNoProgress if its reader repeatedly returns neither bytes nor an error.
type patient struct {
	r     io.Reader
	empty int // reads without a byte, one after the other
}

// maxEmpty is what package bufio allows, too.
const maxEmpty = 100

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if n > 0 || err != nil {
		p.empty = 0
	} else if p.empty++; p.empty == maxEmpty {
		return 0, io.ErrNoProgress
	}
	return n, err
}

// Read reads a plan file to the end of r, checks its checksum, and verifies the plan. Read stops early if r has more
// bytes than a plan can have. The error wraps ErrFormat, ErrVersion, ErrInvalid or the error of r. If r repeatedly
// returns neither bytes nor an error, the error wraps io.ErrNoProgress. The memory that Read allocates is
// proportional to the bytes of r, even if the header of the file is forged.
func Read(r io.Reader) (*Plan, error) {
	const most = headerBytes + Count*recordBytes + sumBytes
	b, err := io.ReadAll(io.LimitReader(&patient{r: r}, most+1))
	if err != nil {
		return nil, fmt.Errorf("plan: read: %w", err)
	}
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrFormat, magic)
	}
	if len(b) < headerBytes+sumBytes {
		return nil, fmt.Errorf("%w: %d bytes are less than a header", ErrFormat, len(b))
	}
	le := binary.LittleEndian
	record := uint64(recordBytes)
	switch v := le.Uint32(b[8:]); v {
	case version:
	case 1:
		record = recordOfV1
	default:
		return nil, fmt.Errorf("%w: it is %d, this package reads 1 and %d", ErrVersion, v, version)
	}
	n := uint64(le.Uint32(b[12:]))
	if n > Count {
		return nil, fmt.Errorf("%w: %d buffers: at most %d are allowed", ErrFormat, n, Count)
	}
	if want := headerBytes + n*record + sumBytes; uint64(len(b)) != want {
		return nil, fmt.Errorf("%w: %d bytes where %d buffers need %d", ErrFormat, len(b), n, want)
	}
	body := b[:len(b)-sumBytes]
	if got, want := crc32.Checksum(body, castagnoli), le.Uint32(b[len(body):]); got != want {
		return nil, fmt.Errorf("%w: its sum is %#x, not %#x", ErrFormat, got, want)
	}
	return decode(body, int(n), int(record))
}

// decode decodes a body of the right length and checksum. The numbers may still be forged, or too large for this
// machine.
func decode(b []byte, n, record int) (*Plan, error) {
	le := binary.LittleEndian
	fits := true
	number := func(at int) uintptr {
		v := le.Uint64(b[at:])
		fits = fits && v <= math.MaxInt
		return uintptr(v)
	}
	moment := func(at int) int {
		v := int64(le.Uint64(b[at:]))
		fits = fits && int64(int(v)) == v
		return int(v)
	}
	p := &Plan{buffers: make([]Buffer, n), offsets: make([]uintptr, n), total: number(16), bound: number(24)}
	for i := range n {
		at := headerBytes + i*record
		p.offsets[i] = number(at + 8)
		p.buffers[i] = Buffer{
			ID: uint32(i), Size: number(at), Birth: moment(at + 16), Death: moment(at + 24),
			Align: uintptr(le.Uint32(b[at+32:])),
		}
		if record == recordBytes {
			p.buffers[i].ID = le.Uint32(b[at+36:])
		}
	}
	if !fits {
		return nil, fmt.Errorf("%w: a number in it is too large for this machine: %w", ErrInvalid, memory.ErrTooLarge)
	}
	p.dense = densePrefix(p.buffers)
	if err := p.Verify(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return p, nil
}
