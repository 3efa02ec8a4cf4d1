/// The version that `--version` and `GetInfo` give.
enum Version {
    static let text = "0.1.0"
}
