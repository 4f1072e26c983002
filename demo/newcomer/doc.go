// Package newcomer is a player that knows only what is on the screen. Tests use it to find out whether the game
// explains itself.
//
// # The idea
//
// A [Player] looks at a [Frame], which lists what is drawn in physical pixels, and answers with its [Hands]. It can
// read, it can recognize pictures, and it reacts after a quarter of a second. At first it only clicks PLAY, and the
// first of three gifts. It flies, fires, dashes, collects embers, follows arrows and attacks hexagons only after it has
// read a text about the action. It finds its way around the walls that it sees, and uses the map to notice that it is
// stuck.
//
// The package imports nothing of the game. The same frames give the same hands.
package newcomer
