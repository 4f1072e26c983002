package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/limits"
	"github.com/strata-go/strata/demo/notices"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/tour"
	"github.com/strata-go/strata/demo/view"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/engine/osthread"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

func main() {
	endWithInput()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with everything passed in: 0 for a run that went well, 1 for one that did not,
// 2 for a command line that is wrong.
func run(args []string, stdout, stderr io.Writer) int {
	out := &cmdline.Output{Writer: stdout}
	o, err := parse(args, stderr, assets.FS())
	switch {
	case errors.Is(err, errVersion):
		fmt.Fprintln(out, version())
		return out.Status("demo", nil, stderr)
	case errors.Is(err, errNotices):
		fmt.Fprint(out, notices.Text)
		return out.Status("demo", nil, stderr)
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if limits.Limited() {
		if err := page.ProbeAddresses(leastRoom); err != nil {
			fmt.Fprintln(stderr, "demo: the limit on address space (ulimit -v) is too low:", err)
			return 1
		}
	}
	if err = o.play(out, stderr); err == nil {
		err = out.Err
	}
	if err != nil {
		fmt.Fprintln(stderr, "demo:", oneLine(err))
		return 1
	}
	return 0
}

// oneLine returns the text of an error. Errors that are joined have a line each.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// leastRoom is the address space that a run under a limit needs to report an error: the stacks of six threads.
const leastRoom = 48 << 20

// headlessTicks is the default length of a run without a window.
const headlessTicks = 600

func (o *options) play(stdout, stderr io.Writer) (err error) {
	o.stderr = stderr
	stats := o.stats
	if stats == "-" {
		stats = ""
	}
	defer o.heed()() // before the first file is made
	if err := writable(stats, o.screenshot, o.capture, o.svg, o.trace.path, o.profile, o.wav, o.record); err != nil {
		return err
	}
	if err := o.readReplay(); err != nil {
		return err
	}
	if !browser && o.compare {
		return o.comparison(stdout)
	}
	if !browser && o.back {
		return o.rollback(stdout)
	}
	if !browser && o.distance > 0 {
		return o.synctest(stdout)
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
	if o.headless && o.replayed != nil {
		return o.replayHeadless(stdout)
	}
	if err := o.trace.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.trace.close()) }()
	play := o.window
	if o.headless {
		play = o.unseen
	}
	r, err := play()
	if r == nil {
		return err
	}
	return errors.Join(err, o.tell(r, stdout))
}

// tell saves and prints the report of a run. If one fails, the other is done: the run does not come again.
func (o *options) tell(r *report, stdout io.Writer) error {
	if o.stats == "-" {
		return r.writeJSON(stdout)
	}
	var saved, said error
	if o.stats != "" {
		saved = r.save(o.stats)
	}
	if o.headless || o.hash {
		said = r.print(stdout, o.hash)
	}
	if r.Books != nil {
		said = errors.Join(said, r.Books.print(stdout))
	}
	return errors.Join(saved, said)
}

func (o *options) files() fs.FS {
	files := o.dir
	if files == nil {
		files = assets.FS()
	} else if _, err := fs.Stat(files, "sound"); err != nil {
		dir := files // it has no sounds: it gets those of the game
		files = session.Routed(func(name string) (fs.FS, string) {
			if strings.HasPrefix(name, "sound/") {
				return assets.FS(), name
			}
			return dir, name
		})
	}
	if o.slow != (slowness{}) {
		return stream.Slow(files, o.slow.latency, o.slow.rate)
	}
	return files
}

// session is what both ways of playing have in common.
func (o *options) session() session.Config {
	o.marked = readMarking()
	mem := tiers.Config{Workers: 2, Trace: o.trace.w}
	if o.profile != "" {
		mem.SampleBytes = profileBytes
	}
	var patience time.Duration // 10 s
	if o.slow.latency > 0 {
		patience = 10*time.Second + o.slow.latency
	}
	mem.Reserve[tiers.Pools] = 192<<20 + uintptr(o.particles)*48
	mem.Reserve[tiers.Static] = 32 << 20
	if runtime.GOOS == "js" { // address space is memory there
		mem.Workers = 1
		patience = time.Minute // a fetch ends by itself, but late where the page's thread is busy
		mem.Reserve = [tiers.Count]uintptr{tiers.Static: 12 << 20, tiers.Frame: 8 << 20, tiers.Level: 8 << 20, tiers.Pools: 96 << 20, tiers.Slab: 8 << 20, tiers.Large: 14 << 20, tiers.Inbox: 16 << 20}
	}
	for t := range tiers.Tier(tiers.Count) {
		mem.Budget[t] = o.budgetOf(t)
	}
	mem.GC.Headroom, mem.GC.Keep = int64(o.headroom)<<20, o.keepGC
	if o.headroom == 0 && !o.keepGC && !o.headless && !session.OnGoHeap() {
		mem.GC.Headroom = windowHeadroom
	}
	var watch time.Duration
	var fallback fs.FS
	if o.dir != nil { // its files may be edited during play
		watch, fallback = time.Second, assets.FS()
	}
	return session.Config{
		Game:  game.Config{Seed: o.seed, Particles: o.particles, Enemies: o.enemies, Heat: float32(o.heat), Guard: o.guard, Quads: o.quads(), Tour: o.tour.Kind},
		Store: o.mem.Store, Rewind: o.rewindBytes(),
		Memory: mem, FS: o.files(), Fallback: fallback, CPU: o.clock(), Patience: patience, Realm: o.realm, Autopilot: o.autopilot, Watch: watch,
		Log: func(err error) { o.log(err.Error()) },
	}
}

// rewindBytes returns the bytes of -rewind. Without a window, and in other stores than the tiers, there are none by
// default.
func (o *options) rewindBytes() int {
	switch {
	case o.rewind >= 0:
		return o.rewind << 20
	case o.headless || o.mem.Store != session.StoreTiers || o.guard:
		return 0
	case browser:
		return 32 << 20
	}
	return 64 << 20
}

// profileBytes is how many requested bytes -profile has one sample for, on average.
const profileBytes = 64 << 10

// windowHeadroom is the garbage of a realm in a window before a collection. Ebitengine leaves some 150 objects a frame,
// and a collection costs a pause of at most a quarter of a millisecond. Without a window nothing leaves garbage.
const windowHeadroom = 8 << 20

// clock returns the second clock of -paced, in addition to the wall's, if the system has it.
func (o *options) clock() func() time.Duration {
	if _, ok := osthread.CPU(); !ok || !o.paced {
		return nil
	}
	return func() time.Duration { used, _ := osthread.CPU(); return used }
}

// quads is the capacity for a screen full of fire. Without a window no quads are written: in the static tier they
// take addresses only. On the Go heap they would count as live and delay its collections.
func (o *options) quads() int {
	switch {
	case o.headless && o.mem.Store != session.StoreTiers:
		return 0
	case runtime.GOOS == "js":
		return 48_000
	}
	return 150_000
}

// unseen plays without a window, as fast as it goes.
func (o *options) unseen() (*report, error) {
	cfg := o.session()
	cfg.Autopilot = true // there is no input
	if cfg.Game.Tour != tour.None {
		cfg.View, cfg.GroundBytes = session.NewStandIn(), o.resident<<20
	}
	if cfg.CPU != nil {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		o.bound = os.Getenv(endsWithInput) != "" && osthread.Bind()
	}
	rec := o.newRecorder()
	rec.attach(&cfg)
	tape, err := o.newTape(&cfg, o.stderr)
	if err != nil {
		return nil, err
	}
	s, err := session.New(cfg)
	if err != nil {
		return nil, err
	}
	err = rec.start(s, o.stderr)
	ticks := cmp.Or(o.ticks, headlessTicks)
	rows, told, clock, breathed := newSeries(o.every, ticks), o.newProgress(ticks), o.newPacer(), time.Now()
	for s.Game.Ticks < ticks && err == nil && !o.stopped.Load() {
		began := time.Now()
		if err = tape.before(s); err == nil {
			err = s.Frame(engine.Input{})
		}
		tape.after(s)
		rec.hear(s)
		rows.add(s, time.Since(began))
		told.tell(s)
		if !s.Playing() {
			time.Sleep(100 * time.Microsecond) // the workers are loading
			continue
		}
		if browser && time.Since(breathed) > 50*time.Millisecond {
			time.Sleep(time.Millisecond) // the page has but one thread
			breathed = time.Now()
		}
		clock.wait()
	}
	rec.stop()
	saved := tape.save()
	r, err := o.finish(s, nil, rows, err)
	if r == nil {
		return nil, errors.Join(err, saved)
	}
	r.Sound = rec.report(o.realm)
	return r, errors.Join(err, saved, rec.save(o.wav))
}

// A pacer is the clock of a paced run without a window: -paced, or a tour without -fast. It waits for sixty frames a
// second and does not catch up with frames that are late by more than a tenth of a second. A nil pacer does not wait.
type pacer struct{ next time.Time }

func (o *options) newPacer() *pacer {
	if !o.paced && (o.tour.Kind == tour.None || o.fast) {
		return nil
	}
	return &pacer{}
}

func (p *pacer) wait() {
	if p == nil {
		return
	}
	now := time.Now()
	if now.Sub(p.next) > time.Second/10 {
		p.next = now
	}
	p.next = p.next.Add(time.Second / 60)
	time.Sleep(p.next.Sub(now))
}

// finish closes a session and returns its report. If -books is set and was not read while there was a window, it is
// read now. If only -profile or -books fails, there is a report and an error.
func (o *options) finish(s *session.Session, b *books, rows *series, err error) (*report, error) {
	err = errors.Join(err, s.EndFrame())
	var r *report
	var extra error
	if err == nil {
		r = summarize(s, o.marked)
		err = s.Check()
	}
	if err == nil && !browser && o.profile != "" {
		extra = save(o.profile, func(w io.Writer) error { return meter.WriteProfile(w, s.Mem) })
	}
	if err == nil && o.books && b == nil {
		var booksErr error
		b, booksErr = keepBooks(s)
		extra = errors.Join(extra, booksErr)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, errors.Join(err, extra)
	}
	r.Books, r.Series, r.Bound = b, rows.result(), o.bound
	return r, extra
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
	cfg.View, cfg.GroundBytes = v, o.resident<<20
	cfg.Left = func() { v.Left(); au.left() }
	tape, err := o.newTape(&cfg, o.stderr)
	if err != nil {
		return nil, err
	}
	cfg.Ready = func() bool { return !v.Reserving() }
	s, err := session.New(cfg)
	if err != nil {
		return nil, err
	}
	if err := au.start(s, o.stderr); err != nil {
		au.stop()
		return o.finish(s, nil, nil, err)
	}
	if err := v.Show(s, o.resident<<20); err != nil {
		au.stop()
		return o.finish(s, nil, nil, err)
	}
	for _, p := range o.overlay {
		v.Overlay.Show(p, true)
	}
	runtime.GC() // fonts and start-up leave a few megabytes
	a := o.newApp(s, v, au, tape)
	opt := render.Options{Title: "Strata", Bleed: view.Bleed, Turn: true, HideCursor: true, Controls: a.controls, Fullscreen: a.sh.Settings().Fullscreen}
	if opt.AfterDraw, err = o.afterDraw(a); err != nil {
		au.stop()
		return o.finish(s, nil, nil, errors.Join(err, v.Overlay.Close()))
	}
	if opt.AfterDraw != nil {
		opt.Resolution = render.ResolutionNative // a picture has the time
	}
	opt.W, opt.H = o.size[0], o.size[1]
	detach := a.attach()
	err = render.Run(a, opt)
	detach()
	au.stop()
	a.ended()
	saved := tape.save()
	r, err := o.finish(s, a.counted, a.rows, errors.Join(err, tape.result(s, o.stderr), v.Overlay.Close()))
	return r, errors.Join(err, saved)
}
