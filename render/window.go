package render

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
)

// TPS is the fixed rate of Update: 60 ticks a second, unless the machine is too slow.
const TPS = 60

// ErrQuit, returned or wrapped by Update or AfterDraw, ends Run without an error.
var ErrQuit = errors.New("render: quit")

// ErrNoDisplay reports that no window can be opened. Run and Probe wrap it with the reason.
var ErrNoDisplay = errors.New("render: no display")

// A Game is updated 60 times a second and drawn once for each picture of the screen, on one goroutine. On a machine
// that is too slow there are fewer updates. An error of Update ends Run. The arguments of Update and Draw are valid
// during the call only.
type Game interface {
	Update(in *Input) error
	Draw(f *Frame)
}

// BloomMode selects whether Frame.Bloom has an effect at the start. Frame.SetBloom changes it later.
type BloomMode int

const (
	BloomAuto BloomMode = iota // off if SoftwareLikely reports true, else on
	BloomOn
	BloomOff
)

// Options configure a window. The zero value is the default. The maximum of sizes and of Bleed is 16384.
type Options struct {
	Title      string // default "Strata"
	W, H       int    // window size in device-independent pixels; default 1280 × 720
	LogicalW   int    // width of the logical screen; default 640
	LogicalH   int    // height of the logical screen; default 360
	Bleed      int    // logical pixels beyond each edge that are drawn if the window has space: see Viewport.Bleed
	Turn       bool   // while the window is higher than wide, the logical screen is LogicalH wide and LogicalW high
	Fullscreen bool
	Bloom      BloomMode
	Resolution Resolution // of the scene
	HideCursor bool       // for games that draw their own cursor

	// Controls bind the devices to actions; nil means DefaultBindings. The game may change them in Update.
	Controls *Controls

	// AfterDraw, if set, is called after each Draw with the scene ended, for example for a [Frame.Screenshot]. Its
	// first error ends Run at the next tick. ErrQuit ends Run without an error.
	AfterDraw func(f *Frame) error
}

func (o *Options) fill() error {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	o.Title = cmp.Or(o.Title, "Strata")
	if o.Controls == nil {
		o.Controls = &Controls{Bindings: DefaultBindings()}
	}
	def(&o.W, 2*LogicalW)
	def(&o.H, 2*LogicalH)
	def(&o.LogicalW, LogicalW)
	def(&o.LogicalH, LogicalH)
	switch {
	case o.W < 1 || o.H < 1 || o.W > 16384 || o.H > 16384:
		return fmt.Errorf("render: window of %d×%d; allowed are 1×1 to 16384×16384", o.W, o.H)
	case o.LogicalW < 1 || o.LogicalH < 1 || o.LogicalW > 16384 || o.LogicalH > 16384:
		return fmt.Errorf("render: logical screen of %d×%d; allowed are 1×1 to 16384×16384", o.LogicalW, o.LogicalH)
	case o.Bleed < 0 || o.Bleed > 16384:
		return fmt.Errorf("render: a bleed of %d logical pixels; allowed are 0 to 16384", o.Bleed)
	case o.Bloom < BloomAuto || o.Bloom > BloomOff:
		return fmt.Errorf("render: bloom mode %d; allowed are BloomAuto, BloomOn and BloomOff", o.Bloom)
	}
	return o.Resolution.check()
}

// Run opens a window and runs g. Call it from the main goroutine, once in a process.
//
// If Update or AfterDraw returns ErrQuit, or if the window is closed, Run returns nil. If no window can be opened, the
// error wraps ErrNoDisplay. Any other error reports a nil g or invalid options, or is an error of Update, of AfterDraw,
// of the shaders of [Frame.Bloom] or of the display. Run does not recover a panic of g, so the panic ends the process.
// If other code recovers the panic, Run returns an error five seconds later.
func Run(g Game, o Options) error {
	if g == nil {
		return errors.New("render: Run without a game")
	}
	if err := o.fill(); err != nil {
		return err
	}
	if err := Probe(); err != nil {
		return err
	}
	ebiten.SetTPS(TPS)
	ebiten.SetVsyncEnabled(true)
	ebiten.SetScreenClearedEveryFrame(false) // Frame does, where it must
	ebiten.SetWindowTitle(o.Title)
	ebiten.SetWindowSize(o.W, o.H)
	ebiten.SetWindowResizingMode(ebiten.WindowResizingModeEnabled)
	SetFullscreen(o.Fullscreen)
	if o.HideCursor {
		ebiten.SetCursorMode(ebiten.CursorModeHidden)
	}
	w := &window{game: g, opt: o, sampler: sampler{last: inHand()}, began: time.Now(), struck: -1}
	w.frame.bloomOn = o.Bloom == BloomOn || o.Bloom == BloomAuto && !SoftwareLikely()
	w.frame.logical = o.Resolution.logical()
	return w.run()
}

// Images returns the name of the graphics library and the approximate size of its images in bytes. The images lie in
// the graphics card's memory. If the library draws with the CPU, the images lie in this process, allocated by C
// libraries. Before Run, library is "Unknown" and bytes is 0. Images is safe for concurrent use.
func Images() (library string, bytes int64) {
	var info ebiten.DebugInfo
	ebiten.ReadDebugInfo(&info)
	return info.GraphicsLibrary.String(), info.TotalGPUImageMemoryUsageInBytes
}

// Focused reports whether the window receives the keyboard. Call it during Update or Draw.
func Focused() bool { return ebiten.IsFocused() }

// IsFullscreen reports whether the window covers the screen. Call it during Update or Draw.
func IsFullscreen() bool { return ebiten.IsFullscreen() }

