package main

// syncDisks has no counterpart here.
func syncDisks() {}
