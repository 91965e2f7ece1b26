@testable import CoreMLModel
