@testable import Imaging
