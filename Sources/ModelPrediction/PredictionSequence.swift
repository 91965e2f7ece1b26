extension Predictor {
  /// The predictions for the inputs of a sequence, such as the frames of a camera or a movie, in
  /// order. Each is computed when it is requested.
  ///
  ///     for try await prediction in predictor.predictions(of: frames) {
  ///       show(prediction.outputs[0].value)
  ///     }
  public func predictions<Inputs: AsyncSequence>(
    of inputs: Inputs
  ) -> AsyncThrowingMapSequence<Inputs, Prediction>
  where Inputs.Element == [String: FeatureValue] {
    inputs.map { try self.predict($0) }
  }
}
