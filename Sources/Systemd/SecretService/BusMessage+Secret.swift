internal import CSystemd
internal import RefreshCore

/// Reads and writes secrets. libsystemd copies them directly from and to their memory.
extension BusMessage {
    func append(bytes secret: Secret) {
        _ = unsafe secret.withBytes {
            unsafe sd_bus_message_append_array(message, CChar(SD_BUS_TYPE_BYTE), $0.baseAddress, $0.count)
        }
    }

    func bytes() -> Secret? {
        var start: UnsafeRawPointer?
        var count = 0
        guard unsafe sd_bus_message_read_array(message, CChar(SD_BUS_TYPE_BYTE), &start, &count) >= 0 else {
            return nil
        }
        return unsafe Secret(UnsafeRawBufferPointer(start: start, count: count))
    }
}
