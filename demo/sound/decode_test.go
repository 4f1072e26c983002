package sound

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"

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

// pack writes channels of samples as FLAC, verbatim where told.
func pack(t testing.TB, rate int, channels ...[]int32) []byte {
	t.Helper()
	const block = 1024
	var out bytes.Buffer
	n := len(channels[0])
	enc, err := flac.NewEncoder(&out, &meta.StreamInfo{BlockSizeMin: block, BlockSizeMax: block, SampleRate: uint32(rate),
		NChannels: uint8(len(channels)), BitsPerSample: 16, NSamples: uint64(n)})
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < n; at += block {
		k := min(block, n-at)
		f := &frame.Frame{Header: frame.Header{HasFixedBlockSize: true, BlockSize: uint16(k), SampleRate: uint32(rate),
			Channels: frame.Channels(len(channels) - 1), BitsPerSample: 16}}
		for _, c := range channels {
			f.Subframes = append(f.Subframes, &frame.Subframe{SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, Samples: copyOf(c[at : at+k]), NSamples: k})
		}
		if err := enc.WriteFrame(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func copyOf(s []int32) []int32 { return append([]int32(nil), s...) }

func ramp(n, by int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(int16(i*by + i*i/7))
	}
	return out
}

func TestDecode_GivesTheSamplesInterleavedInABlockOfTheAllocator(t *testing.T) {
	h := newHeap(t)
	l, r := ramp(3000, 5), ramp(3000, -9)
	clip, err := Decode(bytes.NewReader(pack(t, 32000, l, r)), h, nil)
	if err != nil {
		t.Fatal(err)
	}
	if clip.Rate != 32000 || clip.Channels != 2 || clip.Frames() != 3000 || clip.Bytes() != 12000 {
		t.Fatalf("%d Hz, %d channels, %d frames, %d bytes", clip.Rate, clip.Channels, clip.Frames(), clip.Bytes())
	}
	for i := range l {
		if int32(clip.PCM[2*i]) != l[i] || int32(clip.PCM[2*i+1]) != r[i] {
			t.Fatalf("frame %d is %d, %d; want %d, %d", i, clip.PCM[2*i], clip.PCM[2*i+1], l[i], r[i])
		}
	}
	if s := h.Stats(); s.Live != 1 {
		t.Errorf("%d blocks of the allocator are live; want the clip's", s.Live)
	}
	clip.Free(h)
}

func TestDecode_ReadsEverySoundOfTheGame(t *testing.T) {
	h := newHeap(t)
	names, err := fs.Glob(assets.FS(), "sound/*.flac")
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
	_, err := Decode(bytes.NewReader(pack(t, 22050, ramp(10000, 3))), h, func() bool { asked++; return asked == 4 })
	if !errors.Is(err, ErrCancelled) || asked != 4 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if n := h.Stats().Live; n != 0 {
		t.Errorf("%d blocks are kept", n)
	}
}

func TestDecode_SaysThatMemoryIsOut(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	_, err = Decode(bytes.NewReader(header(44100, 2, 16, 2048, 2048, 1<<20)), h, nil)
	if !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// Every way to spoil a file ends in one line that says where, and nothing is kept.
func TestDecode_RefusesSpoiledFiles(t *testing.T) {
	h := newHeap(t)
	good := pack(t, 22050, ramp(5000, 3))
	mono := func(f func(d []byte) []byte) []byte { return f(bytes.Clone(good)) }
	stereo := pack(t, 22050, ramp(5000, 3), ramp(5000, 4))
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"cut in a frame":      {good[:len(good)/2], "the file ends too early"},
		"cut behind a header": {good[:headerBytes], "at frame 0 of 5000: the file ends too early"},
		"a flipped bit":       {mono(func(d []byte) []byte { d[3000] ^= 4; return d }), "CRC"},
		"zeros":               {mono(func(d []byte) []byte { clear(d[headerBytes:]); return d }), "at frame 0"},
		"ones": {mono(func(d []byte) []byte {
			for i := headerBytes; i < len(d); i++ {
				d[i] = 0xff
			}
			return d
		}), "at frame 0"},
		"frames of two channels": {append(bytes.Clone(good[:headerBytes]), stereo[headerBytes:]...), "it has 2 channels"},
		"frames of another rate": {append(bytes.Clone(good[:headerBytes]), pack(t, 44100, ramp(5000, 1))[headerBytes:]...), "44100 Hz"},
		"frames that are long":   {append(header(22050, 1, 16, 16, 64, 5000), good[headerBytes:]...), "it has 1024 samples; the file's header allows 1 to 64"},
		"fewer frames than said": {append(header(22050, 1, 16, 1024, 1024, 5100), good[headerBytes:]...), "at frame 5000 of 5100: the file ends too early"},
		"more frames than said":  {append(header(22050, 1, 16, 1024, 1024, 4900), good[headerBytes:]...), "at frame 4096 of 4900"},
	} {
		_, err := Decode(bytes.NewReader(c.data), h, nil)
		if !errors.Is(err, ErrFormat) || !strings.Contains(fmt.Sprint(err), c.says) || strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s: %v; want one line with %q", name, err, c.says)
		}
		if n := h.Stats().Live; n != 0 {
			t.Fatalf("%s: %d blocks are kept", name, n)
		}
	}
}

func TestDecoder_StepsKeepToTheirBudget(t *testing.T) {
	h := newHeap(t)
	data, err := fs.ReadFile(assets.FS(), MusicFile(Ember, 0))
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDecoder(bytes.NewReader(data), h)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	steps := 0
	for done := false; !done; steps++ {
		if d.Clip().PCM != nil {
			t.Fatal("there is a clip before the last step")
		}
		if done, err = d.Step(time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	// On a busy machine a step ends earlier by the clock, so there are more of them.
	if steps < 10 {
		t.Errorf("%d steps of a millisecond for 14 seconds of sound", steps)
	}
	if d.Progress() != 1 {
		t.Errorf("progress is %v at the end", d.Progress())
	}
	c := d.Clip()
	d.Close()
	if c.Frames() != 672000 {
		t.Errorf("%d frames", c.Frames())
	}
	c.Free(h)
}

func TestDecoder_AStepWithoutABudgetIsOneFrameOfTheFile(t *testing.T) {
	h := newHeap(t)
	d, err := NewDecoder(bytes.NewReader(pack(t, 22050, ramp(5000, 3))), h)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i, want := range []float64{1024, 2048, 3072, 4096, 5000, 5000} {
		done, err := d.Step(0)
		if err != nil || done != (want == 5000) || d.Progress() != want/5000 {
			t.Errorf("step %d: %v, %v, %v of %v frames", i, done, err, d.Progress()*5000, want)
		}
	}
}

func TestDecoder_CloseInTheMiddleKeepsNothing(t *testing.T) {
	h := newHeap(t)
	d, err := NewDecoder(bytes.NewReader(pack(t, 22050, ramp(5000, 3))), h)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := d.Step(0); done || err != nil {
		t.Fatal(done, err)
	}
	d.Close()
	d.Close()
	if _, err := d.Step(0); !errors.Is(err, ErrCancelled) {
		t.Errorf("a step after Close: %v", err)
	}
}

// FuzzDecode finds what no file may do: panic, keep a block, or give samples that were not promised.
func FuzzDecode(f *testing.F) {
	f.Add(pack(f, 22050, ramp(2000, 3)))
	f.Add(pack(f, 48000, ramp(100, 3), ramp(100, 5)))
	f.Add(header(22050, 1, 16, 2048, 2048, 1000))
	for _, name := range []string{"sound/move_0.flac", "sound/shot_0.flac"} {
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
			if c.Frames() == 0 || c.Channels < 1 || c.Channels > 2 || c.Rate < MinRate || c.Rate > MaxRate || c.Bytes() > MaxBytes {
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

// BenchmarkDecode also reports the codec's garbage: Go objects for each frame of the file.
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
