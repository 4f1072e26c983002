package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// program returns the events of a random program of n events, which names live blocks only.
func program(rng *rand.Rand, n int) (events []Event) {
	var live []uint64
	blocks := uint64(0)
	numbers := []uint64{0, 1, 127, 128, 4096, math.MaxUint32, maxSize}
	for range n {
		e := Event{Kind: Kind(rng.IntN(int(kinds)))}
		e.Tier = uint8(rng.IntN(maxTier + 1))
		if rng.IntN(4) == 0 {
			e.Thread = []uint32{1, 2, 300, math.MaxUint32}[rng.IntN(4)]
		}
		size := numbers[rng.IntN(len(numbers))]
		if (e.Kind == Free || e.Kind == Resize) && len(live) == 0 {
			e.Kind = Alloc
		}
		switch e.Kind {
		case Alloc:
			e.Block, e.Size, e.Align = blocks, size, 1<<rng.IntN(maxShift+1)
			live = append(live, blocks)
			blocks++
		case Free:
			k := rng.IntN(len(live))
			e.Block = live[k]
			live = slices.Delete(live, k, k+1)
		case Resize:
			e.Block, e.Size = live[rng.IntN(len(live))], size
		case Level:
			e.Begin = rng.IntN(2) == 0
		case Used:
			e.Size = size
		}
		events = append(events, e)
	}
	return events
}

var header = Header{Program: "game", Unit: "frame"}

// written returns the file of events.
func written(t testing.TB, cfg Config, events []Event) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, header, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Written() != int64(b.Len()) {
		t.Fatalf("Written %d, and there are %d bytes", w.Written(), b.Len())
	}
	return b.Bytes()
}

// events reads a file to its end or an error.
func events(file []byte) (all []Event, err error) {
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	for {
		e, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			if _, again := r.Next(); again != err {
				return all, fmt.Errorf("then %w, not %w", again, err)
			}
			return all, err
		}
		all = append(all, e)
	}
}

func TestTrace_RandomProgramsRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, cfg := range []Config{{}, {Compress: true}} {
		for _, n := range []int{0, 1, 7, 300, 40_000} {
			want := program(rng, n)
			file := written(t, cfg, want)
			got, err := events(file)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v: %d of %d events, %v", cfg, len(got), n, err)
			}
			r, err := NewReader(iotest.OneByteReader(bytes.NewReader(file)))
			if err != nil || r.Header() != header {
				t.Errorf("header %+v, %v", r.Header(), err)
			}
		}
	}
}

func TestTrace_CompressedIsSmaller(t *testing.T) {
	var e []Event
	for i := range uint64(100_000) {
		e = append(e, Event{Kind: Alloc, Block: i, Size: i % 7 * 16, Align: 16}, Event{Kind: Free, Block: i})
	}
	plain, packed := written(t, Config{}, e), written(t, Config{Compress: true}, e)
	if len(packed)*20 > len(plain) {
		t.Errorf("%d bytes compressed, %d not", len(packed), len(plain))
	}
	if got, err := events(packed); err != nil || !slices.Equal(got, e) {
		t.Errorf("%d of %d events, %v", len(got), len(e), err)
	}
}

func TestWriter_NumbersBlocksInOrder(t *testing.T) {
	w, err := NewWriter(io.Discard, Header{}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := w.Alloc(Where{}, 1, 1), w.Alloc(Where{Tier: 3}, 2, 8)
	if w.Free(Where{}, a); a != 0 || b != 1 || w.Blocks() != 2 {
		t.Errorf("blocks %d and %d of %d", a, b, w.Blocks())
	}
}

// small returns a trace of three chunks and the end, and where each of them begins.
func small(t *testing.T, cfg Config) (file []byte, starts []int, per []int) {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, header, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range program(rand.New(rand.NewPCG(3, 4)), 30) {
		if w.Append(e); i%10 == 9 {
			starts, per = append(starts, b.Len()), append(per, 10)
			w.flush()
		}
	}
	starts = append(starts, b.Len())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), starts, per
}

