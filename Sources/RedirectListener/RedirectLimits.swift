/// What a program of this machine, or a page in a browser of it, can make the listener hold.
package struct RedirectLimits: Hashable, Sendable {
    /// Bytes of one request. Half of it is for what is delivered (`AuthorizationResponse.bytesMax`), half for headers: browsers send
    /// 127.0.0.1 the cookies of every server that ever ran there.
    package var redirectBytesMax = 32 << 10
    /// From the connection's beginning to the end of its request. A browser on the same machine needs milliseconds.
    package var redirectTimeout = Duration.seconds(5)
    /// Connections of this user at once. Browsers open up to six to a host, some of them in advance: the oldest that has sent nothing
    /// makes room for one more.
    package var redirectConnectionsMax = 16
    /// From the request to its answer: the code is exchanged meanwhile, which has thirty seconds.
    package var redirectAnswerTimeout = Duration.seconds(60)

    package init() {}
}
