import Assay
import CAssay
import LibC

// The functions that `assay.h` declares and documents.

/// Where a function stores the text of its error.
public typealias ErrorText = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

// `unsafe`: it is never written.
nonisolated(unsafe) private let versionText = strdup(assayVersion)

// `unsafe`: it is never written.
nonisolated(unsafe) private let systemsText = strdup(
  SpecificationVersion.oldestSystem(SpecificationVersion.newest) ?? "")

/// `assay_specification_version` of `assay.h`.
@_cdecl("assay_specification_version")
public func specificationVersion(
  _ systems: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 {
  systems?.pointee = UnsafePointer(systemsText)
  return Int32(SpecificationVersion.newest)
}

/// `assay_version` of `assay.h`.
@_cdecl("assay_version")
public func version() -> UnsafePointer<CChar>? { UnsafePointer(versionText) }

/// `assay_open` of `assay.h`.
@_cdecl("assay_open")
public func open(
  _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<assay_options>?, _ error: ErrorText?
) -> OpaquePointer? {
  reporting(error) { call in
    try OpenModel(
      path: String(cString: argument(path, "path")),
      options.map { try assay_options(at: $0) } ?? assay_options(), call
    ).retained()
  }
}

/// `assay_close` of `assay.h`.
@_cdecl("assay_close")
@discardableResult public func close(_ model: OpaquePointer?) -> Int32 {
  Call.run { _ in OpenModel.release(model) }
}

/// `assay_describe` of `assay.h`.
@_cdecl("assay_describe")
public func describe(_ model: OpaquePointer?) -> UnsafePointer<assay_description>? {
  Call.run { _ in try? OpenModel.object(model).interface.description }
}

/// `assay_warnings` of `assay.h`.
@_cdecl("assay_warnings")
public func warnings(_ object: OpaquePointer?) -> UnsafePointer<CChar>? {
  Call.run { _ in
    (try? OpenModel.object(object).interface.warnings)
      ?? (try? PredictedValues.object(object).warnings)
  }
}

/// `assay_predict` of `assay.h`.
@_cdecl("assay_predict")
public func predict(
  _ model: OpaquePointer?, _ inputs: UnsafePointer<assay_value>?, _ count: Int,
  _ state: OpaquePointer?, _ error: ErrorText?
) -> OpaquePointer? {
  reporting(error) { call in
    let values = try count > 0 ? assay_value.array(at: argument(inputs, "inputs"), count) : []
    return try OpenModel.object(model)
      .predict(values, state.map { try ModelState.object($0) }, call).retained()
  }
}

/// `assay_outputs` of `assay.h`.
@_cdecl("assay_outputs")
public func outputs(
  _ prediction: OpaquePointer?, _ count: UnsafeMutablePointer<Int>?
) -> UnsafePointer<assay_value>? {
  let values = Call.run { _ in try? PredictedValues.object(prediction) }
  count?.pointee = values?.count ?? 0
  return values?.values
}

/// `assay_release` of `assay.h`.
@_cdecl("assay_release")
@discardableResult public func release(_ prediction: OpaquePointer?) -> Int32 {
  Call.run { _ in PredictedValues.release(prediction) }
}

/// `assay_state_create` of `assay.h`.
@_cdecl("assay_state_create")
public func createState(_ model: OpaquePointer?, _ error: ErrorText?) -> OpaquePointer? {
  reporting(error) { _ in try ModelState(of: OpenModel.object(model)).retained() }
}

/// `assay_state_read` of `assay.h`.
@_cdecl("assay_state_read")
public func readState(
  _ state: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ error: ErrorText?
) -> UnsafePointer<assay_value>? {
  reporting(error) { _ in
    try ModelState.object(state).read(String(cString: argument(name, "name")))
  }
}

/// `assay_state_write` of `assay.h`.
@_cdecl("assay_state_write")
public func writeState(
  _ state: OpaquePointer?, _ value: UnsafePointer<assay_value>?, _ error: ErrorText?
) -> Int32 {
  let done: Void? = reporting(error) { _ in
    try ModelState.object(state).write(assay_value(at: argument(value, "value")))
  }
  return done == nil ? 0 : 1
}

/// `assay_state_destroy` of `assay.h`.
@_cdecl("assay_state_destroy")
@discardableResult public func destroyState(_ state: OpaquePointer?) -> Int32 {
  Call.run { _ in ModelState.release(state) }
}

/// `assay_free` of `assay.h`.
@_cdecl("assay_free")
public func freeText(_ text: UnsafeMutablePointer<CChar>?) { free(text) }

/// The result of `body`; nil if it throws, after storing the error message.
private func reporting<Result>(_ text: ErrorText?, _ body: (Call) throws -> Result?) -> Result? {
  text?.pointee = nil
  do { return try Call.run(body) } catch {
    text?.pointee = strdup(message(of: error))
    return nil
  }
}

/// The message that the command would print, without `error:` on the first line and without hints
/// about the command's inputs.
private func message(of error: any Error) -> String {
  guard let error = error as? ModelError else { return "\(error)" }
  let text = error.lines.filter { $0.label != "hint" || !$0.text.contains("NAME=FILE") }
    .map { "\($0.label): \($0.text)" }.joined(separator: "\n")
  return String(text.dropFirst("error: ".count))
}

/// During a call, messages name settings as the caller does, or else as options of the command.
let spellsSettings: Void = {
  Settings.spelling = { name in
    guard Call.current != nil else { return name }
    let field = [
      "layout": "layout", "plugin": "plugins", "maxMemory": "max_memory", "resize": "resize",
    ][name]
    return field.map { "the option \($0)" }
      ?? "`assay`'s \(Settings.words(of: name, separator: "_"))"
  }
}()

/// The argument, which must not be NULL.
func argument<Value>(_ argument: Value?, _ name: String) throws -> Value {
  guard let argument else { throw ModelError(.usage, "is NULL", field: "argument '\(name)'") }
  return argument
}
