package codec

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"testing"
)

func decode(t testing.TB, file []byte) []int16 {
	t.Helper()
	h, err := ParseHeader((*[HeaderBytes]byte)(file))
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDecoder(h, file[HeaderBytes:])
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, h.Samples)
	for at := 0; at < len(pcm); {
		n := d.Next(pcm[at:])
		if n != min(h.Hop, len(pcm)-at) {
			t.Fatalf("%d samples at %d of %d", n, at, len(pcm))
		}
		at += n
	}
	if n := d.Next(make([]int16, 9)); n != 0 {
		t.Errorf("%d samples after the end", n)
	}
	return pcm
}

// noiseOf returns the noise of samples over the signal, in dB.
func noiseOf(x []float64, pcm []int16) float64 {
	var signal, noise float64
	for i, v := range x {
		d := v - float64(pcm[i])/32768
		signal, noise = signal+v*v, noise+d*d
	}
	return 10 * math.Log10((noise+1e-12)/(signal+1e-12))
}

func made(n int, f func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

func hiss() func(int) float64 {
	s := uint32(1)
	return func(int) float64 {
		s = s*1664525 + 1013904223
		return float64(int32(s)) / (1 << 32)
	}
}

func TestTransform_InverseReturnsTheSamples(t *testing.T) {
	for hop := 1 << leastHop; hop <= 1<<topHop; hop *= 4 {
		fold := newTransform(hop)
		x := made(4*hop, hiss())
		c, out, next := make([]float64, hop), make([]float64, hop), make([]float64, hop)
		for f := range 3 {
			fold.forward(c, x[f*hop:][:2*hop])
			out, next = next, out
			fold.inverse(out, next, c)
			for i, v := range out {
				if want := x[f*hop+i]; f > 0 && math.Abs(v-want) > 1e-12 {
					t.Fatalf("frames of %d: sample %d is %v; want %v", hop, i, v, want)
				}
			}
		}
	}
}

func TestCoder_ReadsTheBitsThatWereWritten(t *testing.T) {
	likely := func(i int) int { return truth(i*i%101 > 4) } // long runs, so that carries wait
	var learned [3]chance
	even(learned[:])
	w := newWriter()
	for i := range 9000 {
		w.bit(&learned[i%3], likely(i))
		w.even(i >> 3 & 1)
	}
	r := newReader(w.end())
	learned = [3]chance{}
	even(learned[:])
	for i := range 9000 {
		if got := r.bit(&learned[i%3], 0); got != likely(i) {
			t.Fatalf("bit %d is %d", i, got)
		}
		if got := r.even(0); got != i>>3&1 {
			t.Fatalf("even bit %d is %d", i, got)
		}
	}
}

// The bounds are some dB above what is measured. A tone is packed in a fiftieth of its samples' bytes.
func TestEncode_KeepsTheNoiseBelowTheSignal(t *testing.T) {
	for name, c := range map[string]struct {
		x           []float64
		noise, size float64 // dB; bytes a sample
	}{
		"silence":    {make([]float64, 5000), 0, 0.01},
		"a tone":     {made(30000, func(i int) float64 { return 0.5 * math.Sin(float64(i)/9) }), -20, 0.04},
		"noise":      {made(9000, hiss()), -12, 0.9},
		"extremes":   {made(5000, func(i int) float64 { return float64(i/40%2*2 - 1) }), -15, 0.6},
		"one sample": {[]float64{0.5}, -10, 1000},
	} {
		file := Encode(c.x, 22050, false, 512, 1024)
		pcm := decode(t, file)
		if noise := noiseOf(c.x, pcm); noise > c.noise {
			t.Errorf("%s: noise of %.1f dB; want at most %.0f", name, noise, c.noise)
		}
		if size := float64(len(file)-HeaderBytes) / float64(len(c.x)); size > c.size {
			t.Errorf("%s: %.3f bytes a sample; want at most %.3f", name, size, c.size)
		}
	}
}

// Before an attack the noise is that of the silence.
func TestEncode_NoiseDoesNotPrecedeAnAttack(t *testing.T) {
	x := made(8192, hiss())
	clear(x[:4300])
	pcm := decode(t, Encode(x, 22050, false, 2048))
	for i, v := range pcm[:4300-earWindow] {
		if max(v, -v) > 100 {
			t.Fatalf("sample %d of the silence is %d", i, v)
		}
	}
}

func TestEncode_ALoopHasNoSeam(t *testing.T) {
	const n = 8 * 512
	x := made(n, func(i int) float64 { return 0.6 * math.Sin(2*math.Pi*37*float64(i)/n) })
	if Encode(x[:n-1], 22050, true, 512) != nil {
		t.Error("frames were tried that do not divide the loop")
	}
	pcm := decode(t, Encode(x, 22050, true, 512))
	noise := func(i int) float64 { return float64(pcm[i])/32768 - x[i] }
	usual := 0.0
	for i := range n - 1 {
		usual = max(usual, math.Abs(noise(i+1)-noise(i)))
	}
	if step := math.Abs(noise(0) - noise(n-1)); step > usual {
		t.Errorf("the noise steps by %.5f at the seam, and by %.5f at most elsewhere", step, usual)
	}
}

func TestParseHeader_RefusesWhatIsNotAllowed(t *testing.T) {
	good := Encode(made(1000, hiss()), 22050, false, 512)[:HeaderBytes]
	with := func(at int, b ...byte) []byte {
		return append(append(bytes.Clone(good[:at]), b...), good[at+len(b):]...)
	}
	for _, c := range []struct {
		data []byte
		says string
	}{
		{with(0, 'R', 'I', 'F', 'F'), `it begins with "RIFF"; a sound begins with "SSND"`},
		{with(4, 2), "version 2; allowed is 1"},
		{with(5, 5), "frames of 2^5 samples; allowed are 2^6 to 2^12"},
		{with(5, 13), "frames of 2^13 samples"},
		{with(6, 0x1f, 0x3f), "7999 Hz; allowed are 8000 to 48000"},
		{with(6, 0xbb, 0x81), "48001 Hz"},
		{with(8, 0, 0, 0, 0), "0 samples; allowed are 1 to 4194304"},
		{with(8, 0, 0x40, 0, 1), "4194305 samples"},
		{with(12, 0xff, 0xff, 0xff, 0xff), "2147483647 bytes for 1000 samples; allowed are up to 69536"},
	} {
		if _, err := ParseHeader((*[HeaderBytes]byte)(c.data)); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%v; want %q", err, c.says)
		}
	}
	for _, data := range [][]byte{with(5, 6), with(5, 12), with(6, 0x1f, 0x40), with(6, 0xbb, 0x80), with(8, 0, 0x40, 0, 0)} {
		if _, err := ParseHeader((*[HeaderBytes]byte)(data)); err != nil {
			t.Errorf("a limit is refused: %v", err)
		}
	}
}

