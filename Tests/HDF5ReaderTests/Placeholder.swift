@testable import HDF5Reader
