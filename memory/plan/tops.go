package plan

// tops holds, over the sections of a timeline, how high what lies there reaches: a segment
// tree, shaped as a space, in which heights only grow. Both operations cost O(log n).
type tops struct {
	leaves int
	nodes  []top
}

// A top is a node of the tree. Both heights lie in one cache line.
type top struct {
	all  uintptr // bytes: every section of it reaches this high at least
	most uintptr // bytes: the highest of its sections, without what the nodes above it say
}

func (n *top) rise(to uintptr) { n.all, n.most = max(n.all, to), max(n.most, to) }

func newTops(sections int) *tops {
	leaves := leavesFor(sections)
	return &tops{leaves, make([]top, 2*leaves)}
}

// over returns how high the highest of the sections [lo, hi) reaches.
func (t *tops) over(lo, hi int32) (high uintptr) {
	l, r := int(lo)+t.leaves, int(hi)+t.leaves
	first, last := l/2, (r-1)/2
	for ; l < r; l, r = l/2, r/2 {
		if l&1 == 1 {
			high = max(high, t.nodes[l].most)
			l++
		}
		if r&1 == 1 {
			r--
			high = max(high, t.nodes[r].most)
		}
	}
	for ; first != last; first, last = first/2, last/2 {
		high = max(high, t.nodes[first].all, t.nodes[last].all)
	}
	for ; first > 0; first /= 2 {
		high = max(high, t.nodes[first].all)
	}
	return high
}

// raise lets all sections of [lo, hi) reach at least as high as to.
func (t *tops) raise(lo, hi int32, to uintptr) {
	l, r := int(lo)+t.leaves, int(hi)+t.leaves
	first, last := l/2, (r-1)/2
	for ; l < r; l, r = l/2, r/2 {
		if l&1 == 1 {
			t.nodes[l].rise(to)
			l++
		}
		if r&1 == 1 {
			r--
			t.nodes[r].rise(to)
		}
	}
	for ; first != last; first, last = first/2, last/2 {
		t.nodes[first].most = max(t.nodes[first].most, to)
		t.nodes[last].most = max(t.nodes[last].most, to)
	}
	for ; first > 0; first /= 2 {
		t.nodes[first].most = max(t.nodes[first].most, to)
	}
}
