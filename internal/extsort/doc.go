// Package extsort sorts records in bounded memory, and lists sorted ones: what does not fit lies in temporary files.
package extsort
