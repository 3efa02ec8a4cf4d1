/// The user namespace that this process runs in (user_namespaces(7)).
package enum UserNamespace {
    /// Whether root has a number here. Where it has none it looks like every other user without one (uid 65534), as in a user's unit
    /// with `PrivateUsers=yes`.
    package static let mapsRoot = SmallFile.text("/proc/self/uid_map").map(mapsRoot) ?? true

    /// - Parameter map: the text of a `uid_map`; in each line the first number inside, the first outside, and how many there are.
    static func mapsRoot(_ map: String) -> Bool {
        map.split(separator: "\n").contains { $0.split(separator: " ").dropFirst().first == "0" }
    }
}
