package sound

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/sound/codec"
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

// pack returns a file of n samples of noise in frames of 512.
func pack(rate, n int) []byte {
	x, s := make([]float64, n), uint32(1)
	for i := range x {
		s = s*1664525 + 1013904223
		x[i] = float64(int32(s)) / (1 << 32)
	}
	return codec.Encode(x, rate, false, 512)
}

func TestDecode_ReturnsAClipInABlockOfTheAllocator(t *testing.T) {
	h := newHeap(t)
	clip, err := Decode(bytes.NewReader(pack(32000, 3000)), h, nil)
	if err != nil {
		t.Fatal(err)
	}
	if clip.Rate != 32000 || clip.Channels != 1 || clip.Frames() != 3000 || clip.Bytes() != 6000 {
		t.Errorf("%d Hz, %d channels, %d frames, %d bytes", clip.Rate, clip.Channels, clip.Frames(), clip.Bytes())
	}
	if s := h.Stats(); s.Live != 1 {
		t.Errorf("%d blocks of the allocator are live; want the clip's", s.Live)
	}
	clip.Free(h)
}

func TestDecode_ReadsEverySoundOfTheGame(t *testing.T) {
	h := newHeap(t)
	names, err := fs.Glob(assets.FS(), "sound/*.snd")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(assets.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		clip, err := Decode(bytes.NewReader(data), h, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		clip.Free(h)
	}
}

func TestDecode_StopsWhenCancelledAndKeepsNothing(t *testing.T) {
	h := newHeap(t)
	asked := 0
	_, err := Decode(bytes.NewReader(pack(22050, 10000)), h, func() bool { asked++; return asked == 4 })
	if !errors.Is(err, ErrCancelled) || asked != 4 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if n := h.Stats().Live; n != 0 {
		t.Errorf("%d blocks are kept", n)
	}
}

func TestDecode_ReturnsTheAllocatorsErrors(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	file := codec.Encode(make([]float64, 2<<20), 44100, false, 2048)
	_, err = Decode(bytes.NewReader(file), h, nil)
	if !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if n := h.Stats().Live; n != 0 {
		t.Errorf("%d blocks are kept", n)
	}
}

// nowhere is an allocator that must not be asked.
type nowhere struct{ memory.Allocator }

func TestDecode_RefusesHeadersBeforeItAllocates(t *testing.T) {
	good := pack(22050, 1000)
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"nothing": {nil, "ends too early, inside its header of 20 bytes"},
		"half":    {good[:10], "ends too early, inside its header of 20 bytes"},
		"a WAV":   {append([]byte("RIFF"), good[4:]...), `"RIFF"; a sound begins with "SSND"`},
		"no rate": {append(bytes.Clone(good[:6]), make([]byte, 20)...), "0 Hz; allowed are 8000 to 48000"},
	} {
		_, err := Decode(bytes.NewReader(c.data), nowhere{}, nil)
		if !errors.Is(err, ErrFormat) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v; want an ErrFormat with %q", name, err, c.says)
		}
	}
}

func TestDecode_RefusesSpoiledFiles(t *testing.T) {
	h := newHeap(t)
	good := pack(22050, 5000)
	flipped := bytes.Clone(good)
	flipped[300] ^= 4
	for name, c := range map[string]struct {
		r    io.Reader
		says string
	}{
		"cut":           {bytes.NewReader(good[:len(good)/2]), "ends too early, inside its frames"},
		"only a header": {bytes.NewReader(good[:codec.HeaderBytes]), "ends too early, inside its frames"},
		"a flipped bit": {bytes.NewReader(flipped), "the checksum is"},
	} {
		_, err := Decode(c.r, h, nil)
		if !errors.Is(err, ErrFormat) || !strings.Contains(fmt.Sprint(err), c.says) || strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s: %v; want one line with %q", name, err, c.says)
		}
		if n := h.Stats().Live; n != 0 {
			t.Fatalf("%s: %d blocks are kept", name, n)
		}
	}
	broken := io.MultiReader(bytes.NewReader(good[:100]), &failing{})
	if _, err := Decode(broken, h, nil); err != io.ErrClosedPipe {
		t.Errorf("%v; want the reader's error", err)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// FuzzDecode finds files that panic, keep a block, or give samples that were not promised.
func FuzzDecode(f *testing.F) {
	f.Add(pack(22050, 2000))
	f.Add(pack(48000, 100)[:60])
	for _, name := range []string{"sound/move_0.snd", "sound/shot_0.snd"} {
		data, err := fs.ReadFile(assets.FS(), name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 32 << 20})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(bytes.NewReader(data), h, nil)
		if err == nil {
			if c.Frames() == 0 || c.Channels != 1 || c.Rate < codec.MinRate || c.Rate > codec.MaxRate || c.Frames() > codec.MaxSamples {
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
	data, err := fs.ReadFile(assets.FS(), MusicFile(Ember, 3))
	if err != nil {
		b.Fatal(err)
	}
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
}
