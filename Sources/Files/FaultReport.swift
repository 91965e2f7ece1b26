import CSystem

/// What a process says that a signal ends: a trap, a failed allocation, a mapped file cut short.
package enum FaultReport {
  /// From now on a fault says this line and exits with 70. With `enable=yes` in the
  /// environment variable `SWIFT_BACKTRACE`, Swift's own report takes its place.
  package static func install(_ line: String) { assay_report_faults(line) }
}
