/// Bytes that must not be shown by accident: they print as `<redacted>`, are not Codable, and are overwritten when
/// freed.
///
/// Only `reveal()` returns them. It belongs in three places: the body of a request to the authorization server, a
/// sealed row of the store, and the answer to an authorized peer.
package final class Secret: Sendable, Equatable {
    package let count: Int
    // The address of the bytes. They are written once in init, freed in deinit and never changed in between, so any
    // thread may read them. It is a number because a pointer is not Sendable.
    private let address: UInt

    package init(_ bytes: some Collection<UInt8>) {
        count = bytes.count
        // Write straight to the final place. A copy on the way would stay in freed memory.
        let place = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        unsafe place.copyBytes(from: bytes)
        address = UInt(bitPattern: place.baseAddress)
    }

    /// Creates a secret whose bytes are written straight to their final place, so that no copy is left elsewhere.
    ///
    /// - Parameters:
    ///   - capacity: the largest number of bytes.
    ///   - fill: writes the bytes from the start, and returns their number.
    package init<Failure: Error>(
        capacity: Int,
        filledBy fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        let place = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
        do {
            count = try unsafe fill(place)
        } catch {
            unsafe place.eraseBytes()
            unsafe place.deallocate()
            throw error
        }
        precondition(count <= capacity, "a secret has no more bytes than there is room for")
        address = UInt(bitPattern: place.baseAddress)
    }

    package convenience init(_ string: String) {
        self.init(string.utf8)
    }

    deinit {
        let owned = unsafe UnsafeMutableRawBufferPointer(mutating: bytes)
        unsafe owned.eraseBytes()
        unsafe owned.deallocate()
    }

    package var isEmpty: Bool { count == 0 }

    /// The bytes as text; bytes that are not UTF-8 are replaced by U+FFFD.
    package func reveal() -> String {
        unsafe String(decoding: bytes, as: UTF8.self)
    }

    /// Calls `body` with the bytes themselves, for sealing. They must not outlive the call.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(bytes)
    }

    private var bytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count)
    }

    /// Compares in a time that depends only on the lengths.
    package static func == (lhs: Secret, rhs: Secret) -> Bool {
        guard lhs.count == rhs.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<lhs.count {
            unsafe difference |= lhs.bytes[index] ^ rhs.bytes[index]
        }
        return difference == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension UnsafeMutableRawBufferPointer {
    /// Overwrites every byte. It is not inlined, so that the compiler cannot see that nobody reads them again.
    @inline(never)
    fileprivate func eraseBytes() {
        unsafe initializeMemory(as: UInt8.self, repeating: 0)
    }
}

/// What the client sends to get new access tokens (RFC 6749 §1.5).
package struct RefreshToken: Equatable, Sendable {
    package let secret: Secret

    package init(_ secret: Secret) {
        self.secret = secret
    }
}

/// What a resource server accepts (RFC 6749 §1.4).
package struct AccessToken: Equatable, Sendable {
    package let secret: Secret
    /// `token_type` (RFC 6749 §7.1) as the server wrote it; the scheme of the `Authorization` header.
    package let type: String

    package init(_ secret: Secret, type: String = "Bearer") {
        self.secret = secret
        self.type = type
    }
}