func TestReader_EveryTruncationYieldsWholeChunks(t *testing.T) {
	for _, cfg := range []Config{{}, {Compress: true}} {
		file, starts, _ := small(t, cfg)
		all, err := events(file)
		if err != nil || len(all) != 30 {
			t.Fatalf("%d events, %v", len(all), err)
		}
		for n := range file {
			want := 0
			for k := 1; k < len(starts); k++ {
				if n >= starts[k] {
					want = 10 * k
				}
			}
			got, err := events(file[:n])
			wrapped := ErrTruncated
			if n < len(magic) {
				wrapped = ErrFormat
			}
			if !errors.Is(err, wrapped) || !slices.Equal(got, all[:want]) {
				t.Errorf("%d of %d bytes: %d events, want %d; %v", n, len(file), len(got), want, err)
			}
			if n >= len(magic) && !strings.Contains(err.Error(), fmt.Sprintf("byte %d", n)) {
				t.Errorf("%d of %d bytes: %v does not say where", n, len(file), err)
			}
		}
	}
}

func TestReader_EveryFlippedBitIsRefused(t *testing.T) {
	for _, cfg := range []Config{{}, {Compress: true}} {
		file, _, _ := small(t, cfg)
		all, _ := events(file)
		for i := range file {
			for bit := range 8 {
				damaged := slices.Clone(file)
				damaged[i] ^= 1 << bit
				got, err := events(damaged)
				if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrTruncated) {
					t.Fatalf("byte %d bit %d: %v", i, bit, err)
				}
				if !slices.Equal(got, all[:len(got)]) {
					t.Fatalf("byte %d bit %d: %d events, of which some differ", i, bit, len(got))
				}
			}
		}
	}
}

