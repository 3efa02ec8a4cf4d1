/// Limits on what is read of other programs' files. Real files have a few kilobytes; a larger file is something else.
package enum ImportLimit {
    /// The most bytes of one file, or of one command's output. Azure CLI's cache, the largest of them, has about 20 KiB
    /// per account.
    package static let sourceBytesMax = 1 << 20
    /// The most accounts that one run reads, from all programs together.
    package static let movedAccountsMax = 256
    /// The most values in one JSON document.
    package static let jsonValuesMax = 1 << 16
    package static let jsonNestingMax = 16
}
