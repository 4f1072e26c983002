package arena

import (
	"testing"

	"github.com/strata-go/strata/memory/page"
)

func TestDefaults_AreWhatTheConfigsSay(t *testing.T) {
	l, f, s := newLinear(t, 0), newFrames(t, 0, 0), newStepBack(t, 0)
	if l.Available() != 1<<20 || f.Current().Available() != 1<<20 || s.Available() != 1<<20 || f.Buffers() != 2 {
		t.Errorf("Linear %d, %d Frames of %d, StepBack %d bytes", l.Available(), f.Buffers(), f.Current().Available(), s.Available())
	}
	g := newGrowing(t, nil, GrowingConfig{})
	mustAlloc(t, g, 1, 1)
	if st := g.Stats(); st.Reserved != 64<<20 || st.Committed != 128<<10 {
		t.Errorf("Growing: %+v", st)
	}
	r := newRegion(t, nil, RegionConfig{})
	if st := r.Stats(); st.Reserved != 64<<20 || r.RegionBytes() != 64<<10 {
		t.Errorf("Region: %+v", st)
	}
}

func TestDefaults_OneByteIsNotNone(t *testing.T) {
	l, f, s := newLinear(t, 1), newFrames(t, 1, 1), newStepBack(t, 1)
	if l.Available() != 1 || f.Current().Available() != 1 || s.Available() != 1 || f.Buffers() != 1 {
		t.Errorf("Linear %d, %d Frames of %d, StepBack %d bytes", l.Available(), f.Buffers(), f.Current().Available(), s.Available())
	}
	g := newGrowing(t, nil, GrowingConfig{Reserve: 1, Step: 1})
	mustAlloc(t, g, 1, 1)
	if st := g.Stats(); st.Reserved != page.Granule || st.Committed != page.Granule {
		t.Errorf("Growing: %+v", st)
	}
}
