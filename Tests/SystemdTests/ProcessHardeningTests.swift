import CProcess
import Glibc
import Systemd
import Testing

@Suite struct ProcessHardeningTests {
    @Test func `a hardened process is not dumpable, writes no core, and a core would hold no memory`() async {
        // In a child: what is given up here does not come back.
        await #expect(processExitsWith: .success) {
            #expect(authrefresh_get_dumpable() != 0)
            // Opened now: it is root's afterwards.
            let filter = unsafe open("/proc/self/coredump_filter", O_RDONLY)
            try ProcessHardening.apply()
            #expect(authrefresh_get_dumpable() == 0)
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = unsafe read(filter, &bytes, bytes.count)
            #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == "00000000\n")
            var limit = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
            #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
        }
    }
}