func TestReader_MissingOrExtraBytesAreRefused(t *testing.T) {
	file, starts, _ := small(t, Config{})
	cut := func(from, to int) []byte { return slices.Concat(file[:from], file[to:]) }
	for name, damaged := range map[string][]byte{
		"a chunk is missing": cut(starts[1], starts[2]),
		"a chunk is doubled": slices.Concat(file[:starts[2]], file[starts[1]:]),
		"bytes after end":    append(slices.Clone(file), 0),
		"two traces":         slices.Concat(file, file),
		"a byte is missing":  cut(starts[1]+30, starts[1]+31),
	} {
		if _, err := events(damaged); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// chunked returns a file with one chunk of the given fields, whose sum is right, and the end.
func chunked(number, method uint32, stored []byte, plain, n int) []byte {
	h := chunkHead(number, method, stored, plain, n)
	e := end(number + 1)
	return slices.Concat(header.append(nil), h[:], stored, e[:])
}

func TestReader_HostileChunksAreRefused(t *testing.T) {
	ff := bytes.Repeat([]byte{0xff}, 11)
	alloc := []byte{byte(Alloc), 8, 3}
	for _, c := range []struct {
		why    string
		file   []byte
		events int
		want   string
	}{
		{"number", chunked(1, 0, alloc, 3, 1), 0, "its number is 1, want 0"},
		{"method", chunked(0, 2, alloc, 3, 1), 0, "0 and 1 are allowed"},
		{"lengths", chunked(0, 0, alloc, 4, 1), 0, "both must be equal"},
		{"ratio", chunked(0, 1, alloc, 4000, 1), 0, "one byte in 1032"},
		{"too long", chunked(0, 1, alloc, maxChunk+1, 1), 0, "at most 1048576 are allowed"},
		{"too many events", chunked(0, 0, alloc, 3, 4), 0, "at least one byte"},
		{"bytes without events", chunked(0, 0, alloc, 3, 0), 0, "the end has 0 and 0"},
		{"no deflate", chunked(0, 1, ff, 20, 1), 0, "decompression"},
		{"bytes after events", chunked(0, 0, append(alloc, 3), 4, 1), 0, "1 bytes after its last event"},
		{"missing event", chunked(0, 0, alloc, 3, 2), 1, "no bytes left"},
		{"kind", chunked(0, 0, []byte{byte(kinds)}, 1, 1), 0, "at most 5 is allowed"},
		{"kind 7", chunked(0, 0, []byte{7}, 1, 1), 0, "at most 5 is allowed"},
		{"thread 0", chunked(0, 0, []byte{byte(Tick) | hasThread, 0}, 2, 1), 0, "want 1 to 4294967295"},
		{"thread 2^32", chunked(0, 0, []byte{byte(Tick) | hasThread, 0x80, 0x80, 0x80, 0x80, 0x10}, 6, 1), 0, "want 1 to 4294967295"},
		{"thread cut", chunked(0, 0, []byte{byte(Tick) | hasThread}, 1, 1), 0, "no varint"},
		{"size cut", chunked(0, 0, []byte{byte(Alloc), 0x80}, 2, 1), 0, "no varint"},
		{"size of 65 bits", chunked(0, 0, append([]byte{byte(Alloc)}, ff...), 12, 1), 0, "no varint"},
		{"size", chunked(0, 0, []byte{byte(Alloc), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0}, 12, 1), 0, "at most 4611686018427387904 is allowed"},
		{"no alignment", chunked(0, 0, []byte{byte(Alloc), 8}, 2, 1), 0, "alignment"},
		{"alignment", chunked(0, 0, []byte{byte(Alloc), 8, 63}, 3, 1), 0, "above 1<<62"},
		{"free of none", chunked(0, 0, []byte{byte(Free), 0}, 2, 1), 0, "the distance is 0, and there are 0 blocks"},
		{"free too far", chunked(0, 0, append(alloc, byte(Free), 1), 5, 2), 1, "the distance is 1, and there are 1 blocks"},
		{"double free", chunked(0, 0, append(alloc, byte(Free), 0, byte(Free), 0), 7, 3), 2, "block 0 is named, and was freed"},
		{"resize of freed", chunked(0, 0, append(alloc, byte(Free), 0, byte(Resize), 0, 1), 8, 3), 2, "block 0 is named, and was freed"},
		{"level", chunked(0, 0, []byte{byte(Level), 2}, 2, 1), 0, "the level"},
	} {
		got, err := events(c.file)
		if !errors.Is(err, ErrFormat) || !strings.Contains(fmt.Sprint(err), c.want) || len(got) != c.events {
			t.Errorf("%s: %d events, %v; want %d, and %q", c.why, len(got), err, c.events, c.want)
		}
	}
}

func TestReader_HostileHeadersAreRefused(t *testing.T) {
	good := header.append(nil)
	for name, c := range map[string]struct {
		damage func(b []byte) []byte
		want   error
	}{
		"empty":      {func(b []byte) []byte { return nil }, ErrFormat},
		"other":      {func(b []byte) []byte { return []byte("strplan\x1A then anything at all") }, ErrFormat},
		"version":    {func(b []byte) []byte { b[8] = 2; return b }, ErrVersion},
		"long name":  {func(b []byte) []byte { b[13] = 1; return b }, ErrFormat},
		"long unit":  {func(b []byte) []byte { b[19] = 0xff; return b }, ErrFormat},
		"other text": {func(b []byte) []byte { return Header{Program: "a\x00b"}.append(nil) }, ErrFormat},
		"not UTF-8":  {func(b []byte) []byte { return Header{Unit: "\xff"}.append(nil) }, ErrFormat},
	} {
		if _, err := NewReader(bytes.NewReader(c.damage(slices.Clone(good)))); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A length in a file of a few bytes must not make the Reader allocate that much.
func TestReader_ForgedLengthAllocatesLittle(t *testing.T) {
	testenv.Long(t)
	h := chunkHead(0, asIs, nil, 0, 1)
	for i := 8; i < 16; i++ {
		h[i] = []byte{0, 0, 0x10, 0}[i%4] // 1 MiB, stored and plain
	}
	h[19] = 0
	file := append(header.append(nil), h[:]...)
	file = append(file, 1, 2, 3)
	cost := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := events(file); !errors.Is(err, ErrTruncated) {
				b.Fatal(err)
			}
		}
	})
	if n := cost.AllocedBytesPerOp(); n > 8<<10 {
		t.Errorf("%d bytes allocated for %d of input", n, len(file))
	}
}

func TestReader_ErrorsOfTheInputAreReturned(t *testing.T) {
	file, starts, _ := small(t, Config{})
	boom := errors.New("boom")
	for n := range file {
		r, err := NewReader(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(boom)))
		got := 0
		for err == nil {
			if _, err = r.Next(); err == nil {
				got++
			}
		}
		if !errors.Is(err, boom) || n >= starts[1] && got == 0 {
			t.Errorf("%d bytes: %d events, %v", n, got, err)
		}
	}
	if _, err := NewReader(nil); !errors.Is(err, memory.ErrConfig) {
		t.Errorf("a nil reader: %v", err)
	}
}

