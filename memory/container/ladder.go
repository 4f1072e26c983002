package container

// The ladder of slot sizes for texts. Words are short: most have from 1 to 13 bytes, so that a
// ladder in steps of 16 leaves most of what it hands out empty. From 1 byte upwards Fibonacci
// numbers have a rung near each of the commonest lengths. Above 21 bytes, where sentences are,
// two fifths of a slot could be empty: there each step is cut in four, and less than a seventh is.
// Pure Fibonacci numbers waste 21 % on sentences, where steps of 16 waste 8 %. Texts above the
// ladder have a block each, to the byte.
const (
	rungs     = 39
	large     = rungs
	pageBytes = 4096 // the most that is taken from the allocator for texts of one size
	firstPage = 64   // bytes; a page has twice the slots of the one before, so that few texts cost little
)

var ladder = [rungs]uint32{
	1, 2, 3, 5, 8, 13, 21,
	24, 27, 30, 34,
	39, 44, 49, 55,
	63, 72, 80, 89,
	102, 116, 130, 144,
	166, 188, 210, 233,
	269, 305, 341, 377,
	435, 493, 551, 610,
	704, 798, 892, 987,
}

// rungOf returns the lowest rung whose slots hold n bytes, n at least 1; large where none does.
func rungOf(n int) int {
	low, high := 0, rungs
	for low < high {
		if mid := (low + high) / 2; int(ladder[mid]) < n {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// slotsAfter returns how many slots the page of a rung has that follows on one with so many, 0
// standing for none.
func slotsAfter(k int, slots uint32) uint32 {
	most := pageBytes / ladder[k]
	if slots == 0 {
		return min(max(firstPage/ladder[k], 1), most)
	}
	return min(2*slots, most)
}
