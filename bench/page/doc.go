// Package page writes a report of package bench as one page of HTML: the verdict and what to do, charts, tables and a timeline, in
// light and dark.
//
//	f, err := os.Create("report.html")
//	...
//	err = page.WriteHTML(f, report)
//
// The page has the report as JSON, and its script shows that. It loads nothing from elsewhere.
package page
