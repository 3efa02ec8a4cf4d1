/// Limits on the input from other tools.
package enum ToolLimits {
    /// The most bytes that a tool may write to its credential helper. git and docker write a few hundred, plus one or
    /// two tokens.
    package static let inputBytesMax = 65_536
}
