// Most files of this target use them.
@_exported import ArgumentParser
@_exported import Assay
