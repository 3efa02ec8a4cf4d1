/// How much is read of what other programs keep. These files have a few kilobytes; one that is larger is something else.
package enum MovingInLimit {
    /// Bytes of one file, or of what one command prints. Azure CLI's cache, the largest of them, has some 20 KiB for each account.
    package static let sourceBytesMax = 1 << 20
    /// Accounts that one run takes into its table, from all programs together.
    package static let movedAccountsMax = 256
    /// Values in one JSON document, and how deep they are nested.
    package static let jsonValuesMax = 1 << 16
    package static let jsonNestingMax = 16
}
