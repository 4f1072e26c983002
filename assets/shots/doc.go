// Package shots has the pictures that Markdown files show, and no code. It is a module of its own, so that a program
// that uses Strata does not download them. The game uses none of them.
package shots
