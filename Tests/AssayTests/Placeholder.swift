@testable import Assay
