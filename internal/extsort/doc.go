// Package extsort sorts records in bounded memory: what does not fit lies in temporary files.
package extsort
