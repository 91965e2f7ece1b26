@testable import CustomLayers
