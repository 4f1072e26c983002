package sound

import (
	"errors"
	"fmt"
	"io"
)

// ErrOpen reports that the mixer of Open has a device already.
var ErrOpen = errors.New("sound: the mixer has a device already")

// An output is the system's side of a device. Start is called once, when ready is closed and Err is nil, and Stop
// once after it. r is read only between the two, and Widen is called only there.
type output interface {
	Start(r io.Reader)
	Widen() (Delay, bool)
	Pause(on bool)
	Stop()
	Err() error
}

type opener func() (out output, ready <-chan struct{}, err error)

// A Device plays a mixer. If the system has no sound, or loses it later, the Device writes one line with the reason.
// From then on the Device advances the mixer without output, so the game goes on, and clips are still freed.
//
// A Device belongs to the game goroutine. When the system is ready, in a browser after the first touch or key, a
// goroutine of the sound library begins to read the mixer. It reads until Close, or until the device is lost. All
// Devices share one stream of the system: open one at a time.
type Device struct {
	mixer  *Mixer
	say    io.Writer
	out    output
	ready  <-chan struct{}
	err    error
	live   bool
	away   bool // the window has lost the focus
	closed bool
	ticks  int
}

// Open opens the system's device for m, without waiting for the system. If m is nil, Open fails. If m has a device
// already, Open returns ErrOpen. If the system has no device, that is not an error: the Device is silent, and Open or a
// later Update writes a line to say. If the system reads more samples at once than the Device's buffer contains, the
// buffer is enlarged in steps, and each step writes a line with the new delay. If say is nil, no line is written.
func Open(m *Mixer, say io.Writer) (*Device, error) { return open(m, say, openOutput) }

func open(m *Mixer, say io.Writer, find opener) (*Device, error) {
	switch {
	case m == nil:
		return nil, errors.New("sound: Open needs a mixer")
	case m.device:
		return nil, ErrOpen
	}
	m.device = true
	d := &Device{mixer: m, say: say}
	out, ready, err := find()
	if err != nil {
		d.lose(err)
		return d, nil
	}
	d.out, d.ready = out, ready
	d.look()
	return d, nil
}

// perUpdate is how many frames an update skips while nothing is played: there are 60 updates a second.
const perUpdate = Rate / 60

// Update calls the mixer's Update, and checks whether the system's device is ready or lost. If it is lost, the Device
// writes one line and is silent from then on. Call Update once a tick, also while the game is paused. After Close
// Update does nothing: call [Mixer.Update] instead.
func (d *Device) Update() {
	if d.closed {
		return
	}
	d.mixer.Update()
	if d.ticks++; !d.live || d.ticks%16 == 0 { // errors of a device take a lock: one check in a quarter of a second
		d.look()
	}
	if !d.live || d.away {
		d.mixer.Skip(perUpdate)
	}
}

// look moves on from waiting to playing, and from either to silence.
func (d *Device) look() {
	if d.out == nil || d.err != nil {
		return
	}
	if !d.live {
		select {
		case <-d.ready:
		default:
			return
		}
	}
	if err := d.out.Err(); err != nil {
		d.lose(err)
		return
	}
	if !d.live {
		d.live = true
		d.out.Start(d.mixer)
		d.out.Pause(d.away)
	}
	if delay, wider := d.out.Widen(); wider && d.say != nil {
		fmt.Fprintf(d.say, "sound: the system takes much at once: it is heard within %d ms now\n", delay.Sum().Milliseconds())
	}
}

// lose makes the device silent permanently and writes one line about it.
func (d *Device) lose(err error) {
	d.err = err
	if d.live {
		d.live = false
		d.out.Stop()
	}
	if d.say != nil {
		fmt.Fprintf(d.say, "sound: the game goes on in silence: %v\n", err)
	}
}

// Focus sets whether the window has the focus. A new Device assumes the focus. Without the focus nothing is played, and
// [Device.Update] advances the mixer without output.
func (d *Device) Focus(on bool) {
	if d.away == !on {
		return
	}
	d.away = !on
	if d.live {
		d.out.Pause(d.away)
	}
}

// Live reports whether the system is ready to read the mixer. Without the focus of [Device.Focus] nothing is played,
// but Live still returns true. After Close, or if the device was lost, Live returns false.
func (d *Device) Live() bool { return d.live && !d.closed }

// Err returns the reason why the device is silent permanently, or nil.
func (d *Device) Err() error { return d.err }

// Close ends the reading of the mixer before it returns. The mixer is unchanged and may be opened again or closed. No
// goroutine of this package remains, but the sound library keeps a sleeping one. Close may be called twice.
func (d *Device) Close() {
	if d.closed {
		return
	}
	d.closed = true
	if d.live {
		d.live = false
		d.out.Stop()
	}
	d.mixer.device = false
}