func TestNewDecoder_ComparesTheBytesWithTheHeader(t *testing.T) {
	file := Encode(made(1000, hiss()), 22050, false, 512)
	h, err := ParseHeader((*[HeaderBytes]byte)(file))
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Clone(file[HeaderBytes:])
	if _, err := NewDecoder(h, data[1:]); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d bytes after the header; the header says %d", len(data)-1, len(data))) {
		t.Error(err)
	}
	data[len(data)/2] ^= 1
	if _, err := NewDecoder(h, data); err == nil || !strings.Contains(err.Error(), "the checksum is") {
		t.Error(err)
	}
}

// FuzzDecoder decodes bytes whose checksum is correct.
func FuzzDecoder(f *testing.F) {
	f.Add(Encode(made(3000, hiss()), 22050, false, 512)[HeaderBytes:], uint16(22050), uint16(3000), uint8(9))
	f.Add([]byte{}, uint16(8000), uint16(1), uint8(6))
	f.Add(bytes.Repeat([]byte{0xff}, 400), uint16(48000), uint16(9000), uint8(12))
	f.Fuzz(func(t *testing.T, data []byte, rate, samples uint16, hop uint8) {
		file := append((&Header{Rate: int(rate), Samples: int(samples), Hop: 1 << (hop & 15), Bytes: len(data), sum: crc32.ChecksumIEEE(data)}).append(nil), data...)
		if _, err := ParseHeader((*[HeaderBytes]byte)(file)); err == nil {
			decode(t, file)
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	rough := hiss()
	file := Encode(made(60000, func(i int) float64 { return 0.4*math.Sin(float64(i)/9) + 0.1*rough(i) }), 22050, false, 512)
	b.ReportAllocs()
	samples := 0
	for b.Loop() {
		samples = len(decode(b, file))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(samples), "ns/sample")
}
