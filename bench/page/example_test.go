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
	if err := savePage("../results/bench-photos.json", html); err != nil {
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

func ExampleWriteMarkdown() {
	report := &bench.Report{
		Consumer: "loader alone",
		Datasets: []bench.Dataset{{Path: "images", Format: "folder", Samples: 1000, EpochSeconds: 1.25, ImagesPerSecond: 800, Ratio: 1}},
	}
	if err := page.WriteMarkdown(os.Stdout, report); err != nil {
		fmt.Println(err)
	}
	// Output:
	// # dsconv bench: images
	//
	// An epoch takes 1.25 s.
	//
	// loader alone
	//
	// **1.25 s** an epoch · **800** images/s
	//
	// ## Before and after
	//
	// | dataset | epoch | images/s | ratio | loop waited | CPU per image | busy cores |
	// | --- | ---: | ---: | ---: | ---: | ---: | ---: |
	// | `images` | 1.25 s | 800 | 1.00 | – | – | – |
}
