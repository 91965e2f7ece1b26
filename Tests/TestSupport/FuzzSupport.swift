// The fuzz targets use random numbers and damage, too, but do not link the testing library.
@_exported import FuzzSupport
