/// Checks what protects a store: access to its folder and file, and its key. Checking blocks.
package struct StoreGuard: Sendable {
    private let path: String
    private let keyIdentifier: String
    private let keyring: StoreKeyring

    /// Prepares the check.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - keyIdentifier: the key that it is sealed with (`AccountStore.keyIdentifier`).
    package init(path: String, keyIdentifier: String, keyring: StoreKeyring) {
        self.path = path
        self.keyIdentifier = keyIdentifier
        self.keyring = keyring
    }

    package func findings() -> [StoreFinding] {
        let open = [PosixFile.parent(of: path), path].compactMap { path -> StoreFinding? in
            guard let status = (try? PosixFile.status(of: path)) ?? nil, status.mode & 0o077 != 0 else { return nil }
            return .tooOpen(path: path, mode: status.mode)
        }
        return open + keyFindings()
    }

    /// What the next start of the daemon would fail on. Temporary problems are left out, for example a locked keyring,
    /// which still has the key.
    private func keyFindings() -> [StoreFinding] {
        do throws(StoreKeyError) {
            _ = try keyring.locate(keyIdentifier)
            return []
        } catch {
            return error.isPassing ? [] : [.key(error)]
        }
    }
}
