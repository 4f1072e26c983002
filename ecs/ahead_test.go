package ecs

import "testing"

// TestAhead_IsTheNextLargeChunkOfTheTable follows a walk over chunks of 64 KiB and more, as a batch
// makes them, with a tag, a pointerful column and one of no size.
func TestAhead_IsTheNextLargeChunkOfTheTable(t *testing.T) {
	type nobody [0]*int
	w, _ := newTestWorld(t, Config{MaxChunkBytes: 64 << 10})
	m := NewMap4[byte, burning, brain, nobody](w)
	const per = 7281 // rows of 9 bytes in 64 KiB
	if err := m.NewBatch(2*per+100, nil); err != nil {
		t.Fatal(err)
	}
	if err := NewMap5[byte, burning, brain, nobody, position](w).NewBatch(10, nil); err != nil {
		t.Fatal(err)
	}
	f := NewFilter4[byte, burning, brain, nobody](w)
	found := []bool{}
	for s := f.begin(); s != nil; s = s.next() {
		number, ok := f.behind(&s.of.spot)
		found = append(found, ok)
		if next := &m.table.chunks[min(len(found), 2)]; ok && number != next.number {
			t.Errorf("behind chunk %d comes %d, not %d", len(found)-1, number, next.number)
		}
	}
	// Behind the first lies a full one, behind that one of 16 KiB; nothing is looked at in
	// another table.
	if want := []bool{true, false, false, false}; len(found) != len(want) || found[0] != want[0] || found[1] || found[2] || found[3] {
		t.Errorf("%v, want %v", found, want)
	}
}
