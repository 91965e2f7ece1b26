import CoreMLModel
func oldestSystem(forSpecification v: Int) -> String { "?" }
extension Model { var descriptionText: String { "" } }
