/// An error of the interface with its parameters.
package protocol InterfaceError: Codable, Hashable, Sendable {
    /// The error's full name on the wire.
    static var name: String { get }
}

extension LimitExceededError {
    package init(_ limit: Limit, maximum: Int, holder: String? = nil) {
        self.init(limit: limit.rawValue, maximum: Int64(maximum), holder: holder)
    }
}
