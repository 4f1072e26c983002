package engine

import (
	"math"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestSinCos_CloseToTheTruth(t *testing.T) {
	worst, at := 0.0, float32(0)
	check := func(x float32) {
		s, c := SinCos(x)
		e := max(math.Abs(float64(s)-math.Sin(float64(x))), math.Abs(float64(c)-math.Cos(float64(x))))
		if e > worst {
			worst, at = e, x
		}
	}
	for i := -200000; i <= 200000; i++ {
		check(float32(i) * 0.001)
		check(float32(i) * 0.5)
	}
	if worst > 1e-7 {
		t.Errorf("off by %g at %v", worst, at)
	}
}

func TestSinCos_Edges(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct{ x, sin, cos float32 }{
		{0, 0, 1}, {float32(math.NaN()), 0, 1}, {inf, 0, 1}, {-inf, 0, 1}, {math.Pi / 2, 1, -4.371139e-08},
	} {
		if s, cos := SinCos(c.x); s != c.sin || cos != c.cos || Sin(c.x) != s || Cos(c.x) != cos {
			t.Errorf("SinCos(%v) = %v, %v; want %v, %v", c.x, s, cos, c.sin, c.cos)
		}
	}
	for _, x := range []float32{math.MaxFloat32, -math.MaxFloat32, 1e20, 1e10} {
		if s, c := SinCos(x); !(math.Abs(float64(s)*float64(s)+float64(c)*float64(c)-1) < 1e-6) {
			t.Errorf("SinCos(%v) = %v, %v does not lie on the circle", x, s, c)
		}
	}
}

// The hash covers the bits of a million results. A processor on which it differs plays another game.
func TestDet_SameBitsEverywhere(t *testing.T) {
	var h Hasher
	rnd := NewRand(7, 1)
	for range 100000 {
		x, v, w := rnd.Range(-1000, 1000), rnd.Disc(), rnd.Circle()
		s, c := SinCos(x)
		h.Vec2(mgl32.Vec2{s, c})
		h.Vec2(v)
		h.Vec2(w)
		h.Vec2(Normalize(Scale(v, x)))
		h.Vec2(Turn(Normalize(v), w, Heading(0.1)))
		h.Vec2(MulAdd(v, w, x))
		h.Vec2(Limit(v, 0.5))
		h.Float32(Length(MulAdd(v, w, x)))
		h.Float32(Sqrt(x))
		h.Float32(Cross(v, w) + Dot(v, w))
		h.Float32(Lerp(x, s, c))
	}
	rnd.Hash(&h)
	if got, want := h.Sum(), uint64(0xac5115c2991e1efd); got != want {
		t.Errorf("hash %#x, want %#x", got, want)
	}
}

// The compiler fuses products and sums on arm64; nothing that the simulation calls may be.
func TestDet_NothingFuses(t *testing.T) {
	if testenv.Brief() || runtime.GOOS == "js" {
		t.Skip("compiles for another processor")
	}
	cmd := testenv.Command(t, "go", "build", "-o", os.DevNull, "-gcflags=-S", ".")
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fused := regexp.MustCompile(`/(det|rng|input|hash)\.go:\d+\)\tFN?M(ADD|SUB)`)
	products := 0
	for line := range strings.Lines(string(out)) {
		if fused.MatchString(line) {
			t.Error(line)
		}
		if strings.Contains(line, "det.go:") && strings.Contains(line, "FMUL") {
			products++
		}
	}
	if products == 0 {
		t.Error("the listing shows no product: the test looks at the wrong thing")
	}
}

func TestSqrt(t *testing.T) {
	for _, x := range []float32{0, 1, 4, 2, 1e-40, math.MaxFloat32, math.SmallestNonzeroFloat32} {
		if got, want := Sqrt(x), float32(math.Sqrt(float64(x))); got != want {
			t.Errorf("Sqrt(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float32{-1, float32(math.NaN()), float32(math.Inf(-1))} {
		if got := Sqrt(x); got != 0 {
			t.Errorf("Sqrt(%v) = %v, want 0", x, got)
		}
	}
}

func TestNormalize_Edges(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for v, want := range map[mgl32.Vec2]mgl32.Vec2{
		{}: {}, {nan, 1}: {}, {inf, 1}: {}, {3, 4}: {0.6, 0.8}, {0, -1e-45}: {0, -1},
		{math.MaxFloat32, 0}: {1, 0}, {1e-30, 0}: {1, 0},
	} {
		if got := Normalize(v); got != want {
			t.Errorf("Normalize(%v) = %v, want %v", v, got, want)
		}
	}
	if got := Length(mgl32.Vec2{3e38, 0}); got != 3e38 {
		t.Errorf("Length overflows: %v", got)
	}
	if got := Distance(mgl32.Vec2{1, 1}, mgl32.Vec2{4, 5}); got != 5 {
		t.Errorf("Distance = %v", got)
	}
}

func TestLimit(t *testing.T) {
	if got := Limit(mgl32.Vec2{30, 40}, 5); got != (mgl32.Vec2{3, 4}) {
		t.Errorf("Limit = %v", got)
	}
	if got := Limit(mgl32.Vec2{3, 4}, 5); got != (mgl32.Vec2{3, 4}) {
		t.Errorf("Limit of what is short enough = %v", got)
	}
}

func TestTurn_ReachesItsAimByTheShorterWay(t *testing.T) {
	step := Heading(0.1)
	for i := range 64 {
		from, to := Heading(float32(i)*0.1), Heading(float32(i*i)*0.3)
		gap := Dot(from, to)
		for n := 0; from != to; n++ {
			from = Turn(from, to, step)
			if math.Abs(float64(Length(from))-1) > 1e-6 {
				t.Fatalf("length %v", Length(from))
			}
			if g := Dot(from, to); g < gap-1e-6 {
				t.Fatalf("turns away: %v after %v", g, gap)
			} else {
				gap = g
			}
			if n > 32 {
				t.Fatal("takes the longer way")
			}
		}
	}
	x, zero := mgl32.Vec2{1, 0}, mgl32.Vec2{}
	if Turn(zero, x, step) != x || Turn(x, zero, step) != x {
		t.Error("zero is not passed over")
	}
	if got := Turn(x, mgl32.Vec2{-1, 0}, Heading(0.5)); got[1] <= 0 {
		t.Errorf("opposite: %v, want towards +y", got)
	}
}

func TestRotateAndPerp(t *testing.T) {
	v := mgl32.Vec2{2, 1}
	if got := Rotate(v, mgl32.Vec2{0, 1}); got != Perp(v) || got != (mgl32.Vec2{-1, 2}) {
		t.Errorf("Rotate = %v, Perp = %v", got, Perp(v))
	}
	if Cross(v, Perp(v)) <= 0 || Dot(v, Perp(v)) != 0 {
		t.Error("Perp does not turn towards +y")
	}
	if got := Mix(mgl32.Vec2{0, 10}, mgl32.Vec2{10, 0}, 0.25); got != (mgl32.Vec2{2.5, 7.5}) {
		t.Errorf("Mix = %v", got)
	}
}
