import LibC

func complain(_ text: String) {
  var bytes = Array(text.utf8)
  _ = write(2, &bytes, bytes.count)
}

/// Exits without the C library's cleanup, since there is nothing to save.
func end(_ status: Int32) -> Never { _exit(status) }
