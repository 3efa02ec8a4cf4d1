import Testing

/// The tests over real sockets, one after the other: their clients block, and the threads that run tests are as few as
/// the machine's cores.
@Suite(.serialized, .timeLimit(.minutes(1))) enum SocketTests {}
