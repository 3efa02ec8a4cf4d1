extension AccountStore {
    /// Writes a number that nobody reads, to see whether the store can be written again.
    ///
    /// - Throws: what the disk has to say.
    package func probe() throws(StoreError) {
        try write(Meta.countProbe)
    }
}
