package main

import (
	"runtime/debug"

	"github.com/dsconv/dsconv/preprocess/jpeg"
)

// release is set by the linker where something else than the module has the version: a wheel.
var release string

// version is what the module was built as, "devel" from a checkout.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// versionText is what --version tells: the version, and what makes this build a slow one.
func versionText() string {
	why := jpeg.SlowJPEG()
	if why == "" {
		return version()
	}
	return version() + "\nJPEGs are decoded more slowly than they could be: " + why
}
