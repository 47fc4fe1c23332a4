//! Tests of the server with clients in memory and a clock that the tests set.

mod depth;
mod handshake;
mod mutated;
mod replies;
mod rig;
mod shapes;
mod transmission;
