package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/view"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with everything passed in: 0 for a run that went well, 1 for one that did not,
// 2 for a command line that is wrong.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr, assets.FS())
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if err := o.play(stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "demo:", err)
		return 1
	}
	return 0
}

// headlessTicks is how long a run without a window plays unless told.
const headlessTicks = 600

func (o *options) play(stdout, stderr io.Writer) (err error) {
	o.stderr = stderr
	var out *pending
	if o.stats != "" {
		if out, err = create(o.stats); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				out.abandon()
			}
		}()
	}
	if !o.headless {
		if err := render.Probe(); err != nil {
			if o.screenshot != "" || o.capture != "" {
				return fmt.Errorf("-screenshot and -capture: %w", err)
			}
			fmt.Fprintf(stderr, "demo: %v; playing headless\n", err)
			o.headless = true
		}
	}
	play := o.window
	if o.headless {
		play = o.unseen
	}
	r, err := play()
	if err != nil {
		return err
	}
	if o.headless || o.hash {
		if err := r.print(stdout, o.hash); err != nil {
			return err
		}
	}
	if o.books {
		if err := r.Books.print(stdout); err != nil {
			return err
		}
	}
	if out != nil {
		if err := out.commit(r); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) files() fs.FS {
	files := o.dir
	if files == nil {
		files = assets.FS()
	}
	if o.slow != (slowness{}) {
		return stream.Slow(files, o.slow.latency, o.slow.rate)
	}
	return files
}

// session is what both ways of playing have in common.
func (o *options) session() game.SessionConfig {
	mem := tiers.Config{Workers: 2}
	mem.Reserve[tiers.Pools] = 192<<20 + uintptr(o.particles)*48
	if runtime.GOOS == "js" { // address space is memory there
		mem.Workers = 1
		mem.Reserve = [tiers.Count]uintptr{12 << 20, 8 << 20, 8 << 20, 96 << 20, 8 << 20, 14 << 20, 16 << 20}
	}
	for t, share := range o.budget {
		if share > 0 {
			mem.Budget[t] = uintptr(share * float64(mem.Reserved(tiers.Tier(t))))
		}
	}
	return game.SessionConfig{
		Game:   game.Config{Seed: o.seed, Particles: o.particles, Enemies: o.enemies, Heat: float32(o.heat), Guard: o.guard, Quads: o.quads()},
		Memory: mem, FS: o.files(), Level: o.level, Autopilot: o.autopilot,
		Log: func(err error) { fmt.Fprintln(o.stderr, "demo:", err) },
	}
}

// quads is room for a screen of fire, or for none where nobody looks.
func (o *options) quads() int {
	if o.headless {
		return 0
	}
	return 32_000
}

// unseen plays without a window, as fast as it goes.
func (o *options) unseen() (*report, error) {
	cfg := o.session()
	cfg.Autopilot = true // nobody is there to play
	s, err := game.NewSession(cfg)
	if err != nil {
		return nil, err
	}
	ticks := o.ticks
	if ticks == 0 {
		ticks = headlessTicks
	}
	for s.Game.Ticks < ticks && err == nil {
		err = s.Frame(engine.Input{})
		if !s.Playing() {
			time.Sleep(100 * time.Microsecond) // the workers are loading
		}
	}
	return o.finish(s, nil, err)
}

// finish closes a session and says how it went. Books that were asked for and not taken while there
// was a window are taken now.
func (o *options) finish(s *game.Session, b *books, err error) (*report, error) {
	err = errors.Join(err, s.EndFrame())
	var r *report
	if err == nil {
		r = summarize(s)
		err = s.Check()
	}
	if err == nil && o.books && b == nil {
		b, err = keepBooks(s)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	r.Books = b
	return r, nil
}

// window plays on the screen.
func (o *options) window() (*report, error) {
	v, err := view.New()
	if err != nil {
		return nil, err
	}
	cfg := o.session()
	cfg.Attract = !o.autopilot
	au := &audio{}
	cfg.Sink, cfg.Game.Sound = v.Sink, &au.events
	cfg.Left = func() { v.Left(); au.left() }
	s, err := game.NewSession(cfg)
	if err != nil {
		return nil, err
	}
	tag, err := s.Mem.Tag("sound")
	if err == nil {
		err = au.start(tag, o.files(), o.stderr)
	}
	if err != nil {
		au.stop()
		return o.finish(s, nil, err)
	}
	if err := v.Show(s); err != nil {
		au.stop()
		return o.finish(s, nil, err)
	}
	for _, p := range o.overlay {
		v.Overlay.Show(p, true)
	}
	runtime.GC() // fonts and start-up leave a few megabytes
	a := &app{s: s, v: v, audio: au, ticks: o.ticks, shoot: o.screenshot != "" || o.capture != "", keep: o.books, timer: v.Overlay.Meter().Timer("tick")}
	opt := render.Options{Title: "Strata", HideCursor: true}
	if opt.AfterDraw, err = o.afterDraw(s, a.quit); err != nil {
		au.stop()
		return o.finish(s, nil, errors.Join(err, v.Overlay.Close()))
	}
	if opt.AfterDraw != nil {
		opt.Resolution = render.ResolutionNative // a picture has the time
	}
	opt.W, opt.H = o.size[0], o.size[1]
	err = render.Run(a, opt)
	au.stop()
	return o.finish(s, a.kept, errors.Join(err, v.Overlay.Close()))
}

// app is the game as the window sees it.
type app struct {
	s     *game.Session
	v     *view.View
	audio *audio
	ticks uint64
	shoot bool // a screenshot ends the run, not the count of ticks
	timer *meter.Timer
	keep  bool // books are to be taken before the window goes, and what it has in memory
	kept  *books
}

// quit ends the run, with the window still there.
func (a *app) quit() (err error) {
	if a.keep {
		a.kept, err = keepBooks(a.s)
	}
	if err != nil {
		return err
	}
	return render.ErrQuit
}

// Update is one frame: input in, at most one tick, none where the overlay has frozen the game.
func (a *app) Update(in *render.Input) error {
	a.v.Overlay.Update()
	defer a.audio.update(a.s, in.Mute)
	if a.v.Overlay.Frozen() {
		return nil
	}
	if a.ticks > 0 && a.s.Game.Ticks >= a.ticks && !a.shoot {
		return a.quit()
	}
	e := engine.Input{Move: in.Move, Aim: in.Aim}
	e.Down.Set(game.Fire, in.Fire)
	e.Pressed.Set(game.Dash, in.Dash)
	e.Pressed.Set(game.Pause, in.Pause)
	e.Pressed.Set(game.Restart, in.Restart)
	for i, b := range [...]engine.Buttons{game.Choose1, game.Choose2, game.Choose3} {
		e.Pressed.Set(b, in.Choose[i])
	}
	e.Pressed.Set(game.AnyKey, in.AnyKey && !anyF(in.F))
	if a.s.Playing() {
		e.Aim = in.AimFrom(a.v.PlayerOnScreen())
	}
	a.timer.Start()
	err := a.s.Frame(e)
	a.timer.Stop()
	if err != nil {
		return err
	}
	a.v.Update()
	return nil
}

// anyF reports whether a function key was pressed: those are the overlay's.
func anyF(f [9]bool) bool {
	for _, down := range f {
		if down {
			return true
		}
	}
	return false
}

// Draw draws the frame that Update opened.
func (a *app) Draw(f *render.Frame) { a.v.Draw(f) }
