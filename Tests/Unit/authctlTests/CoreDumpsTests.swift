import CProcess
import Basics
import Glibc
import Testing

/// What a crash or a debugger could read. Each test runs in a child, because a process cannot undo the protection.
@Suite struct CoreDumpsTests {
    @Test func `authctl writes no core dump, and the daemon can still see its executable`() async {
        await #expect(processExitsWith: .success) {
            CoreDumps.forbid()
            var limit = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
            #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
            #expect(authrefresh_get_dumpable() != 0)
        }
    }

    @Test func `the program behind authctl import writes no core dump, and hides its memory`() async {
        await #expect(processExitsWith: .success) {
            CoreDumps.hideMemory()
            var limit = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
            #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
            #expect(authrefresh_get_dumpable() == 0)
        }
    }
}
