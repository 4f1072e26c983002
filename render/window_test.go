package render

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// Ebitengine runs once in a process and on its main goroutine. So every scene is a process of its own: this test
// binary, which plays a scene instead of testing if sceneEnv is set.
const (
	sceneEnv = "STRATA_RENDER_SCENE"
	shotEnv  = "STRATA_RENDER_SHOT"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(sceneEnv); name != "" {
		if err := playScene(name, os.Getenv(shotEnv)); err != nil {
			fmt.Println("scene:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A scene draws with a batch that is ready; load is called in the first tick. It ends with a screenshot.
type scene struct {
	opt    Options
	ticks  int64  // before the screenshot, at least 3
	shot   string // its file; "": that of the test
	load   func(a *Atlas) error
	draw   func(f *Frame, q *Quads, a *Atlas, font *Font)
	update func(tick int) error

	atlas *Atlas
	font  *Font
	q     Quads
	verts []Vertex
	ix    []uint32
	tick  int
}

func (s *scene) Update(*Input) error {
	s.tick++
	if s.tick == 1 && s.load != nil {
		if err := s.load(s.atlas); err != nil {
			return err
		}
	}
	if s.tick > 600 {
		return errors.New("the scene did not end")
	}
	if s.update != nil {
		return s.update(s.tick)
	}
	return nil
}

func (s *scene) Draw(f *Frame) {
	s.q.Begin(s.verts, s.ix, s.atlas, f.View())
	if s.draw != nil {
		s.draw(f, &s.q, s.atlas, s.font)
	}
	f.Submit(s.atlas, &s.q)
}

func playScene(name, shot string) error {
	s, ok := scenes()[name]
	if !ok {
		return fmt.Errorf("no scene %q", name)
	}
	var err error
	if s.atlas, err = NewAtlas(AtlasConfig{Page: 1024}); err != nil {
		return err
	}
	if s.font, err = NewFont(s.atlas); err != nil {
		return err
	}
	s.verts, s.ix = make([]Vertex, 8000), make([]uint32, 12000)
	if s.opt.AfterDraw == nil {
		s.opt.AfterDraw = func(f *Frame) error {
			if f.Tick < max(s.ticks, 3) {
				return nil
			}
			if err := f.Screenshot(cmp.Or(s.shot, shot)); err != nil {
				return err
			}
			return ErrQuit
		}
	}
	return Run(s, s.opt)
}

func scenes() map[string]*scene {
	bloomed := func(m BloomMode) *scene {
		return &scene{opt: Options{Bloom: m}, draw: func(f *Frame, q *Quads, a *Atlas, _ *Font) {
			q.Rect(300, 160, 40, 40, RGB(0xffe0a0))
			f.Submit(a, q)
			f.Bloom(DefaultBloom)
			q.Begin(q.verts, q.indices, a, f.View())
			q.Rect(100, 100, 20, 20, White)
		}}
	}
	return map[string]*scene{
		"blend":     {draw: drawBlend},
		"sprites":   {load: loadSprites, draw: drawSprites},
		"text":      {draw: drawText},
		"letterbox": {opt: Options{W: 700, H: 720}, draw: drawLetterbox},
		"bloom":     bloomed(BloomOn),
		"nobloom":   bloomed(BloomOff),
		"logical":   {opt: Options{Resolution: ResolutionLogical, Bloom: BloomOff, W: 1280, H: 800}, draw: drawScene},
		"native":    {opt: Options{Resolution: ResolutionNative, Bloom: BloomOff, W: 1280, H: 800}, draw: drawScene},
		"bleed":     {opt: Options{Resolution: ResolutionNative, Bloom: BloomOff, W: 1280, H: 600, Bleed: 40}, draw: drawBleed},
		"bleedlog":  {opt: Options{Resolution: ResolutionLogical, Bloom: BloomOff, W: 1280, H: 600, Bleed: 40}, draw: drawBleed},
		"bleedglow": {opt: Options{Resolution: ResolutionNative, Bloom: BloomOn, W: 1280, H: 600, Bleed: 40}, draw: drawBleedGlow},
		"unended":   {opt: Options{Resolution: ResolutionLogical}, draw: drawUnended},
		"unseen":    {ticks: 100, update: writeUnseen},
		"pieces":    {draw: drawPieces},
		"tiles":     {draw: drawTiles},
		"growing":   {ticks: 100, draw: drawMore, update: weighMore},
		"reserved":  {ticks: 100, draw: drawReserved, update: weighReserved},
		"quit":      {update: func(int) error { return fmt.Errorf("enough: %w", ErrQuit) }},
		"fail":      {update: func(int) error { return errors.New("the level is broken") }},
		"panic":     {update: func(int) error { panic("a bug in the game") }},
		"slowpanic": {draw: func(*Frame, *Quads, *Atlas, *Font) { panic(slowError{}) }},
		"badshot":   {shot: filepath.Join("no", "such", "folder", "x.png")},
		"afterdraw": {opt: Options{AfterDraw: func(*Frame) error { return errors.New("disk full") }}},
	}
}

// unseen are tiles of a page that is never drawn.
var unseen struct {
	tiles *Tiles
	rgba  []byte
	live  uint64
}

// writeUnseen writes a tile in each of sixty ticks, and then looks at what Ebitengine has kept of them.
func writeUnseen(tick int) (err error) {
	const side, first, last = 256, 10, 62
	u := &unseen
	switch {
	case tick == 1:
		u.rgba = make([]byte, 4*side*side)
		u.tiles, err = NewTiles(TilesConfig{Pages: 1})
	case tick < last:
		var tile Tile
		if tile, err = u.tiles.Place(side); err == nil {
			err = u.tiles.Write(tile, 0, u.rgba)
		}
	}
	if tick != first && tick != last+5 {
		return err
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if tick == first {
		u.live = m.HeapAlloc
	} else if kept := int64(m.HeapAlloc - u.live); kept > 4<<20 {
		return fmt.Errorf("%d KiB are kept of %d written", kept>>10, (last-first)*len(u.rgba)>>10)
	}
	return err
}

// growing counts frames, each of which has more quads than any before it.
var growing struct {
	frames int
	before uint64
}

func drawMore(_ *Frame, q *Quads, _ *Atlas, _ *Font) {
	growing.frames++
	for range 500 + 20*min(growing.frames, 70) {
		q.Rect(300, 160, 4, 4, White)
	}
}

// weighMore looks at what sixty of these frames have left to the collector.
func weighMore(int) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if growing.frames < 10 {
		growing.before = m.TotalAlloc
	}
	if took := m.TotalAlloc - growing.before; took > 6<<20 {
		return fmt.Errorf("%d frames took %d KiB of the Go heap", growing.frames-10, took>>10)
	}
	return nil
}

// drawReserved reserves buffers in the first frames, and then draws one more batch in every other frame.
func drawReserved(f *Frame, q *Quads, a *Atlas, font *Font) {
	if drawMore(f, q, a, font); growing.frames <= 4 {
		for range 32 {
			f.Reserve(a, q)
		}
		return
	}
	f.EndReserve()
	for range min(growing.frames-4, 60) / 2 {
		f.Submit(a, q)
	}
}

func weighReserved(int) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if growing.frames < 10 {
		growing.before = m.TotalAlloc
	}
	if took := m.TotalAlloc - growing.before; took > 24<<20 {
		return fmt.Errorf("%d frames took %d KiB of the Go heap", growing.frames-10, took>>10)
	}
	return nil
}

// A slowError is printed by the runtime long after the panic has ended Ebitengine's loop.
type slowError struct{}

func (slowError) Error() string {
	time.Sleep(time.Second)
	return "a bug that is long in the telling"
}

func drawBlend(_ *Frame, q *Quads, _ *Atlas, _ *Font) {
	base := RGB(0x204060)
	q.Rect(10, 10, 50, 10, base)
	q.Rect(20, 10, 10, 10, Color{64.0 / 255, 0, 0, 0})          // light
	q.Rect(30, 10, 10, 10, White.Fade(0.5))                     // half covered
	q.Rect(40, 10, 10, 10, White.Light(1))                      // saturates
	q.Rect(50, 10, 10, 10, Color{16.0 / 255, 16.0 / 255, 0, 1}) // covered
}

func loadSprites(a *Atlas) error {
	pic := make([]byte, 0, 4*16)
	for i := range byte(16) {
		pic = append(pic, i*16, 255-i*16, i, 255)
	}
	_, err1 := a.ReserveTile(0, 4, 4)
	err2 := a.Upload(0, pic, 4, 4)
	clear(pic) // the caller's block is free once Upload returned
	_, err3 := a.Reserve(1, 4, 4)
	return errors.Join(err1, err2, err3)
}

func drawSprites(_ *Frame, q *Quads, a *Atlas, _ *Font) {
	q.Picture(a.Lookup(0), 10, 10, 2, 2, White)             // one texel, one pixel
	q.Tiles(a.Lookup(0), 20, 10, 8, 4, 0.5, 0, 0.5, White)  // the same, moved and repeated
	q.Picture(a.Lookup(1), 40, 10, 8, 8, White)             // not uploaded
	q.Sprite(a.White(), 60, 20, 4, 4, 0, Color{1, 0, 0, 1}) // centred
}

func drawText(_ *Frame, q *Quads, _ *Atlas, f *Font) {
	q.Text(f, 10, 10, 1, White, "Strata 0.5 µs ▲\n×4")
	q.Text(f, 10.3, 60.4, 0.5, White, "tabular 0123456789")
	q.Text(f, 10, 100, 2, White, "BIG")
}

func drawLetterbox(f *Frame, q *Quads, _ *Atlas, _ *Font) {
	q.Rect(-100, -100, 2000, 2000, RGB(0x102030))
}

// runScene plays a scene and returns its picture, nil where it made none, and what it
// printed.
func runScene(t *testing.T, name string) (image.Image, string, error) {
	t.Helper()
	needDisplay(t)
	shot := filepath.Join(t.TempDir(), "shot.png")
	cmd := testenv.Command(t, os.Args[0])
	cmd.Env = append(cmd.Environ(), sceneEnv+"="+name, shotEnv+"="+shot)
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), ErrNoDisplay.Error()) {
		testenv.Missing(t, string(out))
	}
	file, openErr := os.Open(shot)
	if openErr != nil {
		return nil, string(out), err
	}
	defer file.Close()
	img, decodeErr := png.Decode(file)
	if decodeErr != nil {
		t.Fatal(decodeErr)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(shot), ".strata-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return img, string(out), err
}

func needDisplay(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "freebsd" {
		t.Skip("exact pixels are checked under X11")
	}
	if err := Probe(); err != nil {
		testenv.Missing(t, err.Error())
	}
}

// picture is runScene for scenes that must succeed, with the physical pixels a logical one.
func picture(t *testing.T, name string) (image.Image, int) {
	t.Helper()
	img, out, err := runScene(t, name)
	if err != nil || img == nil {
		t.Fatalf("scene %s: %v\n%s", name, err, out)
	}
	return img, Fit(img.Bounds().Dx(), img.Bounds().Dy(), LogicalW, LogicalH).W / LogicalW
}

// want compares a pixel; GPUs may round either way.
func want(t *testing.T, img image.Image, x, y int, hex uint32, tolerance int) {
	t.Helper()
	c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
	near := func(got uint8, want uint32) bool {
		d := int(got) - int(want&0xff)
		return d >= -tolerance && d <= tolerance
	}
	if !near(c.R, hex>>16) || !near(c.G, hex>>8) || !near(c.B, hex) {
		t.Errorf("pixel %d,%d = %02x%02x%02x, want %06x", x, y, c.R, c.G, c.B, hex)
	}
}

func TestWindow_BlendsLightAndCoverageInOneCall(t *testing.T) {
	img, k := picture(t, "blend")
	for i, hex := range []uint32{0x204060, 0x604060, 0x90a0b0, 0xffffff, 0x101000} {
		x := (10 + 10*i) * k
		want(t, img, x, 10*k, hex, 1)
		want(t, img, x+10*k-1, 20*k-1, hex, 1)
	}
	want(t, img, 10*k-1, 10*k, 0, 0)
	want(t, img, 60*k, 10*k, 0, 0)
	want(t, img, 10*k, 20*k, 0, 0)
}

func TestWindow_SpritesShowTheirTexels(t *testing.T) {
	img, k := picture(t, "sprites")
	if k != 2 {
		testenv.Missing(t, fmt.Sprintf("texels are compared at scale 2, this screen has %d", k))
	}
	texel := func(i int) uint32 { return uint32(i*16)<<16 | uint32(255-i*16)<<8 | uint32(i) }
	for y := range 4 {
		for x := range 4 {
			want(t, img, 20+x, 20+y, texel(4*y+x), 1)
		}
	}
	for y := range 8 {
		for x := range 16 {
			want(t, img, 40+x, 20+y, texel(4*(y%4)+(x+3)%4), 1)
		}
	}
	want(t, img, 82, 22, 0xff00ff, 1)
	want(t, img, 86, 22, 0x180018, 1)
	want(t, img, 116, 36, 0xff0000, 1)
	want(t, img, 123, 43, 0xff0000, 1)
	want(t, img, 115, 36, 0, 0)
}

// A pixel of the window is one of the typeface's, rasterized at the window's size.
func TestWindow_TextIsCrisp(t *testing.T) {
	img, k := picture(t, "text")
	f := &Font{}
	for _, r := range symbols {
		f.extra[f.extras] = extraGlyph{r, ascii + f.extras}
		f.extras++
	}
	cells, err := rasterize(f.runes(), k)
	if err != nil {
		t.Fatal(err)
	}
	lit := 0
	for i, r := range []rune("Strata 0.5 µs ▲") {
		for y := range GlyphH * k {
			for x := range GlyphW * k {
				want := cells.AlphaAt(x, f.glyph(r)*GlyphH*k+y).A
				c := color.RGBAModel.Convert(img.At((10+i*GlyphW)*k+x, 10*k+y)).(color.RGBA)
				if max(want, c.R)-min(want, c.R) > 2 {
					t.Fatalf("pixel %d,%d of %q is %v, not %d", x, y, r, c, want)
				}
				lit += int(c.R) / 128
			}
		}
	}
	if lit < 100 {
		t.Errorf("%d pixels lit", lit)
	}
}

func TestWindow_LetterboxStaysBlack(t *testing.T) {
	img, _ := picture(t, "letterbox")
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	vp := Fit(w, h, LogicalW, LogicalH)
	if vp.Y == 0 {
		t.Fatalf("%d×%d has no letterbox", w, h)
	}
	want(t, img, w/2, h/2, 0x102030, 1)
	want(t, img, w/2, vp.Y, 0x102030, 1)
	want(t, img, w/2, vp.Y-1, 0, 0)
	want(t, img, w/2, vp.Y+vp.H, 0, 0)
	want(t, img, 0, 0, 0, 0)
}

func TestWindow_BloomGlowsAroundTheWorldOnly(t *testing.T) {
	img, k := picture(t, "bloom")
	off, _ := picture(t, "nobloom")
	lum := func(img image.Image, x, y int) int {
		r, g, b, _ := img.At(x, y).RGBA()
		return int(r+g+b) / 3 >> 8
	}
	near, far := lum(img, 296*k, 180*k), lum(img, 270*k, 180*k)
	if near < 20 || far >= near || lum(img, 20*k, 20*k) != 0 {
		t.Errorf("glow: near %d, far %d, corner %d", near, far, lum(img, 20*k, 20*k))
	}
	if lum(img, 97*k, 110*k) != 0 {
		t.Error("what was drawn after Bloom glows")
	}
	if lum(off, 296*k, 180*k) != 0 {
		t.Error("bloom is off and glows")
	}
}

func TestWindow_EndsAndFailures(t *testing.T) {
	for name, text := range map[string]string{
		"quit":      "",
		"fail":      "scene: the level is broken",
		"panic":     "a bug in the game",
		"slowpanic": "a bug that is long in the telling",
		"badshot":   "scene: render: screenshot: create no/such/folder/x.png: ",
		"afterdraw": "scene: disk full",
	} {
		_, out, err := runScene(t, name)
		if (err != nil) != (text != "") || !strings.Contains(out, text) {
			t.Errorf("%s: %v, printed %q", name, err, out)
		}
	}
}

// TestWindow_APageOutOfSightKeepsNoTexels: they go to the GPU with the frame that wrote them.
func TestWindow_APageOutOfSightKeepsNoTexels(t *testing.T) {
	if _, out, err := runScene(t, "unseen"); err != nil {
		t.Errorf("%v, printed %q", err, out)
	}
}

// TestWindow_AFrameThatIsLargerThanAnyBeforeItLeavesLittle: a slice of as many vertices as it has would be 15 MiB by
// the end.
func TestWindow_AFrameThatIsLargerThanAnyBeforeItLeavesLittle(t *testing.T) {
	if _, out, err := runScene(t, "growing"); err != nil {
		t.Errorf("%v, printed %q", err, out)
	}
}

// TestWindow_WhatIsReservedIsNotAskedForAgain: one batch more in every other frame would grow Ebitengine's slices
// step by step, through 75 MiB.
func TestWindow_WhatIsReservedIsNotAskedForAgain(t *testing.T) {
	if _, out, err := runScene(t, "reserved"); err != nil {
		t.Errorf("%v, printed %q", err, out)
	}
}

func TestRun_RefusesBadOptions(t *testing.T) {
	for text, o := range map[string]Options{
		"window of -1×720":         {W: -1},
		"logical screen of 640×-2": {LogicalH: -2},
		"bloom mode 7":             {Bloom: 7},
		"a bleed of -1 logical":    {Bleed: -1},
		"resolution -1":            {Resolution: -1},
	} {
		if err := Run(&scene{}, o); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	if err := Run(nil, Options{}); err == nil {
		t.Error("Run without a game")
	}
}
