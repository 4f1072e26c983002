package sound

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tlsf"
)

// newHeap is a heap whose blocks must all be back at the end of the test.
func newHeap(t testing.TB) *tlsf.Heap {
	t.Helper()
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := h.Stats().Live; n != 0 {
			t.Errorf("%d blocks were not freed", n)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// sample returns a sound of the game: 0.19 s at 32000 Hz, or 6.9 s of a loop at 22050 Hz.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(assets.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const (
	shot  = "sound/shot_0.ogg"
	drums = "sound/spore_drums.ogg"
)

// sealed puts the checksum into each page, up to the first that is malformed.
func sealed(data []byte) []byte {
	data = bytes.Clone(data)
	for p := data; len(p) > pageHead && string(p[:4]) == "OggS"; {
		n := pageHead + int(p[pageHead-1])
		if n > len(p) {
			break
		}
		for _, size := range p[pageHead:n] {
			n += int(size)
		}
		if n > len(p) {
			break
		}
		clear(p[22:26])
		sum := uint32(0)
		for _, b := range p[:n] {
			sum ^= uint32(b) << 24
			for range 8 {
				sum = sum<<1 ^ uint32(int32(sum)>>31)&0x04c11db7
			}
		}
		binary.LittleEndian.PutUint32(p[22:], sum)
		p = p[n:]
	}
	return data
}

// with returns a copy in which bytes are replaced.
func with(data []byte, at int, b ...byte) []byte {
	data = bytes.Clone(data)
	copy(data[at:], b)
	return data
}

// last returns where the last page begins.
func last(data []byte) int { return bytes.LastIndex(data, []byte("OggS")) }

func TestDecode_ReturnsAClipInABlockOfTheAllocator(t *testing.T) {
	h := newHeap(t)
	clip, err := Decode(bytes.NewReader(sample(t, shot)), h, nil)
	if err != nil {
		t.Fatal(err)
	}
	if clip.Rate != 32000 || clip.Channels != 1 || clip.Frames() != 6144 || clip.Bytes() != 12288 {
		t.Errorf("%d Hz, %d channels, %d frames, %d bytes", clip.Rate, clip.Channels, clip.Frames(), clip.Bytes())
	}
	if s := h.Stats(); s.Live != 1 {
		t.Errorf("%d blocks of the allocator are live; want the clip's", s.Live)
	}
	clip.Free(h)
}

func TestDecode_ReadsEverySoundOfTheGame(t *testing.T) {
	h := newHeap(t)
	names, err := fs.Glob(assets.FS(), "sound/*.ogg")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		clip, err := Decode(bytes.NewReader(sample(t, name)), h, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		clip.Free(h)
	}
}

// The last sample of a loop is the one before its first, as the file has both.
func TestDecode_ALoopEndsBeforeItsFirstSample(t *testing.T) {
	h := newHeap(t)
	data := sample(t, drums)
	clip, err := Decode(bytes.NewReader(data), h, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer clip.Free(h)
	whole, err := Decode(bytes.NewReader(sealed(bytes.Replace(data, []byte("LOOP"), []byte("loop"), 2))), h, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Free(h)
	const lead = 2048
	n := len(clip.PCM)
	if len(whole.PCM) != n+2*lead || n != 4*14*2700 {
		t.Fatalf("%d samples of %d", n, len(whole.PCM))
	}
	for _, c := range [][2]int{{0, lead}, {n / 2, n/2 + lead}, {n - 513, n - 513 + lead}, {n - 1, lead - 1}} {
		if clip.PCM[c[0]] != whole.PCM[c[1]] {
			t.Errorf("sample %d is %d; want %d", c[0], clip.PCM[c[0]], whole.PCM[c[1]])
		}
	}
}

func TestDecode_StopsWhenCancelledAndKeepsNothing(t *testing.T) {
	h := newHeap(t)
	asked := 0
	_, err := Decode(bytes.NewReader(sample(t, drums)), h, func() bool { asked++; return asked == 4 })
	if !errors.Is(err, ErrCancelled) || asked != 4 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if n := h.Stats().Live; n != 0 {
		t.Errorf("%d blocks are kept", n)
	}
}

func TestDecode_ReturnsTheAllocatorsErrors(t *testing.T) {
	data := sample(t, drums)
	for _, reserve := range []uintptr{16 << 10, 128 << 10} { // less than the file, and less than its samples
		h, err := tlsf.New(nil, tlsf.Config{Reserve: reserve})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Decode(bytes.NewReader(data), h, nil)
		if !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, memory.ErrTooLarge) {
			t.Errorf("%d bytes: %v", reserve, err)
		}
		if n := h.Stats().Live; n != 0 {
			t.Errorf("%d bytes: %d blocks are kept", reserve, n)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// nowhere is an allocator that must not be asked.
type nowhere struct{ memory.Allocator }

// sized is a file that says how long it is.
type sized struct {
	io.Reader
	size int64
}

func (s sized) Size() int64 { return s.size }

func TestDecode_RefusesHeadersBeforeItAllocates(t *testing.T) {
	good := sample(t, shot)
	id := pageHead + 1
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"nothing":           {nil, "ends too early, inside its first page of 58 bytes"},
		"half":              {good[:20], "ends too early, inside its first page of 58 bytes"},
		"a WAV":             {with(good, 0, []byte("RIFF")...), `"RIFF"; an Ogg file begins with "OggS"`},
		"a FLAC":            {with(good, 0, []byte("fLaC")...), `"fLaC"; an Ogg file begins with "OggS"`},
		"Opus":              {with(good, id, []byte("OpusHead")...), "Vorbis's identification header"},
		"two packets":       {with(good, pageHead-1, 2), "Vorbis's identification header of 30 bytes alone"},
		"no channel":        {with(good, id+11, 0), "0 channels; allowed is 1"},
		"stereo":            {with(good, id+11, 2), "2 channels; allowed is 1"},
		"slow":              {with(good, id+12, 0x3f, 0x1f), "7999 Hz; allowed are 22050 and 32000"},
		"another rate":      {with(good, id+12, 0x44, 0xac), "44100 Hz; allowed are 22050 and 32000"},
		"fast":              {with(good, id+12, 0x81, 0xbb), "48001 Hz; allowed are 22050 and 32000"},
		"huge rate":         {with(good, id+12, 0xff, 0xff, 0xff, 0xff), "4294967295 Hz; allowed are 22050 and 32000"},
		"small blocks":      {with(good, id+28, 0x85), "blocks of 2^5 and 2^8 samples; allowed are 2^6 to 2^13"},
		"large blocks":      {with(good, id+28, 0xf8), "blocks of 2^8 and 2^15 samples; allowed are 2^6 to 2^13"},
		"blocks in reverse": {with(good, id+28, 0x8b), "the short one first"},
	} {
		_, err := Decode(bytes.NewReader(c.data), nowhere{}, nil)
		if !errors.Is(err, ErrFormat) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v; want an ErrFormat with %q", name, err, c.says)
		}
	}
	if _, err := Decode(sized{bytes.NewReader(good), maxFile + 1}, nowhere{}, nil); !strings.Contains(fmt.Sprint(err), "a file of 2097153 bytes; allowed are 58 to 2097152") {
		t.Error(err)
	}
}

func TestDecode_RefusesSpoiledFiles(t *testing.T) {
	h := newHeap(t)
	good, music := sample(t, shot), sample(t, drums)
	granule := func(n uint64) []byte {
		return sealed(with(good, last(good)+6, binary.LittleEndian.AppendUint64(nil, n)...))
	}
	tag := func(old, now string) []byte { return sealed(bytes.Replace(music, []byte(old), []byte(now), 1)) }
	comments := headBytes + pageHead + int(good[headBytes+pageHead-1])
	count := comments + 7 + 4 + int(good[comments+7])
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"cut in half":           {good[:len(good)/2], "ends too early"},
		"cut in its headers":    {good[:headBytes+40], "ends too early, inside its headers"},
		"one page":              {good[:headBytes], "ends too early, inside its headers"},
		"cut before a page":     {good[:last(good)], "its last page is missing"},
		"cut in its only page":  {good[:len(good)-9], "headers: the file ends too early"},
		"cut in the last page":  {music[:len(music)-9], "of 155296: the file ends too early"},
		"a flipped bit":         {with(good, len(good)-99, good[len(good)-99]^4), "checksum"},
		"another setup":         {sealed(with(good, comments+200, good[comments+200]^1)), "the setup header of 3189 bytes is unknown; allowed are those of oggenc"},
		"the setup of a rate":   {sealed(with(good, pageHead+1+12, 0x22, 0x56)), "allowed are those of oggenc, -q 2 at 22050 Hz and -q 3 at 32000 Hz"},
		"a billion comments":    {sealed(with(good, count, 0, 0xca, 0x9a, 0x3b)), "the comments are malformed or more than 4"},
		"a long name":           {sealed(with(good, comments+7, 0xff, 0xff, 0xff, 0xff)), "the comments are malformed"},
		"no samples":            {granule(0), "0 samples; allowed are 1 to 4194304"},
		"fewer than none":       {granule(1 << 63), "samples; allowed are 1 to 4194304"},
		"an hour":               {granule(3600 * 32000), "115200000 samples; allowed are 1 to 4194304"},
		"a sample too many":     {granule(9000), "of 9000: the file ends too early"},
		"too few samples":       {granule(1000), "of 1000:"},
		"pages behind the last": {behindTheLast(good), "pages follow the page at byte 3356, which is marked as the last"},
		"a loop of words":       {tag("START=2048", "START=some"), `the tag LOOPSTART is "some"; allowed is a number of samples`},
		"a loop before":         {tag("START=2048", "START=-204"), "a loop of 151200 samples from -204 in a file of 155296"},
		"a loop behind":         {tag("START=2048", "START=9999"), "a loop of 151200 samples from 9999 in a file of 155296"},
		"a loop of none":        {tag("LENGTH=151200", "LENGTH=000000"), "a loop of 0 samples"},
		"a loop without length": {tag("LOOPLENGTH", "looplength"), "LOOPSTART and LOOPLENGTH must both be there"},
	} {
		_, err := Decode(bytes.NewReader(c.data), h, nil)
		if !errors.Is(err, ErrFormat) || !strings.Contains(fmt.Sprint(err), c.says) || strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s: %v; want one line with %q", name, err, c.says)
		}
		if n := h.Stats().Live; n != 0 {
			t.Fatalf("%s: %d blocks are kept", name, n)
		}
	}
	broken := sized{io.MultiReader(bytes.NewReader(good[:100]), &failing{}), int64(len(good))}
	if _, err := Decode(broken, h, nil); err != io.ErrClosedPipe {
		t.Errorf("%v; want the reader's error", err)
	}
}

// behindTheLast returns a file with the headers of good. Its first page of samples is marked as the last, and a page of
// empty packets follows.
func behindTheLast(good []byte) []byte {
	end := headBytes + pageHead + int(good[headBytes+pageHead-1])
	for _, n := range good[headBytes+pageHead : end] {
		end += int(n)
	}
	data := bytes.Clone(good[:end])
	for _, packets := range []int{2, 255} {
		page := append([]byte("OggS\x00\x04\x01"), make([]byte, pageHead-7+packets)...)
		page[pageHead-1] = byte(packets)
		data = append(data, page...)
	}
	return sealed(data)
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// FuzzDecode finds files that panic, keep a block, or give samples that were not promised. Pages get their checksums, so
// that the library sees what is in them.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"sound/move_0.ogg", shot} {
		f.Add(sample(f, name))
	}
	f.Add(sample(f, shot)[:headBytes+9])
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 32 << 20})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(bytes.NewReader(sealed(data)), h, nil)
		if err == nil {
			if c.Frames() == 0 || c.Channels != 1 || c.Rate < MinRate || c.Rate > MaxRate || c.Bytes() > MaxBytes {
				t.Errorf("a clip of %d frames, %d channels, %d Hz", c.Frames(), c.Channels, c.Rate)
			}
			c.Free(h)
		} else if !errors.Is(err, ErrFormat) {
			t.Errorf("%v is no ErrFormat", err)
		}
		if n := h.Stats().Live; n != 0 {
			t.Errorf("%d blocks are kept", n)
		}
	})
}

// BenchmarkDecode also reports the Go objects that a file costs.
func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{shot, "sound/lightning_0.ogg", MusicFile(Ember, 0), MusicFile(Ember, 3)} {
		b.Run(name, func(b *testing.B) {
			data := sample(b, name)
			h := newHeap(b)
			b.ReportAllocs()
			var samples int
			for b.Loop() {
				c, err := Decode(bytes.NewReader(data), h, nil)
				if err != nil {
					b.Fatal(err)
				}
				samples = len(c.PCM)
				c.Free(h)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(samples), "ns/sample")
		})
	}
}

// A tag that is no number is not repeated in full: it may have as many bytes as the file.
func TestPart_QuotesNoLongTag(t *testing.T) {
	_, _, err := part([]string{"LOOPLENGTH=" + strings.Repeat("9", 60_000)}, 9)
	if !errors.Is(err, ErrFormat) || len(err.Error()) > 200 || !strings.Contains(err.Error(), "allowed is a number of samples") {
		t.Errorf("%.300v", err)
	}
}
