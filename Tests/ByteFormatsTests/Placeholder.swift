@testable import ByteFormats
