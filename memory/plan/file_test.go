package plan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"
)

func encoded(t testing.TB, p *Plan) []byte {
	t.Helper()
	var buf bytes.Buffer
	n, err := p.WriteTo(&buf)
	if err != nil || n != int64(buf.Len()) {
		t.Fatalf("WriteTo = %d, %v; wrote %d", n, err, buf.Len())
	}
	return buf.Bytes()
}

func same(p, q *Plan) bool {
	return p.total == q.total && p.bound == q.bound && slices.Equal(p.buffers, q.buffers) && slices.Equal(p.offsets, q.offsets)
}

func TestFile_ComesBackAsItWas(t *testing.T) {
	hard, _ := cut(1, 450, 0)
	for _, set := range [][]Buffer{nil, frame, hard, {{Size: 1, Birth: math.MinInt, Death: math.MaxInt}}} {
		p := mustFast(t, set)
		b := encoded(t, p)
		if m, err := p.MarshalBinary(); err != nil || !bytes.Equal(m, b) {
			t.Errorf("MarshalBinary and WriteTo differ: %v", err)
		}
		q, err := Read(iotest.OneByteReader(bytes.NewReader(b)))
		if err != nil || !same(p, q) {
			t.Errorf("%d buffers: %v", len(set), err)
		}
	}
}

func TestLoad_NamesTheFile(t *testing.T) {
	p := mustFast(t, frame)
	fsys := fstest.MapFS{"level1.plan": {Data: encoded(t, p)}, "bad.plan": {Data: []byte("strplan")}}
	if q, err := Load(fsys, "level1.plan"); err != nil || !same(p, q) {
		t.Errorf("Load: %v", err)
	}
	if _, err := Load(fsys, "none.plan"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Load(fsys, "bad.plan"); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "bad.plan") {
		t.Errorf("a bad file: %v", err)
	}
}

// reseal repairs the sum, as one who forges would.
func reseal(b []byte) []byte {
	body := b[:len(b)-sumBytes]
	return binary.LittleEndian.AppendUint32(slices.Clone(body), crc32.Checksum(body, castagnoli))
}

func TestRead_EveryTruncationIsRefused(t *testing.T) {
	b := encoded(t, mustFast(t, frame))
	for n := range b {
		if _, err := Read(bytes.NewReader(b[:n])); !errors.Is(err, ErrFormat) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(b), err)
		}
		if n > headerBytes+sumBytes {
			if _, err := Read(bytes.NewReader(reseal(b[:n]))); !errors.Is(err, ErrFormat) {
				t.Fatalf("the first %d of %d bytes resealed: %v", n, len(b), err)
			}
		}
	}
	if _, err := Read(bytes.NewReader(append(b, 0))); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte after the end: %v", err)
	}
}

func TestRead_EveryFlippedBitIsFound(t *testing.T) {
	b := encoded(t, mustFast(t, frame))
	for bit := range 8 * len(b) {
		b[bit/8] ^= 1 << (bit % 8)
		if _, err := Read(bytes.NewReader(b)); err == nil {
			t.Fatalf("bit %d of byte %d flipped: no error", bit%8, bit/8)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
}

func TestRead_ForgedContentIsRefused(t *testing.T) {
	le := binary.LittleEndian
	record := func(id, field int) int { return headerBytes + id*recordBytes + field }
	// What is far too much for 64 bits is no number on 32.
	beyond := func(what string) string {
		if math.MaxInt == math.MaxInt32 {
			return "too large for this machine"
		}
		return what
	}
	for _, c := range []struct {
		want  string
		is    error
		forge func(b []byte)
	}{
		{"does not begin with", ErrFormat, func(b []byte) { b[0] = 'S' }},
		{"it is 2, this package reads 1", ErrVersion, func(b []byte) { le.PutUint32(b[8:], 2) }},
		{"4294967295 buffers", ErrFormat, func(b []byte) { le.PutUint32(b[12:], math.MaxUint32) }},
		{"where 6 buffers need", ErrFormat, func(b []byte) { le.PutUint32(b[12:], 6) }},
		{beyond("side by side"), ErrInvalid, func(b []byte) { le.PutUint64(b[16:], 1<<40) }},
		{"side by side", ErrInvalid, func(b []byte) { le.PutUint64(b[16:], 1<<30) }},
		{"where 65536 buffers need", ErrFormat, func(b []byte) { le.PutUint32(b[12:], Count) }},
		{"65537 buffers: at most", ErrFormat, func(b []byte) { le.PutUint32(b[12:], Count+1) }},
		{"too large for this machine", ErrInvalid, func(b []byte) { le.PutUint64(b[16:], math.MaxUint64) }},
		{"total 0 do not fit", ErrInvalid, func(b []byte) { le.PutUint64(b[16:], 0) }},
		{"bound 7", ErrInvalid, func(b []byte) { le.PutUint64(b[24:], 7) }},
		{beyond("add up to more"), ErrInvalid, func(b []byte) { le.PutUint64(b[record(0, 0):], math.MaxInt64) }},
		{"add up to more", ErrInvalid, func(b []byte) { le.PutUint64(b[record(0, 0):], math.MaxInt) }},
		{"overlap while both live", ErrInvalid, func(b []byte) { le.PutUint64(b[record(2, 8):], 0) }},
		{"is not aligned", ErrInvalid, func(b []byte) { le.PutUint64(b[record(1, 8):], 1) }},
		{beyond("ends beyond the total"), ErrInvalid, func(b []byte) { le.PutUint64(b[record(1, 8):], 1<<62) }},
		{"ends beyond the total", ErrInvalid, func(b []byte) { le.PutUint64(b[record(1, 8):], 1<<30) }},
		{"after its birth", ErrInvalid, func(b []byte) { le.PutUint64(b[record(1, 16):], 5) }},
		{"alignment 0", ErrInvalid, func(b []byte) { le.PutUint32(b[record(1, 32):], 0) }},
	} {
		b := encoded(t, mustFast(t, frame))
		c.forge(b)
		p, err := Read(bytes.NewReader(reseal(b)))
		if p != nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Read = %v; want %v with %q", err, c.is, c.want)
		}
	}
}

func TestRead_PassesOnWhatTheReaderSays(t *testing.T) {
	broken := errors.New("broken disk")
	if _, err := Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("Read = %v", err)
	}
	p := mustFast(t, frame)
	r, w := io.Pipe()
	_ = r.CloseWithError(broken)
	if n, err := p.WriteTo(w); n != 0 || !errors.Is(err, broken) {
		t.Errorf("WriteTo = %d, %v", n, err)
	}
}

