import CSystem

/// The message of a process that crashes: a trap, a failed allocation, a truncated mapped file.
package enum FaultReport {
  /// From now on, a crash prints this line and exits with code 70. With `enable=yes` in the
  /// environment variable `SWIFT_BACKTRACE`, Swift's own report replaces it.
  package static func install(_ line: String) { assay_report_faults(line) }
}