func TestWriter_BadArgumentsAreRefused(t *testing.T) {
	long := strings.Repeat("x", MaxText+1)
	for _, c := range []struct {
		w    io.Writer
		h    Header
		cfg  Config
		want string
	}{
		{nil, header, Config{}, "the writer is nil"},
		{(*bytes.Buffer)(nil), header, Config{}, "the writer is nil"},
		{io.Discard, Header{Program: long}, Config{}, "Program has 256 bytes: at most 255"},
		{io.Discard, Header{Unit: long}, Config{}, "Unit has 256 bytes: at most 255"},
		{io.Discard, Header{Program: "a\nb"}, Config{}, "control character"},
		{io.Discard, Header{Program: "\xff"}, Config{}, "not UTF-8"},
		{io.Discard, header, Config{Limit: -1}, "Limit -1: want at least 1024"},
		{io.Discard, header, Config{Limit: 1023}, "Limit 1023: want at least 1024"},
	} {
		if _, err := NewWriter(c.w, c.h, c.cfg); !errors.Is(err, memory.ErrConfig) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	file := written(t, Config{Limit: minLimit}, nil)
	if _, err := events(file); err != nil {
		t.Error(err)
	}
	w, err := NewWriter(io.Discard, Header{Program: long[1:], Unit: long[1:]}, Config{})
	if err != nil || w.Close() != nil {
		t.Error(err)
	}
}

func TestWriter_LimitEndsTheTrace(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, header, Config{Limit: 200 << 10})
	if err != nil {
		t.Fatal(err)
	}
	want := program(rand.New(rand.NewPCG(5, 6)), 60_000)
	for _, e := range want {
		w.Append(e)
	}
	if err := w.Close(); !errors.Is(err, ErrLimit) || w.Err() != err {
		t.Errorf("%v, then %v", err, w.Err())
	}
	got, err := events(b.Bytes())
	if err != nil || b.Len() > 200<<10 || b.Len() < 120<<10 || len(got) == 0 || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("%d bytes, %d events, %v", b.Len(), len(got), err)
	}
}

// A failing writer accepts some writes. Then it accepts a part of one, and fails or not.
type failing struct {
	bytes.Buffer
	writes, part int
	err          error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.writes--; f.writes >= 0 {
		return f.Buffer.Write(b)
	}
	n, _ := f.Buffer.Write(b[:min(f.part, len(b))])
	return n, f.err
}

func TestWriter_FailingWriterStopsTheRecording(t *testing.T) {
	full := errors.New("no space left")
	want := program(rand.New(rand.NewPCG(7, 8)), 100_000)
	for writes := range 5 {
		for _, c := range []struct {
			part int
			err  error
			want error
		}{{0, full, full}, {100, full, full}, {100, nil, io.ErrShortWrite}} {
			f := &failing{writes: writes, part: min(c.part, 10+writes*90), err: c.err}
			w, err := NewWriter(f, header, Config{})
			if (err != nil) != (writes == 0) {
				t.Fatalf("%d writes: %v", writes, err)
			}
			for _, e := range want {
				w.Append(e)
			}
			length := f.Len()
			if err := w.Close(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), fmt.Sprintf("at byte %d", length)) {
				t.Errorf("%d writes: %v", writes, err)
			}
			w.Tick(Where{})
			if again := w.Close(); again != w.Err() || f.Len() != length || f.writes != -1 {
				t.Errorf("%d writes: then %v, %d bytes", writes, again, f.Len())
			}
			got, err := events(f.Bytes())
			if writes == 0 {
				continue // there is not even a header
			}
			if writes > 1 && len(got) == 0 || !slices.Equal(got, want[:len(got)]) || !errors.Is(err, ErrTruncated) {
				t.Errorf("%d writes: %d events, %v", writes, len(got), err)
			}
		}
	}
}

