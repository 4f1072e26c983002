package realm

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// level returns an arena such as the level's.
func level(t testing.TB, bytes uintptr) *arena.Growing {
	t.Helper()
	g, err := arena.NewGrowing(page.Default(), arena.GrowingConfig{Reserve: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// heap returns one that takes every block back.
func heap(t testing.TB, bytes uintptr) *tlsf.Heap {
	t.Helper()
	h, err := tlsf.New(page.Default(), tlsf.Config{Reserve: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// load builds the realm that the files of fsys describe.
func load(fsys fs.FS, mem memory.Allocator, name string) (*Realm, error) {
	files := Files(name)
	text, err := fs.ReadFile(fsys, files[0])
	walls, err2 := fs.ReadFile(fsys, files[1])
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	b, err := Open(mem, name, text, walls, nil)
	if err != nil {
		return nil, err
	}
	return b.Wait()
}

// noWalls returns walls without a solid cell.
func noWalls() Walls { return make(Walls, Cells*Cells/8) }

// set makes the cell in column x and row y solid or open.
func (w Walls) set(x, y int, solid bool) {
	i := y*Cells + x
	w[i>>3] &^= 1 << (i & 7)
	if solid {
		w[i>>3] |= 1 << (i & 7)
	}
}

// info describes a realm with open ground where this file's masks leave it.
func info() *Info {
	return &Info{
		Name: "test", Title: "Test", Palette: [5]string{"#000000", "#111111", "#222222", "#333333", "#ffffff"},
		Start: Point{6200, 11000}, Seals: [4]Point{{1000, 1000}, {11000, 1000}, {1000, 11000}, {11000, 11000}}, Heart: Point{6200, 6200},
	}
}

// maze has walls 6 cells thick every 64, with gates of 10 cells that are not in a line.
func maze() Walls {
	w := noWalls()
	for y := range Cells {
		for x := range Cells {
			row := y%64 < 6 && (x+37*(y/64))%50 > 9
			col := x%64 < 6 && (y+23*(x/64))%40 > 9
			w.set(x, y, row || col)
		}
	}
	return w
}

func build(t testing.TB, in *Info, w Walls) *Realm {
	t.Helper()
	for _, p := range append([]*Point{&in.Start, &in.Heart}, in.seals()...) { // masks may not suit the places
		cx, cy := int(p[0])/CellSize, int(p[1])/CellSize
		for y := cy - 6; y <= cy+6; y++ {
			for x := cx - 6; x <= cx+6; x++ {
				w.set(x, y, false)
			}
		}
	}
	r, err := Start(level(t, 8<<20), in, w, nil).Wait()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBuild_OfAMazeHoldsItsInvariants(t *testing.T) {
	r := build(t, info(), maze())
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	r.clear[5*Cells+5] += 9
	if err := r.Check(); err == nil || !strings.Contains(err.Error(), "invariant 1") {
		t.Errorf("a broken clearance is %v", err)
	}
}

func TestBuild_ClearanceIsNearTheTrueDistance(t *testing.T) {
	w := noWalls()
	w.set(700, 700, true)
	r := build(t, info(), w)
	for _, c := range []struct{ x, y int }{{700, 700}, {701, 700}, {710, 700}, {707, 707}, {720, 707}, {700, 640}} {
		want := engine.Length(vec{float32(c.x - 700), float32(c.y - 700)})
		got := float32(r.clear[c.y*Cells+c.x]) / 3
		if got < want*0.93 || got > want*1.08 {
			t.Errorf("cell (%d, %d): %.2f cells to the wall, want %.2f", c.x, c.y, got, want)
		}
	}
	if got := r.Room(vec{6000, 3}); got > CellSize {
		t.Errorf("%v units of room at the world's edge", got)
	}
}

func TestBuild_NamesThePlaceThatIsAmiss(t *testing.T) {
	island := noWalls()
	for i := range 40 {
		for _, c := range [][2]int{{80 + i, 80}, {80 + i, 119}, {80, 80 + i}, {119, 80 + i}} {
			island.set(c[0], c[1], true)
		}
	}
	full := noWalls()
	for y := 760; y < 790; y++ {
		for x := 760; x < 790; x++ {
			full.set(x, y, true)
		}
	}
	in := info()
	in.Seals[0] = Point{800, 800}
	for want, w := range map[string]Walls{"seals[0]: no path": island, "heart: lies in a wall": full} {
		g := heap(t, 8<<20)
		_, err := Start(g, in, w, nil).Wait()
		var f *FileError
		if !errors.As(err, &f) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("err = %v, want %q", err, want)
		}
		if n := g.Stats().InUse; n != 0 {
			t.Errorf("%d bytes are kept after %v", n, err)
		}
	}
}

func TestBuild_WithoutRoomKeepsNothing(t *testing.T) {
	g := heap(t, 3<<20)
	if _, err := Start(g, info(), noWalls(), nil).Wait(); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("err = %v", err)
	}
	if n := g.Stats().InUse; n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
}

// A host with one thread draws at every pause: they must come often, all through the work.
func TestStart_CallsPauseDuringAllOfTheWork(t *testing.T) {
	testenv.Long(t)
	pauses := 0
	if _, err := Start(level(t, 8<<20), info(), maze(), func() { pauses++ }).Wait(); err != nil {
		t.Fatal(err)
	}
	const rows = 2*Cells + 2*Coarse + Guides*Coarse // of both sweeps, of the net, and of each guide
	if pauses < rows-2*Guides {
		t.Errorf("%d pauses in %d rows", pauses, rows)
	}
}

// Whatever flies how fast against whatever wall, it stays in the open and inside of the world.
func TestSlide_NothingEndsUpInAWall(t *testing.T) {
	r := build(t, info(), maze())
	rnd := engine.NewRand(1, 1)
	touched := 0
	for range 400 {
		p := r.Open(vec{rnd.Range(0, World), rnd.Range(0, World)}, 6)
		v := engine.Scale(rnd.Circle(), rnd.Range(20, 640))
		for range 200 {
			from := p
			p = engine.MulAdd(p, v, engine.Delta)
			if r.Slide(&p, &v, from, 6, 0.7) {
				touched++
			}
			if r.Solid(p) {
				t.Fatalf("in a wall at %v, from %v", p, from)
			}
		}
	}
	if touched < 500 {
		t.Errorf("walls were touched %d times only", touched)
	}
	nan := float32(math.NaN()) // a damaged file may have any place
	for _, p := range []vec{{nan, 600}, {600, nan}, {nan, nan}, {float32(math.Inf(1)), 600}, {-3e38, 3e38}} {
		v := vec{nan, 1}
		if from := p; !r.Slide(&p, &v, from, 6, 0.5) {
			t.Errorf("from %v: no wall", from)
		}
	}
}

func TestSlide_AFastDiscThatIsReflectedTouches(t *testing.T) {
	w := noWalls()
	for y := 575; y < 675; y++ {
		w.set(500, y, true)
	}
	r := build(t, info(), w)
	from := vec{500*CellSize - 60, 5003}
	p, v := from.Add(vec{64, 0}), vec{64 * 60, 0}
	if !r.Slide(&p, &v, from, 6, 1) || v[0] >= 0 || r.Solid(p) {
		t.Errorf("at %v with %v", p, v)
	}
}

func TestSlide_AlongAWallKeepsTheSpeedAlongIt(t *testing.T) {
	w := noWalls()
	for x := range Cells {
		for y := 500; y < 520; y++ {
			w.set(x, y, x < 1530)
		}
	}
	in := info()
	for i := range in.Seals {
		in.Seals[i][1] = 9000
	}
	r := build(t, in, w)
	p, v := vec{6000, 520*CellSize + 9}, vec{100, -100}
	for range 60 {
		from := p
		p = engine.MulAdd(p, v, engine.Delta)
		r.Slide(&p, &v, from, 6, 0)
		v[1] -= 5
	}
	if v[0] < 99 || p[0] < 6095 || p[1] < 520*CellSize+2 || p[1] > 520*CellSize+10 {
		t.Errorf("at %v with %v", p, v)
	}
}

func TestSees_StopsAtWallsOnly(t *testing.T) {
	testenv.Long(t)
	r := build(t, info(), maze())
	rnd := engine.NewRand(2, 1)
	for range 2000 {
		a := r.Open(vec{rnd.Range(0, World), rnd.Range(0, World)}, 4)
		b := r.Open(engine.MulAdd(a, rnd.Disc(), 400), 4)
		inside, grazed := float32(0), false // units of the line in walls; corners may be cut
		for i := range 2000 {
			p := engine.Mix(a, b, float32(i)/2000)
			if r.Solid(p) {
				inside += engine.Distance(a, b) / 2000
			}
			grazed = grazed || r.Near(p, -8)
		}
		if got := r.Sees(a, b); got && inside > 3 || !got && !grazed {
			t.Fatalf("from %v to %v: sees %v, %v units in walls", a, b, got, inside)
		}
	}
}

func TestBare_HasAnEdgeAndStraightWays(t *testing.T) {
	r := Bare(Unknown("x"))
	p, v := vec{World - 20, 300}, vec{600, 60}
	for range 60 {
		from := p
		p = engine.MulAdd(p, v, engine.Delta)
		r.Slide(&p, &v, from, 6, 0.5)
		if r.Solid(p) {
			t.Fatalf("beyond the world at %v", p)
		}
	}
	if v[0] > 0 || v[1] < 59 {
		t.Errorf("the edge turned it to %v", v)
	}
	if h := r.Guide(0, vec{0, World * 0.4}); h != (vec{1, 0}) || !r.Sees(vec{1, 1}, vec{9000, 9000}) || r.Node(p) != -1 || r.Check() != nil {
		t.Errorf("guided to %v", h)
	}
	if r.Room(vec{100, 5000}) != 100 {
		t.Errorf("%v units of room", r.Room(vec{100, 5000}))
	}
}

func TestInvSqrt_IsNear(t *testing.T) {
	for x := float32(1e-6); x < 1e9; x *= 1.37 {
		if got := mul(mul(InvSqrt(x), InvSqrt(x)), x); got < 0.99998 || got > 1.00002 {
			t.Errorf("1/sqrt(%g)² = %g/%g", x, got, x)
		}
	}
}

func TestHeadings_PointWhereTheyShould(t *testing.T) {
	for _, c := range []struct {
		x, y float32
		d    uint8
	}{{1, 0, 1}, {0, 3, 64}, {-2, 0, 127}, {0, -1, 190}, {0, 0, 0}} {
		if got := nearest(c.x, c.y); got != c.d {
			t.Errorf("(%g, %g) is direction %d, want %d", c.x, c.y, got, c.d)
		}
	}
}

const goodInfo = `{"version":1,"name":"ember","title":"The Ember Floor","palette":["#0b0507","#5a1014","#f2641a","#ffc246","#fff6e0"],
"start":[6144,11000],"seals":[[1000,1000],[11000,1000],[1000,11000],[11000,11000.5]],"heart":[6144,6144]}`

func TestParseInfo_NamesFilePlaceAndWhatIsAllowed(t *testing.T) {
	if in, err := ParseInfo("x.json", []byte(goodInfo)); err != nil || in.Seals[3] != (Point{11000, 11000.5}) || in.Palette[4] != "#fff6e0" {
		t.Fatalf("%+v, %v", in, err)
	}
	for _, c := range [][3]string{
		{`"version":1`, `"version":2`, "version: 2; allowed is 1"},
		{`"version":1,`, ``, "version: missing; every field is required"},
		{`"ember"`, `"Em ber"`, "name:"},
		{`"The Ember Floor"`, `""`, "title:"},
		{`"The Ember Floor"`, `"\u001b[31m"`, "title:"},
		{`"The Ember Floor"`, `"` + strings.Repeat("x", 9999) + `"`, "title:"},
		{`"ember"`, `"` + strings.Repeat("x", 9999) + `"`, "name:"},
		{`"#fff6e0"`, `"` + strings.Repeat("#", 9999) + `"`, "palette[4]:"},
		{`[6144,11000]`, `[` + strings.Repeat("1,", 5000) + `1]`, "start: 5001 numbers; allowed are two"},
		{`"version":1`, `"version":` + strings.Repeat("1", 9999), "byte"},
		{`"version":1`, `"version":1,"` + strings.Repeat("x", 9999) + `":2`, "unknown field"},
		{`,"#fff6e0"`, ``, "palette: 4 colours; allowed are 5"},
		{`"#fff6e0"`, `"#fff6e"`, "palette[4]:"},
		{`[6144,11000]`, `[6144]`, "start:"},
		{`[6144,11000]`, `[6144,12288]`, "start: [6144 12288]; allowed are two numbers of at least 0 and below 12288"},
		{`[6144,11000]`, `[6144,12287.9999]`, "start:"},
		{`,[11000,11000.5]`, ``, "seals: 3; allowed are 4"},
		{`11000.5`, `-1`, "seals[3]:"},
		{`[6144,6144]`, `[6144,6e39]`, "heart:"},
		{`[6144,6144]}`, `[6144,6144],"walls":1}`, `unknown field "walls"`},
		{`6144]}`, `6144]}{`, "something behind the object"},
		{`{"version"`, `"version"`, "byte"},
		{goodInfo, strings.Repeat(" ", infoMost) + goodInfo, "length:"},
	} {
		_, err := ParseInfo("x.json", []byte(strings.Replace(goodInfo, c[0], c[1], 1)))
		if err == nil || !strings.HasPrefix(err.Error(), "x.json: ") || !strings.Contains(err.Error(), c[2]) || len(err.Error()) > 200 || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%.80s: err = %v, want %q", c[1], err, c[2])
		}
	}
}

func TestParseWalls_NamesFilePlaceAndWhatIsAllowed(t *testing.T) {
	good := append([]byte(wallsMagic), maze()...)
	if w, err := ParseWalls("x.walls", good); err != nil || !w.Solid(10, 0) || w.Solid(10, 10) || !w.Solid(-1, 0) {
		t.Fatal(err)
	}
	for want, data := range map[string][]byte{
		"byte 0: begins with":    append([]byte("SWAL\x02\x00\x00\x00"), good[8:]...),
		"byte 0: begins with \"": nil,
		"length: 294919":         good[:len(good)-1],
	} {
		if _, err := ParseWalls("x.walls", data); err == nil || !strings.HasPrefix(err.Error(), "x.walls: "+want) || !strings.Contains(err.Error(), "allowed") {
			t.Errorf("err = %v, want %q", err, want)
		}
	}
}

func TestLoad_ErrorsNameTheFile(t *testing.T) {
	w := noWalls()
	file := func(name, text string) fstest.MapFS {
		return fstest.MapFS{"realms/" + name + ".json": {Data: []byte(text)}, "realms/" + name + ".walls": {Data: append([]byte(wallsMagic), w...)}}
	}
	if r, err := load(file("ember", goodInfo), level(t, 8<<20), "ember"); err != nil || r.Info.Title != "The Ember Floor" {
		t.Fatal(err)
	}
	walled := file("ember", goodInfo)
	solid := noWalls()
	for i := range solid {
		solid[i] = 0xff
	}
	walled["realms/ember.walls"].Data = append([]byte(wallsMagic), solid...)
	short := file("ember", goodInfo)
	short["realms/ember.walls"].Data = short["realms/ember.walls"].Data[:100]
	for want, fsys := range map[string]fstest.MapFS{
		"realms/ember.json: start: lies in a wall": walled,
		"realms/ember.walls: length: 100 bytes":    short,
		"open realms/ember.json":                   {},
	} {
		if _, err := load(fsys, level(t, 8<<20), "ember"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %q", err, want)
		}
	}
	if _, err := load(file("tide", goodInfo), level(t, 8<<20), "tide"); err == nil || !strings.Contains(err.Error(), `allowed is that of the file, "tide"`) {
		t.Errorf("err = %v", err)
	}
}

func FuzzParseInfo(f *testing.F) {
	f.Add([]byte(goodInfo))
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`{"` + strings.Repeat("x", 500) + `":1}`))
	f.Add([]byte(`{"seals":[[1e400,1],[null]],"start":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := ParseInfo("f", data)
		if err != nil {
			var fe *FileError
			if !errors.As(err, &fe) || fe.Place == "" || fe.Problem == "" || len(err.Error()) > 300 {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, p := range append([]*Point{&in.Start, &in.Heart}, in.seals()...) {
			if !(p[0] >= 0 && p[0] < World && p[1] >= 0 && p[1] < World) {
				t.Fatalf("%v is not in the world", *p)
			}
		}
	})
}

func FuzzParseWalls(f *testing.F) {
	f.Add([]byte(wallsMagic), 0)
	f.Add([]byte("SWAL"), 10)
	f.Fuzz(func(t *testing.T, data []byte, more int) {
		if more > 0 && more < 1<<20 {
			data = append(data, make([]byte, more)...)
		}
		w, err := ParseWalls("f", data)
		if (err == nil) != (len(w) == Cells*Cells/8) {
			t.Fatalf("%d bytes of walls, %v", len(w), err)
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	g, w := level(b, 8<<20), maze()
	r := build(b, info(), w)
	for b.Loop() {
		g.Reset()
		if _, err := Start(g, info(), w, nil).Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(r.clear)+4*len(r.meet)+Guides*len(r.meet)), "bytes")
}

func BenchmarkField(b *testing.B) {
	r := build(b, info(), maze())
	nodes, f := make([]entry, Window*Window), new(Field)
	for b.Loop() {
		if err := r.fill(f, pages{}, nodes, nil, r.Node(vec{6200, 6200})); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(tiles*tileBytes), "bytes")
}

func ExampleFileError() {
	_, err := ParseInfo("realms/ember.json", []byte(`{"version":3}`))
	fmt.Println(err)
	// Output: realms/ember.json: name: missing; every field is required
}
