package page_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/page"
)

// savePage makes a page of a report that dsconv bench --json wrote.
func savePage(saved, html string) error {
	in, err := os.Open(saved)
	if err != nil {
		return err
	}
	defer in.Close()
	report, err := bench.ReadReport(in)
	if err != nil {
		return err
	}
	out, err := os.Create(html)
	if err != nil {
		return err
	}
	return errors.Join(page.WriteHTML(out, report), out.Close())
}

func Example() {
	html := filepath.Join(os.TempDir(), "dsconv-example.html")
	defer os.Remove(html)
	if err := savePage("../../lab/results/bench-photos.json", html); err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(html)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text[:len(page.Mark)]))
	// Output:
	// <!DOCTYPE html>
	// <!-- a report of dsconv bench -->
}
