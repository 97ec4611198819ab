// Package budget limits the memory that all images of a process take at once, whatever their headers
// claim. See the section "What a hostile file may take" of docs/design.md.
package budget
