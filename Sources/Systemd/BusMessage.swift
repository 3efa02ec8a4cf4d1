internal import CSystemd

/// One D-Bus message of libsystemd's, written from its beginning to its end or read so.
///
/// What it holds is overwritten when it is freed (sd_bus_message_sensitive(3)): it may be a key. One that cannot be written for want
/// of memory is refused when it is sent; what is not there, or of another type, reads as nil.
@safe package final class BusMessage {
    package let message: OpaquePointer

    /// Takes over one reference.
    package init(_ message: OpaquePointer) {
        unsafe self.message = message
        unsafe sd_bus_message_sensitive(message)
    }

    deinit { unsafe sd_bus_message_unref(message) }

    package enum Container {
        case array, structure, entry, variant

        fileprivate var code: CChar {
            switch self {
            case .array: CChar(SD_BUS_TYPE_ARRAY)
            case .structure: CChar(SD_BUS_TYPE_STRUCT)
            case .entry: CChar(SD_BUS_TYPE_DICT_ENTRY)
            case .variant: CChar(SD_BUS_TYPE_VARIANT)
            }
        }
    }
}

/// Writing.
extension BusMessage {
    package func append(_ text: String) {
        append(text, as: SD_BUS_TYPE_STRING)
    }

    package func append(path: String) {
        append(path, as: SD_BUS_TYPE_OBJECT_PATH)
    }

    private func append(_ text: String, as type: some BinaryInteger) {
        _ = unsafe text.withCString { unsafe sd_bus_message_append_basic(message, CChar(type), $0) }
    }

    package func append(_ flag: Bool) {
        var value: Int32 = flag ? 1 : 0
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_BOOLEAN), &value)
    }

    package func append(byte: UInt8) {
        var value = byte
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_BYTE), &value)
    }

    package func append(_ number: UInt32) {
        var value = number
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_UINT32), &value)
    }

    package func append(_ number: Int32) {
        var value = number
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_INT32), &value)
    }

    package func append(paths: [String]) {
        within(.array, "o") { for path in paths { append(path: path) } }
    }

    /// A dictionary of texts, `a{ss}`.
    package func append(_ attributes: [String: String]) {
        within(.array, "{ss}") {
            for (key, value) in attributes {
                within(.entry, "ss") {
                    append(key)
                    append(value)
                }
            }
        }
    }

    /// Writes a container of this type, whose contents `body` writes.
    package func within(_ container: Container, _ contents: String, _ body: () -> Void) {
        unsafe sd_bus_message_open_container(message, container.code, contents)
        body()
        unsafe sd_bus_message_close_container(message)
    }
}

/// Reading.
extension BusMessage {
    package func text() -> String? {
        read(SD_BUS_TYPE_STRING)
    }

    package func number() -> UInt32? {
        var value: UInt32 = 0
        return unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UINT32), &value) > 0 ? value : nil
    }

    package func path() -> String? {
        read(SD_BUS_TYPE_OBJECT_PATH)
    }

    private func read(_ type: some BinaryInteger) -> String? {
        var value: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, CChar(type), &value) > 0, let value = unsafe value else {
            return nil
        }
        return unsafe String(cString: value)
    }

    package func paths() -> [String]? {
        var paths: [String] = []
        let isThere = enter(.array, "o") { while let path = path() { paths.append(path) } }
        return isThere ? paths : nil
    }

    /// Reads the contents of a container of this type; `body` reads all of them.
    ///
    /// - Returns: whether there was one.
    @discardableResult package func enter(_ container: Container, _ contents: String, _ body: () -> Void) -> Bool {
        guard unsafe sd_bus_message_enter_container(message, container.code, contents) > 0 else { return false }
        body()
        return unsafe sd_bus_message_exit_container(message) >= 0
    }
}
