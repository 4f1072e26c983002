// Demo is the game that proves Strata: a spark in a forge, on every tier of the manager.
//
//	go run ./demo                         play; behind the title it plays itself
//	go run ./demo -headless -autopilot    play without a window, and print where memory went
//
// # What it is
//
// Three realms of 24 by 24 sectors with walls. In each, four seals are to be broken, which guards
// defend; a horde grows with the heat, to 20,000; the fallen leave embers, embers buy gifts; a warden
// holds the heart, and a portal leads on. Package game has the rules, realm the walls and the ways,
// ground what the floor looks like, level the files of pictures and colours, shell the menus, sound
// what is heard, view what is seen. This one brings them together, with a window or without one.
//
// # Flags
//
// The groups are those of -help, which says what each takes.
//
//	the game           -seed -level -autopilot -heat -enemies -particles -assets -config
//	the window         -size -overlay -screenshot -capture -screen
//	without a window   -headless -ticks -progress
//	what is written    -hash -stats -every -books
//	memory             -budget -guard -resident -slow
//	help               -version -help
//
// What is wrong with a command line is said in one line, with what is allowed, and the program ends
// with 2. A file that is to be written is tried before the game begins. SIGINT, SIGTERM and closing
// the window end the run in order: what -stats and -hash ask for is written. Settings and best runs
// are kept in the folder strata of the user's configuration, or in the browser's local storage;
// pictures are taken of a new player's game. Without a display it says so and plays headless. In a
// browser the flags are the page's address, sounds and sectors of the ground come over the network
// while one plays, and a page that is hidden pauses: see the command web.
//
// # What lies where
//
//	static  the buffers of the frame's passes, which overlap: visible enemies, sort keys, drawing order,
//	        vertices, indices
//	frame   the collision grid, lists of hits and of the doomed
//	level   the realm: clearances, ways, guides; the table of what comes at what heat
//	pools   component columns, omens, embers, particles, the texts of popups; with a window the books of
//	        the ground's pages, whose pixels are the GPU's
//	slab    trails, mines, fires, lightning: lists of many lengths, a tag each
//	large   the scorched ground by sector, the books of searches, and with a window decoded sounds, under
//	        a tag
//	inbox   what workers make: pictures, sectors of the ground, fields of the way to the player
//
// When a tier is full the game shows less or has less of something, counts it, and plays on: try
// -budget all=0.1.
//
// # Why the same seed gives the same hash
//
// The rules are a function of the seed, of the files of levels and realms, and of one input a tick.
// All that they read of a realm is there before its first tick. What arrives when it arrives (pictures,
// sectors of the ground, sounds) goes to the window and never back: a view and a mixer may read the
// game, and the game knows of both only that they may be told something. The one thing that a worker
// computes for the rules, the way to the player, is asked for at one tick and used at another, a fixed
// number later, waiting for the worker if need be. So a run is the same in a window, headless, in the
// browser, with a slow disk, with -resident 8 and with 512. What a full tier takes from the rules is
// the same too, for the same budgets.
package main
