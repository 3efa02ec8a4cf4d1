import GRDB

extension AccountStore {
    /// Writes something that changes nothing, to see whether the store can be written again.
    ///
    /// - Throws: what the disk has to say.
    package func probe() throws(StoreError) {
        try write { db in
            try db.execute(sql: "UPDATE meta SET value = value")
        }
    }
}
