package main

import "C" // limits_linux.c, which runs before Go's runtime
