// Package labels decides what the cells of a table's label columns mean: class indices, class
// names or numbers to predict.
//
//	source := labels.Source{
//		Column: "class", Cells: cells, // such as "cat", "dog", "cat"
//		Where: func(i int) string { return fmt.Sprintf("line %d", i+2) },
//	}
//	column, err := source.Read()
//	...
//	fmt.Println(column.Indices("dog"))
//
// The rules for a column without an explicit type:
//
//   - White space around a cell is ignored. An empty cell and -1 are "no label".
//   - Whole numbers, also written 1.0, are class indices if all from 0 to n-1 occur.
//   - A list of numbers, such as "1 0 0 1", is an error unless there is a separator: then a 0 or 1 for each class is a
//     multi-hot label.
//   - Other numbers (with gaps, negative, 0.5) are an error that asks for the type: a guess could
//     produce classes that nobody meant.
//   - Everything else is a class name. Names are sorted bytewise, as ImageFolder sorts folders,
//     and the numbers among them by value: 2 comes before 10.
//
// Labels that are added to an existing dataset are read as that dataset's own, and none of its
// classes gets another index.
package labels
