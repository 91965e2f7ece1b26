import AssayPlugin
import CAssayPlugin

@_cdecl("assay_plugin_entry")
public func entry(
  _ version: UInt32, _ host: UnsafePointer<assay_host>?
) -> UnsafePointer<assay_plugin>? {
  Plugin.table(
    version, host,
    [
      ("Swish", Swish.self), ("ResCropBlockLambda", ResCropBlockLambda.self),
      ("RescaleOutputLambda", RescaleOutputLambda.self),
    ])
}
