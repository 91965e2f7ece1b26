// Random numbers and damage are for the fuzz targets, too, which do not link the testing library.
@_exported import FuzzSupport
