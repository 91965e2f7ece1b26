@testable import KerasImport
