/// What a subject tells under a label.
func toldChild(_ label: String, of subject: Any) -> Any? {
  Mirror(reflecting: subject).children.first { $0.label == label }?.value
}

/// The labels of all that a subject tells.
func labels(of subject: Any) -> [String?] {
  Mirror(reflecting: subject).children.map(\.label)
}
