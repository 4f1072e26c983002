// Package tsc reads the time stamp counter of amd64, so that single calls can be timed. On other processors it is empty.
package tsc