// SetFullscreen makes the window cover the screen or not. A browser ignores SetFullscreen(true) unless it can cover
// the screen, and the player has just pressed something. Call it during Update or Draw.
func SetFullscreen(on bool) {
	if !on || mayFullscreen() {
		ebiten.SetFullscreen(on)
	}
}

// ShowCursor shows or hides the system's pointer over the window. Call it during Update or Draw.
func ShowCursor(on bool) {
	mode := ebiten.CursorModeHidden
	if on {
		mode = ebiten.CursorModeVisible
	}
	if ebiten.CursorMode() != mode {
		ebiten.SetCursorMode(mode)
	}
}

// A window is the game as Ebitengine sees it.
//
// Invariants: Layout comes before Update, Update before Draw; all on one goroutine.
type window struct {
	game Game
	opt  Options

	outW, outH float64 // device-independent pixels, of which one is dpi physical ones
	dpi        float64
	layouts    int
	w, h       int // physical pixels
	viewport   Viewport
	sampled    Viewport // of the tick before
	frame      Frame
	in         Input
	raw        raw
	sampler    sampler
	devices    devices
	ticks      int64
	began      time.Time
	pacer      pacer
	perUpdate  int   // ticks of each Update of this frame
	struck     int64 // Ebitengine's tick whose presses were read
	drawn      bool  // a frame begins with the next Update
	started    bool
	panicking  atomic.Bool // in Update or Draw; still true after the loop if a panic unwound it
}

// panicReport is the time for the runtime to print a panic and end the process.
const panicReport = 5 * time.Second

// run turns a failure to start, which Ebitengine may report by a panic, into an error.
// A panic of the game passes.
func (w *window) run() (err error) {
	defer func() {
		if w.started {
			return
		}
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", ErrNoDisplay, v)
		} else if err != nil {
			err = fmt.Errorf("%w: %w", ErrNoDisplay, err)
		}
	}()
	err = ebiten.RunGameWithOptions(w, &ebiten.RunGameOptions{X11ClassName: "strata", X11InstanceName: "strata"})
	if w.panicking.Load() {
		// A panic ends Ebitengine's loop before the runtime has printed it. Returning now would
		// race with that report: the process could end without it.
		time.Sleep(panicReport)
		return errors.New("render: the game panicked, and the panic was recovered")
	}
	if errors.Is(err, ErrQuit) {
		err = nil
	}
	return err
}

// LayoutF requests a screen with the window's number of pixels: the game scales its vertices itself, and nothing
// is scaled twice.
func (w *window) LayoutF(outW, outH float64) (float64, float64) {
	// Asking for the monitor costs a Go allocation, so it is asked once a second and when the window changes,
	// as it does when it moves to another monitor.
	if w.layouts%TPS == 0 || outW != w.outW || outH != w.outH {
		w.outW, w.outH, w.dpi = outW, outH, ebiten.Monitor().DeviceScaleFactor()
	}
	w.layouts++
	w.w, w.h = max(int(outW*w.dpi), 1), max(int(outH*w.dpi), 1)
	lw, lh := w.opt.LogicalW, w.opt.LogicalH
	if w.opt.Turn && w.h > w.w {
		lw, lh = lh, lw
	}
	w.frame.logicalW, w.frame.logicalH, w.frame.Density = lw, lh, float32(w.dpi)
	w.viewport = Fit(w.w, w.h, lw, lh)
	if w.opt.Bleed > 0 {
		w.viewport = w.viewport.Bleed(w.w, w.h, w.opt.Bleed)
	}
	return float64(w.w), float64(w.h)
}

// Layout completes the interface; Ebitengine calls LayoutF.
func (w *window) Layout(outW, outH int) (int, int) {
	fw, fh := w.LayoutF(float64(outW), float64(outH))
	return int(fw), int(fh)
}

func (w *window) Update() error {
	w.started = true
	w.panicking.Store(true)
	err := w.paced()
	w.panicking.Store(false)
	return err
}

// paced runs the ticks of an Update: one, or in slow frames all of the frame.
func (w *window) paced() error {
	if w.drawn || w.perUpdate == 0 {
		was := w.pacer.slow
		w.perUpdate, w.drawn = w.pacer.frame(time.Since(w.began)), false
		if slow := w.pacer.slow; slow && !was {
			ebiten.SetTPS(ebiten.SyncWithFPS)
		} else if was && !slow {
			ebiten.SetTPS(TPS)
		}
	}
	for range w.perUpdate {
		began := time.Now()
		if err := w.update(); err != nil {
			return err
		}
		w.pacer.took(time.Since(began))
	}
	return nil
}

func (w *window) update() error {
	if w.frame.err != nil {
		return w.frame.err
	}
	w.devices.read(&w.raw, w.viewport)
	if now := ebiten.Tick(); now == w.struck { // a second tick of an Update
		w.raw.struck = controls{}
	} else {
		w.struck = now
	}
	w.raw.shifted, w.sampled = w.viewport != w.sampled, w.viewport
	lo, hi := w.viewport.Safe()
	w.sampler.sample(&w.in, &w.raw, w.opt.Controls, lo, hi)
	if err := w.game.Update(&w.in); err != nil {
		if errors.Is(err, ErrQuit) {
			return ebiten.Termination
		}
		return err
	}
	w.ticks++
	return nil
}

func (w *window) Draw(screen *ebiten.Image) {
	w.panicking.Store(true)
	w.draw(screen)
	w.panicking.Store(false)
}

func (w *window) draw(screen *ebiten.Image) {
	w.drawn = true
	w.frame.begin(screen, w.viewport, w.ticks)
	w.game.Draw(&w.frame)
	w.frame.EndScene()
	w.frame.touch() // a game that drew nothing shows nothing
	if w.opt.AfterDraw != nil {
		w.frame.fail(w.opt.AfterDraw(&w.frame))
	}
}
