/// The version of this program and library.
public let assayVersion = "0.1.0"
