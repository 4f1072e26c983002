package render

import (
	"unsafe"

	"github.com/strata-go/strata/particles"
)

// Particles appends a quad for each visible particle of s to the batch. Set the current view to the result of
// [Camera.View] first. Particles outside of vp.Drawn() are skipped. Particles of kind k are drawn with regions[k].
// Particles that do not fit are counted in Dropped. If regions has fewer elements than s has kinds, or if s is closed,
// Particles panics. See [particles.System.Build] for the order of the quads.
func (q *Quads) Particles(s *particles.System, regions []particles.Region, vp Viewport) {
	v := q.view
	r := vp.Drawn()
	x, y := float32(r.Min.X), float32(r.Min.Y)
	view := particles.View{X: v.X - x, Y: v.Y - y, Scale: v.Scale, W: float32(r.Dx()), H: float32(r.Dy())}
	free := q.verts[q.nv:]
	verts := unsafe.Slice((*particles.Vertex)(unsafe.Pointer(unsafe.SliceData(free))), len(free))
	nv, ni, dropped := s.Build(view, regions, verts, q.indices[q.ni:], uint32(q.nv))
	if x != 0 || y != 0 { // Build culls against a viewport at the origin
		for i := range free[:nv] {
			free[i].DstX += x
			free[i].DstY += y
		}
	}
	q.nv, q.ni, q.Dropped = q.nv+nv, q.ni+ni, q.Dropped+dropped
}

// The cast above depends on equal layouts. This line does not compile if the sizes differ, and a test compares
// the fields.
var _ = [1]struct{}{}[unsafe.Sizeof(Vertex{})-unsafe.Sizeof(particles.Vertex{})]
