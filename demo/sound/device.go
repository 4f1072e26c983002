package sound

import (
	"errors"
	"fmt"
	"io"
)

// ErrOpen is what Open returns for a mixer that has a device.
var ErrOpen = errors.New("sound: the mixer has a device already")

// An output is what a device needs of the system. Start is called once, when ready is closed
// and Err is nil, and Stop once after it; r is not read before the one, nor after the other.
type output interface {
	Start(r io.Reader)
	Pause(on bool)
	Stop()
	Err() error
}

type opener func() (out output, ready <-chan struct{}, err error)

// A Device lets a mixer be heard, where the system can. Where it cannot, at once or one day, it
// writes one line that says why, and from then on lets the mixer's time pass unheard: the
// game goes on, and its clips come home as ever.
//
// It belongs to the game goroutine. The library's goroutine reads the mixer from the moment
// that the system is ready (in a browser the first touch or key) until Close.
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

// Open looks for a device. That there is none is no error: the Device is silent then, and say
// has a line about it now or at a later Update. The errors are ErrOpen, and one for a nil mixer.
// Cost: the system is asked on another goroutine where that takes time.
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

// perUpdate is how many frames an update stands for where nobody listens: 60 updates a second.
const perUpdate = Rate / 60

// Update is to be called once a tick, also while the game is paused. It is the mixer's Update,
// and looks after the device.
func (d *Device) Update() {
	if d.closed {
		return
	}
	d.mixer.Update()
	if d.ticks++; !d.live || d.ticks%16 == 0 { // errors of a device take a lock: a look in a quarter of a second
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
}

// lose makes the device silent for good, and says so: once, as it is the end of it.
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

// Focus tells whether the window has the focus: without it nothing is played.
func (d *Device) Focus(on bool) {
	if d.away == !on {
		return
	}
	d.away = !on
	if d.live {
		d.out.Pause(d.away)
	}
}

// Live reports whether the system takes what the mixer plays.
func (d *Device) Live() bool { return d.live && !d.closed }

// Err returns why the device is silent for good, or nil.
func (d *Device) Err() error { return d.err }

// Close stops the reading. When it returns nobody reads the mixer, which is as it was and may be
// opened again or closed. It leaves no goroutine of this package; the library has one for the
// process, which sleeps. It may be called twice.
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
