// Package pagecache removes files from the system's page cache, so that the next read comes from the disk, and
// finds out whether that worked.
package pagecache
