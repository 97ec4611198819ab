// Package parquetfile reads columns of Parquet files that other programs wrote, page by page, from mapped memory.
// It reads columns that are not in lists, of the encodings that pyarrow writes by default: plain and dictionary;
// compressed by Snappy, gzip, Zstandard, or not at all.
//
// Nothing is allocated because of a claim alone: what pages and footers say is compared with the bytes that are there
// and with the limits of this package.
package parquetfile
