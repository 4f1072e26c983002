package plan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
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

	"github.com/strata-go/strata/memory/internal/cputime"
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
	return p.total == q.total && p.dense == q.dense && p.bound == q.bound && slices.Equal(p.buffers, q.buffers) && slices.Equal(p.offsets, q.offsets)
}

func TestFile_ComesBackAsItWas(t *testing.T) {
	hard, _ := cut(1, 450, 0)
	large := []Buffer{{ID: math.MaxUint32, Size: 1, Align: MaxAlign, Death: 1}, {ID: 0, Size: 5, Death: 1}, {ID: 7, Size: 9, Align: 65536, Death: 2}}
	for _, set := range [][]Buffer{nil, frame, hard, large, {{Size: 1, Birth: math.MinInt, Death: math.MaxInt}}} {
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

// inVersion1 is the file as the first version of this package wrote it.
func inVersion1(p *Plan) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte(magic), 1)
	b = le.AppendUint32(b, uint32(p.Len()))
	b = le.AppendUint64(le.AppendUint64(b, uint64(p.total)), uint64(p.bound))
	for i, r := range p.buffers {
		b = le.AppendUint64(le.AppendUint64(b, uint64(r.Size)), uint64(p.offsets[i]))
		b = le.AppendUint64(le.AppendUint64(b, uint64(r.Birth)), uint64(r.Death))
		b = le.AppendUint32(b, uint32(r.Align))
	}
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func TestRead_AFileOfVersion1IsStillRead(t *testing.T) {
	hard, _ := cut(1, 450, 0)
	for _, set := range [][]Buffer{nil, frame, hard} {
		p := mustFast(t, set)
		b := inVersion1(p)
		q, err := Read(bytes.NewReader(b))
		if err != nil || !same(p, q) {
			t.Errorf("%d buffers: %v", len(set), err)
		}
		for bit := range 8 * min(len(b), 300) {
			b[bit/8] ^= 1 << (bit % 8)
			if _, err := Read(bytes.NewReader(b)); err == nil {
				t.Fatalf("bit %d of byte %d flipped: no error", bit%8, bit/8)
			}
			b[bit/8] ^= 1 << (bit % 8)
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

// half takes half of what it is given, and breaks the contract of io.Writer: it returns no error.
type half struct{}

func (half) Write(b []byte) (int, error) { return len(b) / 2, nil }

func TestPlan_ShortWriteIsAnError(t *testing.T) {
	if _, err := mustFast(t, frame).WriteTo(half{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v, want io.ErrShortWrite", err)
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
		{"it is 3, this package reads 1 and 2", ErrVersion, func(b []byte) { le.PutUint32(b[8:], 3) }},
		{"it is 0, this package reads 1 and 2", ErrVersion, func(b []byte) { le.PutUint32(b[8:], 0) }},
		{"where 5 buffers need 216", ErrFormat, func(b []byte) { le.PutUint32(b[8:], 1) }},
		{"4294967295 buffers", ErrFormat, func(b []byte) { le.PutUint32(b[12:], math.MaxUint32) }},
		{"where 6 buffers need", ErrFormat, func(b []byte) { le.PutUint32(b[12:], 6) }},
		{beyond("side by side"), ErrInvalid, func(b []byte) { le.PutUint64(b[16:], 1<<40) }},
		{"side by side", ErrInvalid, func(b []byte) { le.PutUint64(b[16:], 1<<30) }},
		{fmt.Sprintf("where %d buffers need", Count), ErrFormat, func(b []byte) { le.PutUint32(b[12:], Count) }},
		{fmt.Sprintf("%d buffers: at most", Count+1), ErrFormat, func(b []byte) { le.PutUint32(b[12:], Count+1) }},
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
		{"alignment 4194304", ErrInvalid, func(b []byte) { le.PutUint32(b[record(1, 32):], 2*MaxAlign) }},
		{"buffer 2 is declared twice", ErrInvalid, func(b []byte) { le.PutUint32(b[record(1, 36):], 2) }},
		{"buffer 2 follows buffer 7", ErrInvalid, func(b []byte) { le.PutUint32(b[record(1, 36):], 7) }},
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
	if _, err := Read(e); !errors.Is(err, ErrFormat) || e.read > 64<<20 {
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

// crowd is a plan of n buffers, a power of two, that are all alive at once, in no order.
func crowd(n int) *Plan {
	buffers, offsets := make([]Buffer, n), make([]uintptr, n)
	for i := range buffers {
		buffers[i] = Buffer{ID: uint32(i), Size: 16, Align: 16, Death: 1 + i}
		offsets[i] = uintptr(uint32(i*40503+7)%uint32(n)) * 16 // int has 32 bits on some systems
	}
	return &Plan{buffers: buffers, offsets: offsets, dense: n, total: uintptr(n) * 16, bound: uintptr(n) * 16}
}

// The largest file there can be, with every buffer alive at once, is judged in a time in proportion to it.
func TestRead_TheLargestFileIsJudgedSoon(t *testing.T) {
	took := func(p *Plan, b []byte) time.Duration {
		return cputime.Of(func() {
			if q, err := Read(bytes.NewReader(b)); err != nil || !same(p, q) {
				t.Errorf("Read: %v", err)
			}
		})
	}
	p, eighth := crowd(Count), crowd(Count/8)
	b, short := encoded(t, p), encoded(t, eighth)
	small := min(took(eighth, short), took(eighth, short), took(eighth, short))
	large := took(p, b)
	for range 2 { // a system without a clock of the thread counts the time of others
		if large > 32*small {
			large = min(large, took(p, b))
		}
	}
	if large > 32*small { // by pairs it is 64 times as much
		t.Errorf("a file of %d bytes takes %v, and one of %d %v", len(b), large, len(short), small)
	}
	offsets := p.offsets
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
	f.Add(inVersion1(mustFast(f, frame)), false)
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
		if b[8] == 1 && bytes.Equal(inVersion1(p), b) {
			return
		}
		if !bytes.Equal(encoded(t, p), b) {
			t.Fatal("the plan does not encode to what it was read from")
		}
	})
}

// A total that is no multiple of the smallest alignment comes out of no planner: the plan behind
// it in a block would lie askew.
func TestRead_ATotalThatIsNoMultipleOfTheAlignmentIsRefused(t *testing.T) {
	set := []Buffer{{ID: 0, Size: 10, Align: 64, Birth: 0, Death: 2}, {ID: 1, Size: 10, Align: 16, Birth: 1, Death: 3}}
	p := mustFast(t, set)
	for name, file := range map[string][]byte{"2": encoded(t, p), "1": inVersion1(p)} {
		if _, err := Read(bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		for _, more := range []int{-6, -1, 1, 8, 15, 16} {
			forged := slices.Clone(file)
			binary.LittleEndian.PutUint64(forged[16:], uint64(int(p.Total())+more))
			_, err := Read(bytes.NewReader(reseal(forged)))
			if want := fmt.Sprintf("plan: total %d is no multiple of the smallest alignment, 16", int(p.Total())+more); more != 16 && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want)) {
				t.Errorf("version %s, total %d: %v", name, int(p.Total())+more, err)
			} else if more == 16 && err != nil {
				t.Errorf("version %s: a multiple: %v", name, err)
			}
		}
	}
}
