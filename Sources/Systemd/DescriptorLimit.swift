internal import Glibc

/// How many descriptors this process may have open.
package enum DescriptorLimit {
    /// Raises the soft limit (RLIMIT_NOFILE) to `count`, or as near as the hard limit lets it; never lowers it.
    ///
    /// Shells and service managers start programs with 1024, for the sake of select(2), which nobody here calls.
    ///
    /// - Returns: how many of `count` may be open now; `count` itself if the limit cannot be read.
    @discardableResult
    package static func raise(to count: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return count }
        let before = limit.rlim_cur
        limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
        return Int(unsafe setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
    }
}
