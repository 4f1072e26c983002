//go:build cgo || !(freebsd || netbsd)

package sound

import (
	"io"
	"sync"
	"time"

	"github.com/ebitengine/oto/v3"
)

// The library allows one context in a process and cannot end it. So it is made once and suspended while nothing
// plays.
var system struct {
	once  sync.Once
	ctx   *oto.Context
	ready chan struct{}
	err   error
}

func openOutput() (output, <-chan struct{}, error) {
	if err := probe(); err != nil {
		return nil, nil, err
	}
	return openSystem()
}

// openSystem opens the library's context without a probe.
func openSystem() (output, <-chan struct{}, error) {
	s := &system
	s.once.Do(func() {
		s.ctx, s.ready, s.err = oto.NewContext(&oto.NewContextOptions{
			SampleRate: Rate, ChannelCount: 2, Format: oto.FormatFloat32LE,
			BufferSize: deviceTime, ApplicationName: "Strata",
		})
	})
	if s.err != nil {
		return nil, nil, s.err
	}
	return &player{ctx: s.ctx}, s.ready, nil
}

// A player is a mixer that the system reads.
type player struct {
	ctx    *oto.Context
	player *oto.Player
	supply *supply
	paused bool
}

func (p *player) Start(r io.Reader) {
	_ = p.ctx.Resume() // a Stop before may have suspended it
	p.supply = newSupply(r, time.Now)
	p.player = p.ctx.NewPlayer(p.supply)
	p.player.SetBufferSize(playerFrames * frameBytes)
	p.player.Play()
}

// Widen enlarges the player's buffer if it was empty, and returns the delay since then.
func (p *player) Widen() (Delay, bool) {
	frames, ok := p.supply.widen()
	if ok {
		p.player.SetBufferSize(int(frames) * frameBytes)
	}
	return delayOf(frames), ok
}

// Pause stops the samples at once, and then the device, which may first finish what it has.
func (p *player) Pause(on bool) {
	if p.paused == on {
		return
	}
	p.paused = on
	// Err, which is checked soon, also returns the errors of both.
	if on {
		p.player.Pause()
		_ = p.ctx.Suspend()
	} else {
		_ = p.ctx.Resume()
		p.player.Play()
	}
}

// Stop waits for a read in progress. The context is suspended only if it works: the library may wait forever for a
// broken one.
func (p *player) Stop() {
	p.player.PauseAndStopReading()
	if p.ctx.Err() == nil {
		_ = p.ctx.Suspend()
	}
}

func (p *player) Err() error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if p.player != nil {
		return p.player.Err()
	}
	return nil
}
