// Package overlay is a memory instrument panel for any Ebitengine game. It shows which tiers are large, which grow,
// which subsystem owns the growth, whether the frame fits its budget, and what happened in the worst frame.
//
// # The idea
//
// A game with a [tiers.Manager] makes four calls: New, Update, Draw and Close. A fifth, Frozen, lets F5 freeze the game.
// A game without a manager passes nil to New. The overlay has its own pictures, vertices and figures, and draws on any
// picture in one draw call. [Overlay.Draw] lists what a frame allocates, usually nothing. F1 shows the strip of vital
// signs, F2 the keys and colours, F3 the largest and the growing tiers. [Part] lists the other keys.
//
// A tap or click in the corner shows the strip, then strip and tiers, then nothing, see [Config].
//
// # A whole program
//
// A memory frame is a tick, not a picture. Between two ticks Ebitengine calls Draw once, several times or not at all.
// Before a Draw it may call Update several times. So Update ends the memory frame of the previous tick and begins a
// new frame. The new frame stays open during Draw. Draw rewinds the frame arena to its state at the end of Update:
//
//	type Game struct {
//		m *tiers.Manager
//		o *overlay.Overlay
//	}
//
//	// Update ends the memory frame of the previous tick, which was drawn, and begins the frame of this tick.
//	func (g *Game) Update() error {
//		g.o.Update()
//		if g.o.Frozen() {
//			return nil // the frame stays open, so that Draw can draw it again
//		}
//		if err := g.m.NextFrame(); err != nil {
//			return err
//		}
//		// The tick. What it allocates from g.m.Frame() is valid until the next tick ends.
//		return nil
//	}
//
//	// Draw draws the result of the tick. Between two ticks it is called once, several times or not at all.
//	func (g *Game) Draw(screen *ebiten.Image) {
//		mark := g.m.Frame().Mark()
//		// Draw the game. Rewind frees the memory that this allocates from g.m.Frame():
//		g.m.Frame().Rewind(mark)
//		g.o.Draw(screen)
//	}
//
//	func (g *Game) Layout(w, h int) (int, int) { return w, h }
//
//	func run() error {
//		m, err := tiers.New(tiers.Config{Tags: true})
//		if err != nil {
//			return err
//		}
//		o, err := overlay.New(m, overlay.Config{})
//		if err != nil {
//			return errors.Join(err, m.Close())
//		}
//		err = m.NextFrame() // for a Draw before the first Update
//		if err == nil {
//			err = ebiten.RunGame(&Game{m: m, o: o})
//		}
//		return errors.Join(err, o.Close(), m.EndFrame(), m.Close())
//	}
//
//	func main() {
//		if err := run(); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// BeginFrame in Update with EndFrame in Draw fails as soon as Update and Draw do not alternate. With NextFrame in
// Draw, all ticks between two pictures would share one frame. A level begins and ends outside frames: call EndFrame
// first.
//
// # More of the game's own
//
//	o.Meter().Monitor("enemies", "", func() float64 { return float64(len(enemies)) })
//	physics := o.Meter().Timer("physics")   // physics.Start() and Stop() in Update
//	o.Add(overlay.Panel{Title: "paths", Key: ebiten.KeyF12, Cols: 20, Rows: 6, Draw: drawPaths})
//
// # Cost
//
// This table has the processor time of Update and Draw with the meter, in µs a frame. It was measured at 1280 × 720
// in the demo at full heat, with 5,000 to 17,000 enemies, on a busy AMD EPYC with Go 1.26.8. The times exclude
// Ebitengine's draw call, which allocates on the Go heap. The figures are updated four times a second:
//
//	         median   longest frame between two updates: of each frame the least of the rounds
//	hidden     0.21   with Ebitengine's keys
//	watched      20    39
//	strip        67    81
//	help         83   101
//	tiers       128   170
//	maps         95   121   for a heap of any size: a thousand blocks a frame are visited
//	leaks        80   132
//	memory       89   129   and some objects on another goroutine when it is opened
//	all         218   213
//
// STRATA_TEST=full go test -v -run 'FullHeat|Hidden' ./render/overlay prints this table. go test -bench . prints the times with warm
// caches. An overlay has about 2 MiB on the Go heap and 1 MiB of the GPU's memory, and New takes about 15 ms. A
// hidden overlay without [Config.Watch] measures nothing, so its curves begin when it is opened.
//
// # Goroutines and the collector
//
// An Overlay belongs to the goroutine that calls Update and Draw. Another goroutine writes a dump, from copies of the
// figures. Others query the system for resident memory, and read the profile of the Go heap.
package overlay
