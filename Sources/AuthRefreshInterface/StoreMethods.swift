/// The wire types of `BackupStore`.
package enum BackupStore {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var path: String

        package init(path: String) {
            self.path = path
        }
    }
}
