package ecs

// Twelve types of three shapes, for tests that want many. The compiler makes every function of Component
// and the others anew for each shape that a test names, and once for all types that share it: a
// type that is like none here costs each build of the tests a tenth of a second.
type (
	wide1  [1]uint16
	wide2  [2]uint16
	wide3  [3]uint16
	wide4  [1]uint16
	wide5  [2]uint16
	wide6  [3]uint16
	wide7  [1]uint16
	wide8  [2]uint16
	wide9  [3]uint16
	wide10 [1]uint16
	wide11 [2]uint16
	wide12 [3]uint16
)
