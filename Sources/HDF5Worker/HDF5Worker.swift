import HDF5Library

/// Reads one HDF5 file on behalf of another process and ends; see `WorkerMain`.
@main
struct HDF5Worker {
  static func main() {
    let arguments = CommandLine.arguments
    let status = arguments.count == 2 ? WorkerMain.run(verb: arguments[1]) : 64
    if status == 64 {
      complain("assay-hdf5 is started by assay to read HDF5 files; it does nothing by itself.\n")
    }
    end(status)
  }
}
