package overlay_test

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

// Ebitengine runs once in a process, so the game of the window test is a process of its own. That is this binary,
// which plays for so many seconds and writes a picture.
const (
	sceneEnv = "STRATA_OVERLAY_SCENE" // seconds
	shotEnv  = "STRATA_OVERLAY_SHOT"  // a PNG
	sizeEnv  = "STRATA_OVERLAY_SIZE"  // WxH
)

var _ = main // the program of the package comment is compiled, and not run

func TestMain(m *testing.M) {
	if s := os.Getenv(sceneEnv); s != "" {
		seconds, err := strconv.ParseFloat(s, 64)
		if err == nil {
			err = play(seconds, os.Getenv(shotEnv))
		}
		if err != nil {
			fmt.Println("scene:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A leaky is the game of the package comment, with a tag that leaks 100 KiB a second and what a level
// has beside it.
type leaky struct {
	Game
	ai, sound *tiers.Tag
	owed      float64
	last      time.Time
	until     time.Time
	shot      string
	mallocs   [2]float64 // Go objects a frame, hidden and shown
	stats     runtime.MemStats
	before    uint64
	draws     int
	done      bool
}

func (g *leaky) Update() error {
	if g.done {
		return ebiten.Termination
	}
	if err := g.Game.Update(); err != nil {
		return err
	}
	now := time.Now()
	if !g.last.IsZero() {
		g.owed += 100 << 10 * now.Sub(g.last).Seconds()
	}
	for g.last = now; g.owed >= 1024; g.owed -= 1024 {
		if _, err := g.ai.Alloc(1024, 8); err != nil {
			return err
		}
	}
	p, err := g.sound.Alloc(512, 8)
	if err == nil {
		g.m.Free(p, 512)
	}
	return err
}

// Draw counts what Ebitengine and the overlay allocate in 60 frames each, hidden and with the tiers, and
// takes a picture at the end.
func (g *leaky) Draw(screen *ebiten.Image) {
	g.Game.Draw(screen)
	if g.draws++; g.draws == 1 {
		fmt.Printf("corners %v\n", cornersError())
	}
	const warm, count = 30, 60
	switch phase := g.draws % (warm + count); {
	case phase == warm && g.draws < 2*(warm+count):
		runtime.ReadMemStats(&g.stats)
		g.before = g.stats.Mallocs
	case phase == 0 && g.draws <= 2*(warm+count):
		runtime.ReadMemStats(&g.stats)
		g.mallocs[g.draws/(warm+count)-1] = float64(g.stats.Mallocs-g.before) / count
		g.o.Show(overlay.Tiers, true)
		g.o.Show(overlay.Strip, true)
	}
	if g.draws == 2*(warm+count) {
		g.o.Dump()
	}
	if g.draws > 2*(warm+count)+20 && time.Now().After(g.until) {
		g.done = true
		b := screen.Bounds()
		img := image.NewRGBA(b)
		screen.ReadPixels(img.Pix)
		if f, err := os.Create(g.shot); err == nil {
			_ = errors.Join(png.Encode(f, img), f.Close())
		}
	}
}

// cornersError draws a HUD into three corners of a picture, each three in turn. It returns an error unless an overlay
// opens in the fourth, stays there while it is open, and then finds the next. In a picture as wide as the strip, two
// corners are the same to it, and it keeps clear of a HUD in either.
func cornersError() error {
	o, err := overlay.New(nil, overlay.Config{Watch: true})
	if err != nil {
		return err
	}
	defer o.Close()
	for _, c := range []struct {
		w    int
		free []int // the corners without a HUD
	}{{1280, []int{2}}, {1280, []int{0}}, {1280, []int{3}}, {1280, []int{1}}, {640, []int{0, 1}}, {640, []int{0, 2, 3}}, {640, []int{0, 1, 3}}} {
		img := pictureWithHUD(c.w, c.free)
		o.Draw(img)
		for range 3 {
			o.Show(overlay.Strip, true)
			o.Draw(img)
			covers := 0
			for k := range 4 {
				if r := hudAt(c.w, k); o.Covers(float32(r.Min.X), float32(r.Min.Y), float32(r.Dx()), float32(r.Dy())) {
					if covers++; !slices.Contains(c.free, k) {
						return fmt.Errorf("%d wide: corners %v are free, and the overlay lies in %d", c.w, c.free, k)
					}
				}
			}
			if covers == 0 {
				return fmt.Errorf("%d wide: corners %v are free, and the overlay lies elsewhere", c.w, c.free)
			}
		}
		o.Show(overlay.Strip, false)
		o.Draw(img)
		img.Deallocate()
	}
	return nil
}

// hudAt returns where 20 letters lie in corner c of a picture that is w wide.
func hudAt(w, c int) image.Rectangle {
	return image.Rect(16, 16, 216, 40).Add(image.Pt(c%2*(w-232), c/2*(pictureHeight-56)))
}

const pictureHeight = 360

// pictureWithHUD returns a sky that grows brighter, which is no detail, with letters in all corners but the free ones.
func pictureWithHUD(w int, free []int) *ebiten.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, pictureHeight))
	for i := range img.Pix {
		img.Pix[i] = uint8(40 + i/4/w/4)
	}
	for c := range 4 {
		for i := range 20 {
			if !slices.Contains(free, c) {
				r := image.Rect(0, 0, 6, 20).Add(hudAt(w, c).Min).Add(image.Pt(10*i, 0))
				draw.Draw(img, r, image.White, image.Point{}, draw.Src)
			}
		}
	}
	return ebiten.NewImageFromImage(img)
}

func play(seconds float64, shot string) error {
	if err := render.Probe(); err != nil {
		return err
	}
	m, err := tiers.New(tiers.Config{Tags: true})
	if err != nil {
		return err
	}
	o, err := overlay.New(m, overlay.Config{Dir: filepath.Dir(shot)})
	if err != nil {
		return err
	}
	g := &leaky{Game: Game{m, o}, shot: shot, until: time.Now().Add(time.Duration(seconds * 1e9))}
	g.ai, _ = m.Tag("ai")
	g.sound, _ = m.Tag("sound")
	enemies := 57.0
	o.Meter().Monitor("enemies", "", func() float64 { return enemies })
	if err := errors.Join(m.BeginLevel(), m.BeginFrame()); err != nil {
		return err
	}
	w, h := 640, 360
	if s := os.Getenv(sizeEnv); s != "" {
		if _, err := fmt.Sscanf(s, "%dx%d", &w, &h); err != nil {
			return err
		}
	}
	ebiten.SetWindowSize(w, h)
	err = ebiten.RunGame(g)
	fmt.Printf("objects %.2f %.2f\n", g.mallocs[0], g.mallocs[1])
	return errors.Join(err, o.Close(), m.EndFrame(), m.Close())
}

func TestWindow_APlainGameShowsItAndAllocatesNoMore(t *testing.T) {
	if err := render.Probe(); err != nil {
		testenv.Missing(t, err.Error())
	}
	shot := filepath.Join(t.TempDir(), "shot.png")
	cmd := testenv.Command(t, os.Args[0])
	cmd.Env = append(cmd.Environ(), sceneEnv+"=1", shotEnv+"="+shot)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "corners <nil>") {
		t.Errorf("the overlay does not open in the free corner:\n%s", out)
	}
	var hidden, shown float64
	_, list, _ := strings.Cut(string(out), "objects ")
	if _, err := fmt.Sscan(list, &hidden, &shown); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// Ebitengine's own draw call has some ten objects, see package render.
	if t.Logf("%.2f Go objects a frame hidden, %.2f with strip and tiers", hidden, shown); shown > hidden+16 {
		t.Errorf("%.2f Go objects a frame, %.2f hidden", shown, hidden)
	}
	for _, ext := range []string{"json", "csv", "png"} {
		if all, _ := filepath.Glob(filepath.Join(filepath.Dir(shot), "strata-*."+ext)); len(all) != 1 {
			t.Errorf("dumps: %v", all)
		}
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	lit := 0
	for y := range 100 {
		for x := range 300 {
			if r, _, _, _ := img.At(x, y).RGBA(); r > 0x8000 {
				lit++
			}
		}
	}
	if lit < 500 {
		t.Errorf("%d bright pixels where the panels are", lit)
	}
}

// The program of the package comment is the one that this package compiles.
func TestDoc_TheProgramIsTheOneThatIsCompiled(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	program := string(text[strings.Index(string(text), "type Game struct"):])
	var want strings.Builder
	for line := range strings.Lines(program) {
		if line != "\n" {
			want.WriteString("\t")
		}
		want.WriteString(line)
	}
	if !strings.Contains(file.Doc.Text(), strings.TrimRight(want.String(), "\n")) {
		t.Error("doc.go has another program than example_test.go")
	}
}