// endless never ends: what is read of it must be bounded.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	return len(b), nil
}

func TestRead_EndlessInputIsRefused(t *testing.T) {
	e := new(endless)
	if _, err := Read(e); !errors.Is(err, ErrFormat) || e.read > 8<<20 {
		t.Errorf("after %d bytes: %v", e.read, err)
	}
}

// stuck gives neither bytes nor an error, for ever once n reads have succeeded.
type stuck struct {
	r io.Reader
	n int
}

func (s *stuck) Read(b []byte) (int, error) {
	if s.n--; s.n < 0 {
		return 0, nil
	}
	return s.r.Read(b[:1])
}

func TestRead_AReaderThatStandsStillIsLeft(t *testing.T) {
	b := encoded(t, mustFast(t, frame))
	for _, n := range []int{0, 1, 40, len(b)} {
		if _, err := Read(&stuck{bytes.NewReader(b), n}); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// hesitant gives nothing 99 times before each byte.
type hesitant struct {
	r     io.Reader
	calls int
}

func (h *hesitant) Read(b []byte) (int, error) {
	if h.calls++; h.calls%maxEmpty != 0 {
		return 0, nil
	}
	return h.r.Read(b[:1])
}

func TestRead_AReaderThatHesitatesIsReadToTheEnd(t *testing.T) {
	p := mustFast(t, frame)
	if q, err := Read(&hesitant{r: bytes.NewReader(encoded(t, p))}); err != nil || !same(p, q) {
		t.Errorf("Read: %v", err)
	}
}

// The largest file there can be, with every buffer alive at once, is judged in seconds.
func TestRead_TheLargestFileIsJudgedSoon(t *testing.T) {
	buffers, offsets := make([]Buffer, Count), make([]uintptr, Count)
	for i := range buffers {
		at := uint32(i*40503+7) % Count // in no order
		buffers[i] = Buffer{ID: uint32(i), Size: 16, Align: 16, Death: 1 + i}
		offsets[i] = uintptr(at) * 16
	}
	p := &Plan{buffers: buffers, offsets: offsets, total: Count * 16, bound: Count * 16}
	b := encoded(t, p)
	start := time.Now()
	q, err := Read(bytes.NewReader(b))
	if err != nil || !same(p, q) {
		t.Errorf("Read: %v", err)
	}
	if took := time.Since(start); took > 20*time.Second { // by pairs it was minutes
		t.Errorf("a file of %d bytes takes %v", len(b), took)
	}
	binary.LittleEndian.PutUint64(b[headerBytes+(Count-1)*recordBytes+8:], uint64(offsets[77]))
	if _, err := Read(bytes.NewReader(reseal(b))); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "overlap while both live") {
		t.Errorf("two share their bytes: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, set := range [][]Buffer{nil, frame, frame[:1]} {
		if p, err := Fast(set); err == nil {
			f.Add(encoded(f, p), false)
		}
	}
	b := encoded(f, mustFast(f, frame))
	f.Add(b, true)
	f.Add([]byte(magic), true)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal && len(b) > sumBytes {
			b = reseal(b)
		}
		p, err := Read(bytes.NewReader(b))
		if err != nil {
			if p != nil {
				t.Fatal("a plan and an error")
			}
			return
		}
		if err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoded(t, p), b) {
			t.Fatal("the plan does not encode to what it was read from")
		}
	})
}
