package loudness

import (
	"math"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

const testRate = 48000

// A part is so many seconds of a stereo tone whose peaks have so many dBFS.
type part struct{ level, seconds float64 }

// play measures parts of 1,000 Hz, one after the other.
func play(t *testing.T, rate int, parts ...part) *Meter {
	t.Helper()
	m, err := New(rate)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, p := range parts {
		a := math.Pow(10, p.level/20)
		x := make([]float32, 2*int(math.Round(p.seconds*float64(rate))))
		for i := 0; i < len(x); i += 2 {
			x[i] = float32(a * math.Sin(2*math.Pi*1000*float64(at)/float64(rate)))
			x[i+1] = x[i]
			at++
		}
		m.Add(x)
	}
	return m
}

func near(t *testing.T, what string, got, want, below, above float64) {
	t.Helper()
	if !(got >= want-below && got <= want+above) {
		t.Errorf("%s: %.3f; want %.2f", what, got, want)
	}
}

// The signals 1 to 5 of table 1, whose tolerance is 0.1 LU. Signals 6 to 8 have five channels or are recordings.
func TestMeter_IntegratedOfTheSignalsOfTech3341(t *testing.T) {
	testenv.Long(t)
	for name, c := range map[string]struct {
		want  float64
		parts []part
	}{
		"1": {-23, []part{{-23, 20}}},
		"2": {-33, []part{{-33, 20}}},
		"3": {-23, []part{{-36, 10}, {-23, 60}, {-36, 10}}},
		"4": {-23, []part{{-72, 10}, {-36, 10}, {-23, 60}, {-36, 10}, {-72, 10}}},
		"5": {-23, []part{{-26, 20}, {-20, 20.1}, {-26, 20}}},
	} {
		near(t, "signal "+name, play(t, 8000, c.parts...).Integrated(), c.want, 0.1, 0.1)
	}
	// The other rates of the game, and that of the standard.
	for _, rate := range []int{22050, 32000, 44100, testRate} {
		m := play(t, rate, part{-23, 4})
		near(t, "signal 1, integrated", m.Integrated(), -23, 0.05, 0.05)
		near(t, "signal 1, momentary", m.Momentary(), -23, 0.05, 0.05)
		near(t, "signal 1, short term", m.ShortTerm(), -23, 0.05, 0.05)
		near(t, "signal 1, seconds", m.Seconds(), 4, 0, 0)
	}
}

// Signals 9 and 12: the mean of the two levels over three seconds and over 400 ms.
func TestMeter_WindowsOfTheSignalsOfTech3341(t *testing.T) {
	var nine, twelve []part
	for range 5 {
		nine = append(nine, part{-20, 1.34}, part{-30, 1.66})
	}
	for range 25 {
		twelve = append(twelve, part{-20, 0.18}, part{-30, 0.22})
	}
	near(t, "signal 9", play(t, 8000, nine...).ShortTerm(), -23, 0.1, 0.1)
	near(t, "signal 12", play(t, 8000, twelve...).Momentary(), -23, 0.1, 0.1)
}

// Signals 15 to 19: a tone whose samples miss its peaks. The tolerance is 0.2 dB above and 0.4 below.
func TestMeter_TruePeakOfTheSignalsOfTech3341(t *testing.T) {
	for _, c := range []struct{ part, degrees, amplitude, want float64 }{
		{4, 0, 0.5, -6}, {4, 45, 0.5, -6}, {6, 60, 0.5, -6}, {8, 67.5, 0.5, -6}, {4, 45, 1.41, 3},
	} {
		m, err := New(testRate)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float32, 2*testRate/10)
		for i := 0; i < len(x); i += 2 {
			fade := min(1, float64(i)/2000, float64(len(x)-i)/2000) // a step of the tone itself would peak higher
			x[i+1] = float32(fade * c.amplitude * math.Sin(2*math.Pi*float64(i/2)/c.part+c.degrees*math.Pi/180))
		}
		m.Add(x)
		near(t, "a tone", m.TruePeak(), c.want, 0.4, 0.2)
	}
}

// The values that BS.1770-4 prints for 48 kHz.
func TestWeighting_HasTheCoefficientsOfTheStandard(t *testing.T) {
	want := [2]biquad{
		{1.53512485958697, -2.69169618940638, 1.19839281085285, -1.69065929318241, 0.73248077421585},
		{1, -2, 1, -1.99004745483398, 0.99007225036621},
	}
	for i, f := range weighting(testRate) {
		w := want[i]
		for k, d := range [...]float64{f.b0 - w.b0, f.b1 - w.b1, f.b2 - w.b2, f.a1 - w.a1, f.a2 - w.a2} {
			if math.Abs(d) > 1e-8 {
				t.Errorf("filter %d, coefficient %d differs by %g", i, k, d)
			}
		}
	}
}

func TestMeter_ShortSoundAndSilence(t *testing.T) {
	// A tenth of a second in 400 ms is a quarter of the power.
	near(t, "a tenth", play(t, testRate, part{-23, 0.1}).Momentary(), -23-6.02, 0.1, 0.1)
	near(t, "less", play(t, testRate, part{-23, 0.05}).Momentary(), -23-9.03, 0.1, 0.1)
	m := play(t, testRate, part{-200, 1})
	if l := m.Integrated(); !math.IsInf(l, -1) {
		t.Errorf("silence has %v LUFS", l)
	}
	for _, rate := range []int{0, 7990, 11025, 200_000} {
		if m, err := New(rate); err == nil {
			t.Errorf("%d is a rate: %v", rate, m.rate)
		}
	}
}

func TestSpectrum_FindsTonesAndNoise(t *testing.T) {
	s := NewSpectrum(testRate)
	x := make([]float32, 2*testRate)
	for i := 0; i < len(x); i += 2 {
		k := 2 * math.Pi * float64(i/2) / testRate
		x[i] = float32(math.Sin(440*k) + 0.1*math.Sin(5000*k))
		x[i+1] = x[i]
	}
	s.Add(x)
	near(t, "above 2.2 kHz", s.Share(2200, testRate), 10*math.Log10(0.01/1.01), 0.01, 0.01)
	near(t, "around 440 Hz", s.Share(400, 480), 10*math.Log10(1/1.01), 0.01, 0.01)
	near(t, "the center", s.Center(), (440+50)/1.01, 2, 2)

	seed, white := uint32(7), NewSpectrum(testRate)
	for i := range x {
		seed = seed*1664525 + 1013904223
		x[i] = float32(int32(seed)) / (1 << 31)
	}
	white.Add(x)
	white.End()
	near(t, "half of white noise", white.Share(0, testRate/4), -3.01, 0.1, 0.1)
}

func BenchmarkMeter(b *testing.B) {
	m, err := New(44100)
	if err != nil {
		b.Fatal(err)
	}
	x := make([]float32, 2*44100)
	for i := range x {
		x[i] = float32(0.5 * math.Sin(float64(i*i%1000)))
	}
	for b.Loop() {
		m.Add(x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/44100, "ns/frame")
}
