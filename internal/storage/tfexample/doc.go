// Package tfexample reads TFRecord frames and the tf.train.Example messages in them, of any writer: what protobuf
// allows is accepted, and nothing in the bytes is trusted. It allocates nothing for what the bytes only claim.
package tfexample
