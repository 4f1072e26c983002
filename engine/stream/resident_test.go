package stream

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// kilobytes holds files of 1,000 bytes, named 0 to 29, and one of 5,000.
func kilobytes() fstest.MapFS {
	fsys := fstest.MapFS{"large": {Data: make([]byte, 5000)}}
	for i := range 30 {
		fsys[fmt.Sprint(i)] = &fstest.MapFile{Data: make([]byte, 1000)}
	}
	return fsys
}

func TestResident_WhatIsTicketedStaysAndTheRestWaits(t *testing.T) {
	r := newRig(t, kilobytes(), 2, 0, func(c *Config) { c.Resident = 4500 })
	var ks []Handle[File]
	for i := range 7 {
		ks = append(ks, Request[File](r, fmt.Sprint(i), ETA(float32(i))))
	}
	r.run()
	s := r.Stats()
	if s.Loaded != 4 || s.Waiting != 3 || s.Resident != 4000 || s.Wanted != 7000 || s.Budget != 4500 || s.ResidentPeak > 4500 {
		t.Errorf("%+v", s)
	}
	if p := r.root.Progress(); p != (Progress{Done: 7, Waiting: 3, Total: 7}) {
		t.Errorf("%+v", p)
	}
	// Any of the seven may wait: a worker that is slow asks for room after others, whatever it has in
	// hand. So the next is more urgent than all of them; and none of the following picks is the tenth,
	// which goes to the oldest.
	r.picks = 0
	waits := Request[File](r, "20", ETA(-1))
	r.run()
	want(t, waits, Waiting)
	for _, k := range ks {
		if k.State() == Loaded {
			k.Close()
			break
		}
	}
	r.run()
	want(t, waits, Loaded)
	if s := r.Stats(); s.Evicted != 1 || s.Waiting != 3 {
		t.Errorf("%+v", s)
	}
	r.check(t)
	waits.Close()
	for _, k := range ks {
		k.Close()
	}
	if s := r.Stats(); s.Waiting != 0 || s.CancelledQueued != 3 || s.Cached != 4000 || s.Wanted != 0 {
		t.Errorf("%+v", s)
	}
}

// What waits for room that the next Poll makes is still on its way: a level does not begin without it.
func TestResident_WaitsAreDoneOnlyWhenAPollHadNoRoom(t *testing.T) {
	r := newRig(t, kilobytes(), 1, 0, func(c *Config) { c.Resident = 2000 })
	for _, name := range []string{"0", "1"} {
		k := Request[File](r, name, 0)
		r.run()
		k.Close() // is cached
	}
	wait := func(k Handle[File]) {
		within(t, soon, "no room", func() {
			for k.State() != Waiting {
				time.Sleep(50 * time.Microsecond)
			}
		})
	}
	k := Request[File](r, "2", 0)
	wait(k)
	if p := r.root.Progress(); p != (Progress{Total: 1}) {
		t.Errorf("before the Poll that makes room: %+v", p)
	}
	r.run()
	want(t, k, Loaded)
	Request[File](r, "3", 0)
	r.run()
	late := Request[File](r, "4", 0)
	wait(late)
	if p := r.root.Progress(); p != (Progress{Done: 2, Total: 3}) {
		t.Errorf("before the Poll that finds none: %+v", p)
	}
	r.Poll()
	if p := r.root.Progress(); p != (Progress{Done: 3, Waiting: 1, Total: 3}) {
		t.Errorf("after it: %+v", p)
	}
}

func TestResident_EvictsTheLongestWithoutATicket(t *testing.T) {
	r := newRig(t, kilobytes(), 1, 0, func(c *Config) { c.Resident = 3000 })
	now := time.Now()
	r.now = func() time.Time { return now }
	get := func(name string) {
		t.Helper()
		k := Request[File](r, name, 0)
		r.run()
		want(t, k, Loaded)
		k.Close()
	}
	for _, name := range []string{"0", "1", "2", "0", "3"} { // 1 goes
		get(name)
	}
	if s := r.Stats(); s.Evicted != 1 || s.Hits != 1 || s.Thrash != 0 || s.BytesRead != 4000 {
		t.Errorf("%+v", s)
	}
	get("0")
	get("2")
	if s := r.Stats(); s.Hits != 3 || s.Evicted != 1 {
		t.Errorf("%+v", s)
	}
	get("1") // at once again: thrash; 3 goes
	now = now.Add(3 * time.Second)
	get("3") // after three seconds
	if s := r.Stats(); s.Thrash != 1 || s.Evicted != 3 {
		t.Errorf("%+v", s)
	}
}

func TestResident_OneThatCanNeverFitFails(t *testing.T) {
	r := newRig(t, kilobytes(), 1, 0, func(c *Config) { c.Resident = 4500 })
	k := Request[File](r, "large", 0)
	r.run()
	if k.State() != Failed || !errors.Is(k.Err(), ErrTooLarge) || !strings.Contains(k.Err().Error(), "Config.Resident = 4500") {
		t.Errorf("%v, %v", k.State(), k.Err())
	}
}

func TestResident_PicturesCountWhenTheirBlocksAreHome(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0, func(c *Config) { c.Resident = 2100 })
	a, b, c := r.picture("a", 0), r.picture("b", 1), r.picture("c", 2)
	r.run()
	if s := r.Stats(); s.Resident != 2048 || s.Staging != 0 || s.Waiting != 1 {
		t.Errorf("%+v", s)
	}
	a.Close()
	if got := r.run(); got != "c" || len(r.gone) != 1 || r.gone[0] != art("a") {
		t.Errorf("%q, released %v", got, r.gone)
	}
	b.Close()
	if len(r.gone) != 1 || b.State() != Vacant || c.State() != Loaded {
		t.Errorf("released %v", r.gone)
	}
}

func TestResident_TheReloadNeedsRoomBesideTheOld(t *testing.T) {
	fsys := kilobytes()
	r := newRig(t, fsys, 1, 0, func(c *Config) { c.Resident = 2000 })
	k, other := Request[File](r, "0", 0), Request[File](r, "1", 0)
	r.run()
	fsys["0"] = &fstest.MapFile{Data: []byte(strings.Repeat("x", 500))}
	r.Reload("0")
	r.run()
	if text(t, k)[0] != 0 || r.Stats().Waiting != 1 {
		t.Errorf("%+v", r.Stats())
	}
	other.Close()
	r.run()
	if text(t, k)[0] != 'x' || r.Stats().Resident != 500 {
		t.Errorf("%+v", r.Stats())
	}
}

func TestResident_AFullTableEvicts(t *testing.T) {
	r := newRig(t, kilobytes(), 1, 0, func(c *Config) { c.Resident, c.Assets = 1<<20, 2 })
	for i := range 5 {
		k := Request[File](r, fmt.Sprint(i), 0)
		r.run()
		want(t, k, Loaded)
		k.Close()
	}
	if s := r.Stats(); s.Evicted != 3 || s.Loaded != 2 {
		t.Errorf("%+v", s)
	}
}
