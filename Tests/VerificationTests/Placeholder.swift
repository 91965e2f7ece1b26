@testable import Verification
