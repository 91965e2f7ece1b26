@testable import Kernels
