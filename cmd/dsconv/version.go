package main

import (
	"runtime/debug"

	"github.com/dsconv/dsconv/internal/image/jpeg"
)

// release is the version that the linker sets in builds without a module version, such as a wheel.
var release string

// version returns the version of this build, "devel" for a checkout.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// versionText is the text of --version: the version, and why JPEGs are slow in this build.
func versionText() string {
	why := jpeg.SlowJPEG()
	if why == "" {
		return version()
	}
	return version() + "\nJPEGs are decoded slowly: " + why
}
