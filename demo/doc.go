// Demo is the game that demonstrates Strata: a spark in a forge, with memory of every tier.
//
//	go run ./demo                         play; the title screen shows a game that plays itself
//	go run ./demo -headless -autopilot    play without a window, and print the use of memory
//
// # What it is
//
// The game has three realms of 24 by 24 sectors with walls. Each realm has four seals. Guards defend them, and the
// player breaks them. The screen explains that and the controls in a player's first run. A horde grows with the heat,
// up to 20,000 enemies. Dead enemies leave embers, which buy gifts. A warden guards the heart of the realm, and a
// portal leads to the next one.
//
// Package game has the rules, realm the walls and paths, ground the pictures of the floor, realm/manifest the lists of
// files and colours. Package shell has the menus, coach the hints of the first run, sound the sounds, and view the
// pictures. This package combines them, with a window or without one.
//
// # Flags
//
// The groups are those of -help, which lists the values of each flag.
//
//	the game           -seed -level -autopilot -tour -heat -enemies -particles -assets -config -record -replay -seek
//	the window         -size -overlay -screenshot -capture -screen
//	without a window   -headless -ticks -paced -fast -progress -synctest -rollback -wav
//	what is written    -hash -stats -every -trace -profile -books
//	memory             -mem -budget -guard -resident -headroom -rewind -slow
//	compare            -compare -rounds -svg
//	help               -version -notices -help
//
// For an invalid command line the program prints one line with the allowed values and exits with 2. It checks before
// the game begins that output files can be written. SIGINT, SIGTERM, SIGHUP and closing the window end the run in
// order: the files of -stats and -profile and the hash are written. If a run was killed, the next one removes its
// temporary files from the folders that it writes to.
//
// -record keeps the newest run: its inputs, a hash of each tick, and a state each five seconds. -replay plays it from the first
// state, or from any tick with -seek, and names the first tick whose hash differs. A recording of another build may
// differ, and the program prints a line about it. If the player goes back in time, the recording goes back too.
//
// Settings, best runs and saved runs are kept in the folder strata of the user's configuration, or in the browser's
// local storage. With -screenshot or -capture they are neither read nor written: the game is that of a new player.
// Without a display the program prints one line and plays headless, or ends if it should take a picture. In a browser
// the flags are in the page's address, sounds and ground are downloaded while the game runs, and a hidden page pauses:
// see the command web.
//
// # Malformed files
//
// With -assets files come from a folder and may be malformed. A picture, sound or recipe of a sector that cannot be
// read is left out. The program prints one line with its name and with what is allowed, and reads the file again when
// it changes. If a manifest cannot be read, the program uses its own manifest of that name, or that of its first realm.
// A realm that cannot be built is bare ground. A test plays ten malformed files of each kind, from the start and during
// the game.
//
// # What loading costs the Go heap
//
// A tick allocates nothing on the Go heap. Loading a file allocates objects on its worker; their number does not
// depend on the decoded size. At most these are:
//
//	a sector of the ground        12
//	a picture                    130
//	a sheet of stamps            110   tables of compress/zlib
//	a sound                      600   slices of its frames; for the longest file
//	a manifest                 1,600   its tree of JSON
//	a file of a realm, or raw      8
//
// Two tests check these numbers.
//
// # States
//
// With -synctest N the program saves the game, plays N ticks, loads the state and plays these ticks again. It repeats
// this until -ticks are compared. After each load and after each tick the hash must be the same. If it is not, the
// program prints the first difference by tier, entity and field, and exits with 1. If a realm ends within the N ticks,
// the state cannot be loaded. These ticks are played once, and the program prints their number. The streamer goes on
// during all of this.
//
// A rollback of eight ticks is one load, and eight ticks with a save after each. -rollback prints up to which heat this
// takes at most 16 ms on this machine.
//
// # Rewind
//
// The player holds Q, the right mouse button, L1 of a gamepad, or the button << on the screen: at twice its speed, time
// runs backwards by up to four seconds. That costs a charge. A run begins with one charge. Each seal that breaks for
// the first time gives another, up to three. For a moment after the ship has fallen the player can still rewind. A run
// with rewinds counts as any other, also a run of the day, and the table of best runs marks it.
//
// States of the last ticks lie outside of the tiers, in the MiB of -rewind. Charges, best runs and settings are not
// part of a state. While time runs backwards, so does the music, and sounds of ticks that are taken back fade out. If
// states take more than 8 % of the ticks' time, or are too large for four seconds, rewinding switches itself off until
// the next realm, and the screen shows why. A recording does not contain the ticks that were taken back.
//
// # What lies where
//
//	static  overlapping buffers of the frame's passes: visible enemies, sort keys, drawing order; then vertices
//	        and indices of the world, of the particles and of text
//	frame   the collision grid, the crowd's behaviour in each of its cells, lists of hits and of the dying
//	level   the realm: clearances, paths, guides; the table of enemies by heat
//	pools   component columns, omens, embers, particles, texts of popups. With a window also the props of loaded
//	        sectors, about thirty sectors to a region, and the metadata of the ground's pages on the GPU
//	slab    trails, which grow in flight; effects on enemies, such as shards, flames, ice and cracks; mines, fires,
//	        lightning: lists of many lengths, with a tag for each kind
//	large   the scorched ground by sector, the soot of the whole realm, path searches and their counts of the
//	        crowd. With a window also decoded sounds, under a tag
//	inbox   what workers make: pictures, sectors of the ground with their props and, in tiles, the fields of the
//	        paths to the player and to both sides of the player
//
// Budgets are about twice the peaks at full heat. Reservations are larger. When a tier is full the game shows or keeps
// less, writes on the screen what does not fit, counts the event, and goes on. With half of a budget, as by -budget
// slab=0.5, this is lost:
//
//	static  glows, and most of each trail
//	frame   at full heat enemies do not jostle each other; with less, far ones are not hit
//	level   walls
//	pools   a third of the horde; shots, gifts and wardens have an eighth of the budget
//	slab    trails and marks; mines, fires and lightning have a quarter of the budget
//	large   the soot is coarse
//	inbox   sectors of the ground stay blurred
//
// With half of static, large or inbox the hash is the same, because only the picture shows less. With much less of
// large, paths are missing, too, and the hash is another one. With -stats the use of each tier is in the field traffic.
//
// At full heat (-heat 10) a run of seed 7 must reach these values. A test checks them for ten seconds, and the
// nightly run from the arrival of the horde to the end of a realm:
//
//	static  30 % saved by overlapping
//	frame   1 MiB in a frame
//	level   2 MiB
//	pools   20,000 entities
//	slab    2,000 blocks a second, 20,000 live, 10 size classes
//	large   20 blocks a second, of 4 KiB to 8 MiB
//	inbox   100 blocks a second
//
// Another test exhausts each tier in turn.
//
// # The same game on the Go heap
//
// -mem selects the allocators of the game's blocks. The rules and the hash are the same: there is one set of rules,
// and session.Store is the one place where it gets memory. There are three stores:
//
//	tiers   the default: the list above, off the Go heap. The manager raises GOGC as long as it exists. During a
//	        realm that leaves the heap alone GOGC is off (gcpace.Config.Suspend); otherwise the runtime would
//	        collect after two minutes without a collection. One collection runs during the fade into a realm
//	goheap  each block is an object of the Go heap, made when it is needed and dropped: a chunk of columns, a
//	        list, a sector's scorch, a field of paths and its search, a decoded file, a realm. Scratch memory
//	        is made in each tick, with make if its length is known and with append if not. GOGC is the default,
//	        and the game does not run or pace the collector
//	pooled  the Go heap as a careful programmer uses it. Lists, chunks, fields and files come from a sync.Pool
//	        for each power of two and return to it. Scratch memory is a slice for each use, cut to [:0]. A
//	        collection runs during the fade, and GOGC is the default
//
// Particles, embers, omens, texts, the index of entities and the buffers of the passes have a fixed capacity. In
// goheap and pooled each is a slice that is made once and kept, as a game on the Go heap would have it.
//
// Experts of Go's collector may object. The answers are:
//
//   - "Games are not written that way." goheap has no finalizer, no map of live blocks and no value boxed in an
//     interface. A block is one make of the needed length, and its Free is empty.
//   - "The harness costs more than the heap." Lists refer to their blocks by number, as they must off the heap, so
//     on the heap there is a table of pointers to blocks. It replaces a column of slices: the collector follows as
//     many pointers, the allocator makes as many objects, and a trail costs one more lookup. The two are compared
//     by BenchmarkBlocks_TrailAgainstByHand in package game. BenchmarkStore_Tick in package session is a tick of
//     the whole game in each store.
//   - "The loop never rests, so the game pays for the collector." -compare plays sixty ticks a second (-paced), so
//     that the collector marks between ticks, as in a window. Marking by idle processors has a column of its own.
//   - "GOGC=off or GOMEMLIMIT removes the cost." That is right as long as the memory lasts. The manager of the
//     tiers does it during a realm: its Go heap hardly grows, and it watches the heap's size. In -compare it does
//     not (-headroom 0): GOGC is the default in all three stores. pooled with a larger GOGC is a good way to write a
//     game in Go; it has no bounds and does not attribute memory to subsystems.
//   - "Your own collection runs where it is not seen." tiers and pooled run one, goheap does not, and the column of
//     all collections counts them.
//
// The comparison favours the Go heap in these points:
//
//   - Columns have no pointers in any store, so the collector never scans a chunk, as in Ark. A plain game has a
//     pointer to each enemy, with pointers in it.
//   - Embers, particles and omens are values in slices; many games have objects.
//   - Slices with a fixed capacity are a few MiB that the collector does not scan, but that let the heap grow
//     further before it runs.
//   - The tiers' manager exists, unused, in goheap and pooled, and its metadata counts as resident memory there.
//   - A Go heap without limit never refuses an allocation, and -budget and -guard do not apply to it.
//
// It is unfair to the Go heap in these: each block is zeroed, as all memory of Go, and a growing list is zeroed a
// second time. In pooled a power of two is up to twice the needed size.
//
// -mem selects the allocators of the game's blocks, of vertices and indices, and of what workers make. In a window
// props and the map always lie in the tiers.
//
// -compare plays the three stores, -rounds times, in separate processes. Their environment has no GOGC, GOMEMLIMIT and
// GODEBUG, and tiers play with -headroom 0, so that GOGC is the default in each. Each round begins with another store,
// and after four rounds the order is reversed. Tiers play twice in each round. The ratio of these two, A/A, shows the
// error of the machine. Linux binds the thread of the game to one processor; the workers and the collector may use the
// others. The table has medians, with the least and the greatest, of
//
//   - the time of a tick by the clock, and the processor time of its thread, which excludes other programs,
//   - collections since the start, and those during play,
//   - the runtime's estimate of processor time for marking, and the processor time of the process,
//   - resident memory at the end of the run.
//
// Beside each is the ratio to tiers. A ratio within the spread of A/A is a tie. The spread is the largest deviation of
// A/A from 1 in a round, or of its median when the rounds of both are paired in another order. -svg draws the same
// figures.
//
// Runs that do not end in the same state are an error.
//
// # What the storage costs
//
// Tiers and components must not cost more than code written by hand. Three benchmarks check that with 20,000 enemies,
// 5,000 shots and 100,000 particles:
//
//	go test -run '^$' -bench 'Flat' ./particles ./demo/game ./demo/view
//
// Each compares the game with the same rules over flat slices of the Go heap. These have a fixed capacity, rows
// instead of handles, and deletion by swap. One benchmark has the horde and the shots: movement, avoidance, hits,
// deaths, new enemies, and visibility. One has the particles: their step, and the births that keep their number. One
// has the quads of all three.
//
// The arithmetic is the same. After the rounds both sides must have the same positions to the last bit, or the run
// fails. The sides run in turns, in one process. The ratio is the game's time divided by that of the slices, as the
// median of the rounds. A/A is the ratio of the game to itself. The whole crowd is within the collision grid, where
// every rule applies to each enemy; distant enemies are cheaper on both sides. The horde's benchmark leaves out
// particles of dying enemies, which would be the same on both sides.
//
// Another benchmark measures the cost of an enemy, with collisions. It has 10,000 to 200,000 enemies all over the
// realm, and the 20,000 of full heat, which are close together and have a trail each:
//
//	go test -run '^$' -bench 'BenchmarkTick' ./demo/session
//
// One run on two cores of an AMD EPYC took 32 ns for each of 100,000 enemies and 37 for each of 200,000. Most of them
// are distant and take one step in eight ticks. It took 114 ns for each of the 20,000 of full heat. Of these 17,000 are
// within the grid, and as many as fit are in sight.
//
// # Why the same seed gives the same hash
//
// The rules are a function of the seed and the other flags of the game, of the files of the realms, and of one input a
// tick. All data of a realm that the rules read is loaded before its first tick. Data that arrives later (pictures,
// sectors of the ground, sounds) goes to the window and never back. A view and a mixer may read the game; the game only
// sends them events.
//
// Workers compute one thing for the rules: the paths to the player. The rules request them in one tick and use them a
// fixed number of ticks later. If necessary the game waits for the worker. So a run is the same in a window, headless,
// in the browser, with a slow disk, with -resident 8 and with 512, and with each -mem. With the same budgets a full
// tier also has the same effect on the rules.
package main
