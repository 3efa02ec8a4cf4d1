import Testing

/// The tests over real sockets, one after the other. Their clients block, and the pool that runs tests has only as many
/// threads as the machine has cores.
@Suite(.serialized, .timeLimit(.minutes(5))) enum SocketTests {}
