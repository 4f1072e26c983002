//go:build memdebug || race

package arena

import "fmt"

// A member has the ring of a frame's arena, in debug builds.
type member struct{ ring *Frames }

func (m *member) join(f *Frames) { m.ring = f }

// mustBeCurrent panics if l is the open arena of an older frame. Until the frame expires its hooks may use it.
func (l *Linear) mustBeCurrent(op string) {
	f := l.member.ring
	if f == nil || l == f.cur || l.base == nil || l.busy {
		return
	}
	for i := range f.ring {
		if l == &f.ring[i] {
			panic(misuse(op, nil, 0, fmt.Sprintf("the arena was kept from a frame at least %d before this one: call Manager.Frame or Frames.Current in each frame, BeginTask in each task", f.age(i))))
		}
	}
}
