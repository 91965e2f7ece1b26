@testable import Engine
