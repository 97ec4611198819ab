package main

import (
	"runtime/debug"
	"strings"

	"github.com/dsconv/dsconv/internal/image/jpeg"
)

// What the linker sets: the version in builds without a module version, such as a wheel, and the commit with its date where Go does not
// record them.
var release, commit string

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

// buildVersion returns the version and, where they are known, the commit and its date: two builds of one text write the same bytes.
func buildVersion() string {
	source := commit
	if source == "" {
		source = recordedCommit()
	}
	if source == "" {
		return version()
	}
	return version() + " (" + source + ")"
}

// recordedCommit returns the commit that Go recorded when it built this program, "" if it did not.
func recordedCommit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	of := map[string]string{}
	for _, s := range info.Settings {
		of[s.Key] = s.Value
	}
	if len(of["vcs.revision"]) < 12 {
		return ""
	}
	day, _, _ := strings.Cut(of["vcs.time"], "T")
	text := of["vcs.revision"][:12] + " of " + day
	if of["vcs.modified"] == "true" {
		text += ", changed"
	}
	return text
}

// versionText is the text of --version: the build, and why its JPEGs are slow.
func versionText() string {
	why := jpeg.SlowJPEG()
	if why == "" {
		return buildVersion()
	}
	return buildVersion() + "\nJPEGs are decoded slowly: " + why
}
