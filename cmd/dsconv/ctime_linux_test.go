package main

import "syscall"

// changeTime is when a file's content, name or rights changed last.
func changeTime(st *syscall.Stat_t) syscall.Timespec { return st.Ctim }
