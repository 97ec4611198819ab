// Package parquetfile reads columns of Parquet files that other programs wrote, page by page, from mapped memory.
// It reads columns that are not in lists, of the encodings plain, dictionary and delta;
// compressed by Snappy, gzip, Zstandard, Brotli, LZ4, or not at all.
//
// Nothing is allocated because of a claim alone: what pages and footers say is compared with the bytes that are there
// and with the limits of this package.
package parquetfile
