import Files
import HDF5Library

/// Reads one HDF5 file on behalf of another process and exits; see `WorkerMain`.
@main
struct HDF5Worker {
  static func main() {
    let arguments = ProgramArguments.all
    let status = WorkerMain.run(arguments)
    if status == 64 {
      complain("assay starts assay-hdf5 to read HDF5 files; it cannot be used alone.\n")
    }
    end(status)
  }
}
