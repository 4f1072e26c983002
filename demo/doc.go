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
// ground what the floor looks like, realm/manifest the files of pictures and colours, shell the menus, sound
// what is heard, view what is seen. This one brings them together, with a window or without one.
//
// # Flags
//
// The groups are those of -help, which says what each takes.
//
//	the game           -seed -level -autopilot -tour -heat -enemies -particles -assets -config
//	the window         -size -overlay -screenshot -capture -screen
//	without a window   -headless -ticks -paced -fast -progress
//	what is written    -hash -stats -every -books
//	memory             -mem -budget -guard -resident -slow
//	compare            -compare -rounds -svg
//	help               -version -notices -help
//
// What is wrong with a command line is said in one line, with what is allowed, and the program ends
// with 2. A file that is to be written is tried before the game begins. SIGINT, SIGTERM, SIGHUP and
// closing the window end the run in order: what -stats and -hash ask for is written. What a run that was killed
// outright has left unfinished, the next one removes from the folders that it writes to. Settings and best runs
// are kept in the folder strata of the user's configuration, or in the browser's local storage;
// pictures are taken of a new player's game. Without a display it says so and plays headless. In a
// browser the flags are the page's address, sounds and sectors of the ground come over the network
// while one plays, and a page that is hidden pauses: see the command web.
//
// # Files that are not whole
//
// With -assets files come from a folder, where anything may lie. A picture, a sound or a sector's recipe that
// cannot be read costs itself, with one line that names it and what is allowed, and is read again when it is
// another one; in place of a manifest the program's own of that name is played, or its first; a realm that cannot be built
// is bare ground. Ten malformed ones of each kind are played in a test, from the start and while the game runs.
//
// # What loading costs the Go heap
//
// A tick takes no object of it. A file that is loaded takes some on its worker, however many bytes it decodes to, at
// most: a sector of the ground 12, a picture 130 and a sheet of stamps 110 (compress/zlib's tables), a sound 600
// (slices of its frames, of which the longest has most), a manifest 1,600 (its tree of JSON), a file of a realm or a
// raw one 8. Two tests hold it to that.
//
// # What lies where
//
//	static  the buffers of the frame's passes, which overlap: visible enemies, sort keys, drawing order,
//	        then vertices and indices of the world, of the particles, and of what is to be read, each
//	        where those before it were
//	frame   the collision grid, what the crowd in each of its cells does, lists of hits and of the doomed
//	level   the realm: clearances, ways, guides; the table of what comes at what heat
//	pools   component columns, omens, embers, particles, the texts of popups; with a window the props of
//	        the sectors that are there, a region each some thirty sectors, and the books of the ground's
//	        pages, whose pixels are the GPU's
//	slab    trails, which grow as they are flown; effects: what sticks to an enemy, as shards, flames, ice,
//	        cracks; mines, fires, lightning: lists of many lengths, a tag each
//	large   the scorched ground by sector, the soot of the whole realm, books of searches and the counts of
//	        the crowd that they go by, and with a window decoded sounds, under a tag
//	inbox   what workers make: pictures, sectors of the ground with their props, and, tile by tile, the
//	        fields of the ways to the player and to both its sides
//
// When a tier is full the game shows less or has less of something, counts it, and plays on: try
// -budget all=0.1. What each carries, -stats says under traffic. At full heat (-heat 10) a run of seed 7
// is to save 30 % of the static tier by overlapping and to take 1 MiB a frame, 2 MiB of level, 20,000
// entities, 2,000 blocks of slab a second with 20,000 live in 10 classes, 20 large ones a second of 4 KiB
// to 8 MiB, and to send 100 blocks a second home: a test holds it to that for ten seconds, and in the nightly run from
// when the horde is there until a realm ends; another takes each tier away in turn.
//
// # The same game on the Go heap
//
// -mem says what the blocks of the game lie in, while the rules, and the hash, stay the same: there is one
// set of rules, and session.Store is the one place where it gets memory. Three ways to keep house:
//
//	tiers   what ships: the list above, off the Go heap. The manager raises GOGC while it lives and has it
//	        off while a realm is played and leaves the heap alone (tiers.Config.HoldGC: else the runtime
//	        collects when there was no collection for two minutes), and one runs behind the fade into a realm
//	goheap  every block is an object of the Go heap, made when it is needed and dropped: a chunk of
//	        columns, a list, a sector's scorch, a field of ways and the books of its search, a decoded file,
//	        a realm. Scratch of a tick is made in each tick, with make where its length is known and with
//	        append where it is not. GOGC is the default, and nobody runs or paces the collector
//	pooled  the Go heap as a careful programmer uses it: lists, chunks, fields and files come from a
//	        sync.Pool for each power of two and go back to it, scratch is a slice for each use, cut to
//	        [:0], and a collection runs behind the fade. GOGC is the default
//
// What has room from the start (particles, embers, omens, texts, the index of entities, the buffers of the
// passes) is on the Go heap a slice made once and kept, in both: nobody would do it otherwise.
//
// Whoever knows Go's collector well may object, and should have an answer:
//
//   - "Nobody writes games that way." In goheap there is no finaliser, no map of live blocks, no box of a
//     value in an interface: a block is one make, of the length that is needed, and its Free is empty.
//   - "The harness costs more than the heap." The books of lists know their blocks by number, as they must
//     off the heap, so on it there is a table of pointers to blocks. It stands for a column of slices: the
//     collector follows as many pointers, the allocator makes as many objects, and a trail is one look at the
//     table away. BenchmarkStore_ATrailBesideOneByHand in package game is both, side by side;
//     BenchmarkStore_Tick is a tick of the whole game in each of the three.
//   - "The collector is paid by a loop that never rests." -compare plays sixty ticks a second (-paced), so
//     that it marks between ticks, as in a window; what idle processors marked is a column of its own.
//   - "GOGC=off, or GOMEMLIMIT, and it is gone." So it is, for as long as the memory lasts. The manager of
//     the tiers does just that while a realm lasts, with next to nothing on its heap to grow and an eye on it. pooled with a larger GOGC is a
//     good way to write a game in Go; it does not bound anything, and says nothing about who has what.
//   - "You run your own collection where it does not show." tiers and pooled do, goheap does not, and the
//     column of all collections counts them.
//
// Where the comparison errs, it does so for the Go heap. Columns have no pointers in any of the three: the
// collector never looks into a chunk, as in Ark, where a plain game has a pointer to each enemy with pointers
// in it. Embers, particles and omens are values in slices, where many have objects. Slices with room from
// the start are a few MiB that the collector need not look into, but that let the heap grow further before
// it runs. The tiers' manager is there in all three, and works for nobody in two: its own books
// are in everybody's resident memory. A Go heap that is never full does not have to refuse
// anything, and -budget and -guard say nothing about it. Against it errs that every block is zeroed, which
// Go does for everybody, and that a list which grows is zeroed a second time;
// of pooled, that a power of two is up to twice what is needed.
//
// In a window what the game draws from lies in the tiers as before, and -mem is about the game's own blocks.
//
// -compare plays the three in turn, -rounds times, in processes of their own with GOGC and GOMEMLIMIT taken
// from their environment, and prints the medians: times of a tick by the clock, and by what its thread took of
// processors, which a machine that does other work does not blur; collections since the start and those
// in play, what marking took of processors by the runtime's estimate, what the process took of them, and
// what is resident as the run ends. Runs that do not end in the same state are an error.
//
// # What the storage costs
//
// Tiers and components are to cost no more than what one would write by hand. Three benchmarks hold the game
// to that, with 20,000 enemies, 5,000 shots and 100,000 particles:
//
//	go test -run '^$' -bench 'Flat' ./particles ./demo/game ./demo/view
//
// Each has what ships beside the same rules over flat slices of the Go heap, with room from the start, rows
// in the place of handles, and deletion by swap: of the horde and the shots (how they move, round each other,
// hit, fall and come, and who is in sight), of the particles (the step and the births that keep their number),
// and of the quads of all three. The arithmetic is the same, and after the rounds both have the same
// positions, to the last bit, or the run fails. The sides run in turns, in one process; the ratio is that of
// the game to the slices, the median of the rounds, and A/A that of the game to itself. The whole crowd
// stands within the collision grid, where every rule applies to everybody: far ones are cheaper in both.
// What particles the fallen throw is left out of the horde's benchmark, as it would be the same on both sides.
//
// What an enemy costs, of 10,000 to 200,000 all over the realm with collisions on, and of the 20,000 of full
// heat that stand close together, each with a trail:
//
//	go test -run '^$' -bench 'Tick' ./demo/game
//
// One run on two cores of an AMD EPYC: 32 ns for each of 100,000 and 37 for each of 200,000, as most of them are far and
// take a step in eight ticks; 114 ns for each of the 20,000, of whom 17,000 are within the grid and all that fit are in
// sight.
//
// # Why the same seed gives the same hash
//
// The rules are a function of the seed, of the files of the realms, and of one input a tick.
// All that they read of a realm is there before its first tick. What arrives when it arrives (pictures,
// sectors of the ground, sounds) goes to the window and never back: a view and a mixer may read the
// game, and the game knows of both only that they may be told something. The one thing that a worker
// computes for the rules, the ways to the player, is asked for at one tick and used at another, a fixed
// number later, waiting for the worker if need be. So a run is the same in a window, headless, in the
// browser, with a slow disk, with -resident 8 and with 512, and with each -mem. What a full tier takes from the rules is
// the same too, for the same budgets.
package main
