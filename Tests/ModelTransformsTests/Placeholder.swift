@testable import ModelTransforms