// Between two writes, at any moment, the file is readable up to the last chunk, which is at most a second old.
func TestWriter_TicksKeepTheFileYoung(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	w, err := NewWriter(&b, header, Config{clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		w.Alloc(Where{}, uint64(i), 8)
		w.Tick(Where{})
		now = now.Add(time.Second / 60)
		got, err := events(b.Bytes())
		if lost := 2*(i+1) - len(got); !errors.Is(err, ErrTruncated) || lost > 2*40 {
			t.Fatalf("tick %d: %d of %d events, %v", i, len(got), 2*(i+1), err)
		}
	}
	if w.chunks < 20 || w.chunks > 40 {
		t.Errorf("%d chunks in 16 s", w.chunks)
	}
}

func TestWriter_EventsAfterCloseAreIgnored(t *testing.T) {
	var b bytes.Buffer
	w, _ := NewWriter(&b, header, Config{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := b.Len()
	for range 100_000 {
		w.Alloc(Where{}, 1, 1)
	}
	if err := w.Close(); err != nil || b.Len() != n {
		t.Errorf("%d bytes after Close, %v", b.Len()-n, err)
	}
}

func TestCopy_StopsAfterOperations(t *testing.T) {
	want := program(rand.New(rand.NewPCG(9, 10)), 1000)
	operations := 0
	for _, e := range want {
		if e.Kind <= Resize {
			operations++
		}
	}
	file := written(t, Config{}, want)
	for _, limit := range []int{0, 1, 10, operations, operations + 1} {
		r, err := NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w, _ := NewWriter(&b, r.Header(), Config{Compress: true})
		n, err := Copy(w, r, uint64(limit))
		expect := operations
		if limit > 0 {
			expect = min(limit, operations)
		}
		if err != nil || int(n) != expect || w.Close() != nil {
			t.Errorf("limit %d: %d operations, %v", limit, n, err)
		}
		got, err := events(b.Bytes())
		if err != nil || !slices.Equal(got, want[:len(got)]) || limit == 0 && len(got) != len(want) {
			t.Errorf("limit %d: %d events, %v", limit, len(got), err)
		}
	}
}

// Block numbers of another Writer, or kinds that do not exist, must not get into a trace that a Reader then refuses.
func TestWriter_AppendRefusesWhatNoReaderAccepts(t *testing.T) {
	var b bytes.Buffer
	w, _ := NewWriter(&b, header, Config{})
	want := []Event{{Kind: Alloc, Size: 8, Align: 8}, {Kind: Free}}
	if err := w.Append(want[0]); err != nil {
		t.Fatal(err)
	}
	for text, e := range map[string]Event{"kind(6): at most kind 5": {Kind: kinds}, "kind(255): at": {Kind: 255}, "free of block 1: the": {Kind: Free, Block: 1}, "resize of block 9": {Kind: Resize, Block: 9}} {
		if err := w.Append(e); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %s", err, text)
		}
	}
	if err := errors.Join(w.Append(want[1]), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := events(b.Bytes()); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCopy_RefusesAWriterWithOtherBlocks(t *testing.T) {
	file := written(t, Config{}, program(rand.New(rand.NewPCG(9, 10)), 1000))
	r, _ := NewReader(bytes.NewReader(file))
	var b bytes.Buffer
	w, _ := NewWriter(&b, header, Config{})
	w.Alloc(Where{}, 1, 1)
	if n, err := Copy(w, r, 0); n != 0 || !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), "Writer has 1 blocks after 1 events, and the Reader 0 after 0") || r.Blocks() != 0 {
		t.Errorf("%d operations, %v", n, err)
	}
	w, _ = NewWriter(&b, header, Config{})
	for range 2 { // Copy goes on where it stopped
		if _, err := Copy(w, r, 300); err != nil || w.Blocks() != r.Blocks() {
			t.Errorf("%d blocks of %d, %v", w.Blocks(), r.Blocks(), err)
		}
	}
}

// Events that the caller has read are missing in the Writer, also if both have as many blocks.
func TestCopy_RefusesAReaderThatWasRead(t *testing.T) {
	file := written(t, Config{}, []Event{{Kind: Tick}, {Kind: Alloc, Size: 8, Align: 8}, {Kind: Free}, {Kind: Tick}})
	for read := range 4 {
		r, _ := NewReader(bytes.NewReader(file))
		w, _ := NewWriter(io.Discard, header, Config{})
		for range read {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if r.Blocks() > 0 {
			w.Alloc(Where{}, 1, 1)
		}
		if n, err := Copy(w, r, 0); errors.Is(err, memory.ErrConfig) != (read > 0) || read > 0 && n > 0 {
			t.Errorf("%d events were read before: %d operations, %v", read, n, err)
		}
	}
}

func TestCopy_ReturnsErrorsOfBothSides(t *testing.T) {
	file := written(t, Config{}, program(rand.New(rand.NewPCG(9, 10)), 40_000))
	r, _ := NewReader(bytes.NewReader(file[:len(file)-1]))
	w, _ := NewWriter(io.Discard, header, Config{})
	if _, err := Copy(w, r, 0); !errors.Is(err, ErrTruncated) {
		t.Error(err)
	}
	r, _ = NewReader(bytes.NewReader(file))
	w, _ = NewWriter(&failing{writes: 1, err: io.ErrClosedPipe}, header, Config{})
	if n, err := Copy(w, r, 0); !errors.Is(err, io.ErrClosedPipe) || n > 39_000 {
		t.Errorf("%d operations, %v", n, err)
	}
}

func TestCopy_ClosedWriterIsReported(t *testing.T) {
	file := written(t, Config{}, program(rand.New(rand.NewPCG(9, 10)), 1000))
	for _, failed := range []bool{false, true} {
		var b bytes.Buffer
		w, _ := NewWriter(&b, header, Config{})
		want := memory.ErrClosed
		if failed {
			w, _ = NewWriter(&failing{writes: 1, err: errFull}, header, Config{})
			w.Tick(Where{})
			want = errFull
		}
		if err := w.Close(); (err != nil) != failed {
			t.Fatal(err)
		}
		n := b.Len()
		r, _ := NewReader(bytes.NewReader(file))
		if copied, err := Copy(w, r, 10); copied != 0 || !errors.Is(err, want) || r.Blocks() != 0 {
			t.Errorf("Copy: %d operations, %d blocks read, %v", copied, r.Blocks(), err)
		}
		for _, k := range []Kind{Alloc, Free, Resize, Tick, Level, Used} {
			if err := w.Append(Event{Kind: k, Align: 1}); !errors.Is(err, want) || errors.Is(err, memory.ErrClosed) == failed {
				t.Errorf("Append %v: %v", k, err)
			}
		}
		if err := w.Close(); b.Len() != n || err != w.Err() {
			t.Errorf("%d bytes after Close, %v", b.Len()-n, err)
		}
	}
}

func TestKind_NamesAreDistinct(t *testing.T) {
	if len(kindNames) != int(kinds) || Alloc.String() != "alloc" || Used.String() != "used" || Kind(kinds).String() != "kind(6)" {
		t.Errorf("%q, %s", kindNames, Kind(kinds))
	}
}

// FuzzReader gives the Reader any input, and compares what it accepts with what a Writer writes of it.
func FuzzReader(f *testing.F) {
	for _, cfg := range []Config{{}, {Compress: true}} {
		f.Add(written(f, cfg, program(rand.New(rand.NewPCG(11, 12)), 40)))
	}
	f.Add(chunked(0, 0, []byte{byte(Alloc), 8, 3, byte(Free), 0}, 5, 2))
	f.Fuzz(func(t *testing.T, file []byte) {
		all, err := events(file)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrTruncated) {
				t.Fatal(err)
			}
			return
		}
		again, err := events(written(t, Config{}, all))
		if err != nil || !slices.Equal(again, all) {
			t.Fatalf("%d events, then %d, %v", len(all), len(again), err)
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	w, _ := NewWriter(io.Discard, header, Config{})
	for b.Loop() {
		w.Free(Where{Tier: 5}, w.Alloc(Where{Tier: 5}, 48, 8))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/event")
}

func BenchmarkReader(b *testing.B) {
	file := written(b, Config{}, program(rand.New(rand.NewPCG(1, 2)), 10_000))
	for b.Loop() {
		if _, err := events(file); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(10_000*b.N), "ns/event")
}

// A leaver ends what calls its second Write.
type leaver struct {
	writes int
	leave  func()
}

func (l *leaver) Write(b []byte) (int, error) {
	if l.writes++; l.writes == 2 {
		l.leave()
	}
	return len(b), nil
}

func TestWriter_AWriteThatDoesNotReturnStopsTheRecording(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("write") }, "Goexit": runtime.Goexit} {
		out := &leaver{leave: leave}
		w, err := NewWriter(out, Header{Program: "p", Unit: "u"}, Config{})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan bool)
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			for range 1 << 17 {
				w.Alloc(Where{}, 1, 1)
			}
		}()
		<-done
		err = w.Err()
		if n := w.Blocks(); err == nil || n == 0 || n == 1<<17 {
			t.Errorf("%s: %v after %d blocks", name, err, n)
		}
		for range 1 << 17 {
			w.Alloc(Where{}, 1, 1)
		}
		if w.Close() != err || out.writes != 2 {
			t.Errorf("%s: %v, %d writes", name, err, out.writes)
		}
	}
}
